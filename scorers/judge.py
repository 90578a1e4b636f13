"""Asking the judge: one call a criterion, all at once; the only model calls of `scorers/`."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from logging import getLogger
from typing import Any

import anyio
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.util import trace_message
from tenacity import RetryError

from loaders.errors import PrerequisiteError, SuiteError
from loaders.records import Criterion
from scorers.aggregate import Verdict
from scorers.judge_prompt import JudgePrompt, judge_messages
from scorers.verdict import is_bare, read_verdict

logger = getLogger(__name__)

ROLE = "grader"
DEFAULT_JUDGE = "openrouter/openai/gpt-oss-120b"

# Inspect retries without end by default; a judge that is down must not hang a run.
_BOUNDS = GenerateConfig(max_retries=7, timeout=1800, attempt_timeout=300)
# The paper's settings for its judge. Other judges keep their provider's defaults: several
# providers reject a temperature outright.
_PAPER = GenerateConfig(temperature=1.0, top_p=1.0, reasoning_effort="high", max_tokens=10_500)

# Local and free; and the name of a mock does not say what it answers, so a cache would mix mocks.
_UNCACHED_APIS = ("mockllm", "embedded", "scripted")


class JudgeError(RuntimeError):
    """A judge call failed for good, after all retries: there is no verdict to count."""


@dataclass
class Judgement:
    """What the judge made of one text.

    Attributes:
        verdicts: Verdict by criterion id.
        ungraded: Why, by criterion id, where no reply could be read.
        words: The judge's reply by criterion id, where it said more than the verdict.
        failures: Error text by criterion id, where the call itself failed.
        retries: Replies that could not be read and were asked for again.
        usage: Tokens by kind, summed over all replies.
        model: The judge's name.
        settings: The judge's settings that differ from Inspect's defaults.
    """

    model: str
    settings: dict[str, Any]
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    ungraded: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    retries: int = 0
    usage: Counter[str] = field(default_factory=Counter)


def judge_model() -> Model:
    """The model in role `grader`, or the paper's judge; never the candidate.

    Raises SuiteError with the exact flags to use if the default judge has no key.
    """
    bound = model_roles().get(ROLE)
    bound = bound[0] if isinstance(bound, list) else bound
    name = str(bound) if bound is not None else DEFAULT_JUDGE
    config = _BOUNDS.merge(_PAPER) if "gpt-oss" in name else _BOUNDS
    try:
        return get_model(role=ROLE, default=DEFAULT_JUDGE, config=config)
    except Exception as error:
        if bound is not None:
            raise
        raise SuiteError(
            f"no judge: the default {DEFAULT_JUDGE} cannot be used "
            f"({_first_line(error)}). Set OPENROUTER_API_KEY, or name another judge with "
            f"--model-role {ROLE}=PROVIDER/MODEL. Finished replies can be judged later: "
            "inspect score LOG --scorer scorers/rubric_judge.py@rubric_judge "
            f"--model-role {ROLE}=PROVIDER/MODEL."
        ) from error


def warn_without_judge() -> None:
    """Say before the candidate is paid that no judge will be found, if it looks like it.

    Only a warning: roles may still be bound, and a run may leave scoring for later.
    """
    if not model_roles().get(ROLE) and not os.environ.get("OPENROUTER_API_KEY"):
        logger.warning(
            "no judge in sight: set OPENROUTER_API_KEY or bind one with "
            "--model-role %s=PROVIDER/MODEL (fine with --no-score)",
            ROLE,
        )


async def judge(
    criteria: Sequence[Criterion],
    judged: str,
    prompt: JudgePrompt,
    *,
    attempts: int = 3,
    cache: bool = True,
) -> Judgement:
    """Ask for a verdict on every criterion, concurrently.

    Args:
        criteria: What to check.
        judged: The text to judge, not empty.
        prompt: The wording.
        attempts: Replies asked for at most until one can be read; failed calls are retried by
            Inspect within their own bound.
        cache: Keep first replies in Inspect's cache, so that a repeated run pays for none twice.
    """
    model = judge_model()
    result = Judgement(str(model), model.config.model_dump(exclude_none=True))
    policy = _cache_policy(result.model) if cache else False
    conversations = judge_messages(prompt, judged, [c.text for c in criteria])

    async def ask(criterion: Criterion, messages: list[ChatMessage]) -> None:
        try:
            await _ask(model, criterion.id, messages, result, attempts, policy)
        except Exception as error:
            # the other criteria go on: their verdicts are paid for, and cached
            result.failures[criterion.id] = f"{type(error).__name__}: {_first_line(error)}"

    async with anyio.create_task_group() as group:
        for criterion, messages in zip(criteria, conversations, strict=True):
            group.start_soon(ask, criterion, messages)
    return result


async def _ask(
    model: Model,
    criterion: str,
    messages: list[ChatMessage],
    result: Judgement,
    attempts: int,
    policy: CachePolicy | bool,
) -> None:
    reason = ""
    for attempt in range(attempts):
        last = attempt + 1 == attempts
        try:
            # A reply that could not be read is in the cache too, so retries go past it.
            output = await model.generate(messages, cache=policy if attempt == 0 else False)
        except Exception as error:
            # Inspect has spent its own retries on these; more would only multiply them.
            if last or isinstance(error, RetryError | PrerequisiteError):
                raise
            result.retries += 1
            continue
        _count(result.usage, output)
        verdict, reason = _read(output)
        if verdict is not None:
            result.verdicts[criterion] = verdict
            if not is_bare(output.completion):
                result.words[criterion] = output.completion
            return
        result.retries += not last
        trace_message(logger, "Judge", f"{criterion}: {reason}, attempt {attempt + 1}")
    result.verdicts[criterion] = "ungraded"
    result.ungraded[criterion] = reason


def _cache_policy(model: str) -> CachePolicy | bool:
    if model.split("/")[0] in _UNCACHED_APIS:
        return False
    # per_epoch would miss under `inspect score`, and an expiry is part of the key
    return CachePolicy(expiry=None, per_epoch=False)


def _read(output: ModelOutput) -> tuple[Verdict | None, str]:
    """The verdict, or None and a word that says why there is none."""
    if not output.choices:
        return None, "judge_empty"
    stop, reply = output.stop_reason, output.completion
    if stop == "content_filter" or any(
        getattr(part, "refusal", None) for part in output.message.content_list
    ):
        return None, "judge_refused"
    if not reply.strip():
        return None, "judge_truncated" if stop == "max_tokens" else "judge_empty"
    if stop in ("max_tokens", "model_length") and not is_bare(reply):
        return None, "judge_truncated"  # what was cut off might have said the opposite
    verdict = read_verdict(reply)
    return verdict, "" if verdict else "judge_unclear"


def _count(usage: Counter[str], output: ModelOutput) -> None:
    usage["calls"] += 1
    if output.usage:
        usage["input_tokens"] += output.usage.input_tokens
        usage["output_tokens"] += output.usage.output_tokens
        usage["cached_input_tokens"] += output.usage.input_tokens_cache_read or 0
        usage["reasoning_tokens"] += output.usage.reasoning_tokens or 0


def _first_line(error: BaseException) -> str:
    # a SuiteError or PrerequisiteError keeps its text in `message`, sometimes with rich markup
    text = str(getattr(error, "message", "") or error).strip() or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:300]
