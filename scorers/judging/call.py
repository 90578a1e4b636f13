"""One question to one judge: the cache, bounded retries, and what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from logging import getLogger
from typing import Generic, TypeVar

from inspect_ai.model import ChatMessage, Model, ModelOutput
from inspect_ai.util import trace_message
from tenacity import RetryError

from moral_evals.loaders.errors import PrerequisiteError
from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.judging.panel import Ballot

logger = getLogger(__name__)

_CUT = ("max_tokens", "model_length")

T = TypeVar("T")
Read = Callable[[str, bool], T | None]
"""Reads a reply; the flag says that it was cut off. None if there is nothing to be read."""


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a question came to.

    Attributes:
        value: What the reader made of the reply; None if no reply could be read.
        reply: The reply that was read.
        cached: The verdict cache held it.
        reason: Why none could be, from `judge_empty`, `judge_truncated`, `judge_refused` and
            `judge_unclear`.
    """

    value: T | None
    reply: str = ""
    cached: bool = False
    reason: str = ""


@dataclass
class Judge:
    """A judge model, how often it may be asked, and the ballot that it fills.

    Attributes:
        model: The judge.
        attempts: Replies asked for at most until one can be read.
        cache: Where readable replies are kept, or None.
        ballot: Takes the verdicts, and counts retries, calls and tokens, and as `saved_*` those
            that the cache spared.
    """

    model: Model
    attempts: int
    cache: VerdictCache | None
    ballot: Ballot

    async def ask(self, messages: Sequence[ChatMessage], read: Read[T]) -> Answer[T]:
        """Ask until a reply can be read; raises what the last call raised if it failed for good."""
        key = self.cache.key(messages) if self.cache else ""
        stored = self.cache.get(key) if self.cache else None
        if stored is not None and (value := read(stored.reply, False)) is not None:
            self.ballot.usage.update(_saved(stored.usage))
            return Answer(value, stored.reply, cached=True)
        reason = ""
        for attempt in range(self.attempts):
            last = attempt + 1 == self.attempts
            try:
                output = await self.model.generate(list(messages), cache=False)
            except Exception as error:
                # Inspect has spent its own retries on these; more would only multiply them.
                if last or isinstance(error, RetryError | PrerequisiteError):
                    raise
                self.ballot.retries += 1
                continue
            tokens = _count(output)
            self.ballot.usage.update(tokens)
            value, reason = _read(output, read)
            if value is not None:
                if self.cache and output.stop_reason not in _CUT:
                    self.cache.put(key, output.completion, tokens)
                return Answer(value, output.completion)
            self.ballot.retries += not last
            trace_message(logger, "Judge", f"{reason}, attempt {attempt + 1}")
        return Answer(None, reason=reason)


def _read(output: ModelOutput, read: Read[T]) -> tuple[T | None, str]:
    """What the reader makes of an output, or None and a word that says why there is nothing."""
    if not output.choices:
        return None, "judge_empty"
    stop, reply = output.stop_reason, output.completion
    if stop == "content_filter" or any(
        getattr(part, "refusal", None) for part in output.message.content_list
    ):
        return None, "judge_refused"
    cut = stop in _CUT
    if not reply.strip():
        return None, "judge_truncated" if cut else "judge_empty"
    value = read(reply, cut)
    if value is not None:
        return value, ""
    return None, "judge_truncated" if cut else "judge_unclear"


def _saved(usage: dict[str, int]) -> dict[str, int]:
    kept = {f"saved_{k}": usage.get(k, 0) for k in ("input_tokens", "output_tokens")}
    return {"saved_calls": 1, **kept}


def _count(output: ModelOutput) -> dict[str, int]:
    tokens = {"calls": 1}
    if usage := output.usage:
        tokens |= {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_input_tokens": usage.input_tokens_cache_read or 0,
            "reasoning_tokens": usage.reasoning_tokens or 0,
        }
        if written := usage.input_tokens_cache_write:
            tokens["cache_write_input_tokens"] = written
    return tokens
