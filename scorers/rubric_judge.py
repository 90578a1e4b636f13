"""The MoReBench scorer: a judge's verdict on every criterion, and the weighted score.

Works on a live sample and on a log alone:

    inspect score LOG --scorer scorers/rubric_judge.py@rubric_judge --model-role grader=MODEL
"""

import math
from typing import Any, Literal

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from loaders.errors import OptionError
from loaders.options import one_of, whole
from loaders.records import DIMENSIONS, ScenarioMetadata, dimension_key
from loaders.reply import read_reply
from loaders.upstream import UpstreamPrompts
from scorers.aggregate import scenario_score
from scorers.judge import JudgeError, Judgement, judge
from scorers.judge_prompt import JudgePrompt, suite_prompt
from scorers.judged_text import Judged, judged_text
from scorers.rubric_metrics import RESPONSE_PREFIX, rubric_metrics
from scorers.rubric_table import rubric_table

OnJudgeError = Literal["unscored", "raise"]


@scorer(metrics=rubric_metrics())
def rubric_judge(
    judged: Judged = "trace",
    protocol: str = "suite",
    upstream_path: str | None = None,
    attempts: int = 3,
    cache: bool = True,
    on_judge_error: OnJudgeError = "unscored",
) -> Scorer:
    """Judge one text of the reply against the rubric in the sample's metadata.

    Args:
        judged: `trace` or `response`.
        protocol: Judge prompt, `suite` or `upstream`.
        upstream_path: Checkout of the upstream repository for `upstream`; None fetches it once.
        attempts: Replies asked for at most until a verdict can be read.
        cache: Keep verdicts in Inspect's cache.
        on_judge_error: What a judge call that fails for good does: `raise` makes the sample an
            error, which `inspect eval-retry` redoes; `unscored` keeps the other samples of an
            `inspect score` run, which one exception would lose.
    """
    return _rubric_scorer(judged, "", protocol, upstream_path, attempts, cache, on_judge_error)


@scorer(metrics=rubric_metrics(RESPONSE_PREFIX))
def rubric_judge_response(
    protocol: str = "suite",
    upstream_path: str | None = None,
    attempts: int = 3,
    cache: bool = True,
    on_judge_error: OnJudgeError = "unscored",
) -> Scorer:
    """`rubric_judge(judged="response")` to stand beside a trace score: its keys have a prefix.

    Data frames name a column by its key alone, so two scorers of one task must not share any.
    """
    return _rubric_scorer(
        "response", RESPONSE_PREFIX, protocol, upstream_path, attempts, cache, on_judge_error
    )


def _rubric_scorer(
    judged: Judged,
    prefix: str,
    protocol: str,
    upstream_path: str | None,
    attempts: int,
    cache: bool,
    on_judge_error: OnJudgeError,
) -> Scorer:
    one_of("judged", judged, ("trace", "response"))
    one_of("protocol", protocol, ("suite", "upstream"))
    one_of("on_judge_error", on_judge_error, ("unscored", "raise"))
    whole("attempts", attempts, 1, 20)

    async def score(state: TaskState, target: Target) -> Score:
        reply = read_reply(state.output, state.model.api)
        chosen = judged_text(reply, judged)
        facts = {"judged": judged, "trace_kind": reply.trace_kind, "protocol": protocol}
        if chosen.reason:
            return _unscored(prefix, chosen.reason, reply.response or reply.trace, facts)
        metadata = _rubric(state)
        prompt = judge_prompt(protocol, upstream_path)
        result = await judge(metadata.criteria, chosen.text, prompt, attempts=attempts, cache=cache)
        facts |= _judge_facts(result, prompt)
        if result.failures:
            problem = _failure_text(result)
            if on_judge_error == "raise":
                raise JudgeError(problem)
            return _unscored(prefix, "grader_failed", chosen.text, facts, problem)
        return _scored(prefix, metadata, chosen.text, result, facts)

    return score


def judge_prompt(protocol: str, upstream_path: str | None) -> JudgePrompt:
    """The wording of a protocol; `upstream` is read from a checkout of that repository."""
    if protocol == "suite":
        return suite_prompt()
    return JudgePrompt("upstream", "", UpstreamPrompts.load(upstream_path).judge_question)


def _rubric(state: TaskState) -> ScenarioMetadata:
    metadata = state.metadata_as(ScenarioMetadata)
    if not metadata.criteria:
        raise OptionError(
            f"sample {state.sample_id!r} has no criteria in its metadata; "
            "rubric_judge scores logs of the MoReBench tasks."
        )
    return metadata


def _scored(
    prefix: str, metadata: ScenarioMetadata, text: str, result: Judgement, facts: dict[str, Any]
) -> Score:
    score = scenario_score(metadata.criteria, result.verdicts)
    notes = {**result.ungraded, **result.words}
    ungraded_all = not score.graded_share
    return Score(
        value=_values(prefix, score.score, score.dimensions, len(text), score.graded_share),
        answer=text,
        explanation=rubric_table(metadata.criteria, result.verdicts, notes, score),
        reason="grader_failed" if ungraded_all else None,
        metadata=facts | {"verdicts": dict(result.verdicts), "ungraded": result.ungraded},
    )


def _unscored(
    prefix: str, reason: str, text: str, facts: dict[str, Any], problem: str = ""
) -> Score:
    # Not Score.unscored(): metrics never see a bare nan, and then nobody counts it.
    nan = math.nan
    return Score(
        value=_values(prefix, nan, dict.fromkeys(DIMENSIONS, nan), nan, nan),
        answer=text,
        explanation=f"Not scored: {reason.replace('_', ' ')}. {problem}".strip(),
        reason=reason,
        metadata=facts,
    )


def _values(
    prefix: str, score: float, dimensions: dict[str, float], length: float, graded_share: float
) -> dict[str, float]:
    values = {"score": score}
    values |= {dimension_key(d): dimensions[d] for d in DIMENSIONS}
    values |= {"length": length, "graded_share": graded_share}
    return {prefix + key: value for key, value in values.items()}


def _judge_facts(result: Judgement, prompt: JudgePrompt) -> dict[str, Any]:
    # A defaulted judge is missing from the log's header, so each score names its own.
    return {
        "judge": result.model,
        "judge_settings": result.settings,
        "prompt_sha256": prompt.sha256,
        "judge_retries": result.retries,
        "judge_usage": dict(result.usage),
    }


def _failure_text(result: Judgement) -> str:
    criterion, problem = next(iter(result.failures.items()))
    total = len(result.failures) + len(result.verdicts)
    return (
        f"judge {result.model} failed on {len(result.failures)} of {total} criteria, "
        f"first on {criterion}: {problem}"
    )
