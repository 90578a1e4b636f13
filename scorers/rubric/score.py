"""The one form of a rubric score: value keys, answer, criterion table and record."""

import math
from collections.abc import Sequence

from inspect_ai.scorer import Score

from moral_evals.loaders.morebench.records import DIMENSIONS, Criterion, dimension_key
from moral_evals.scorers.judging.panel import Judgement
from moral_evals.scorers.rubric.aggregate import ScenarioScore, scenario_score
from moral_evals.scorers.rubric.record import RubricRecord
from moral_evals.scorers.rubric.table import rubric_table


def scored(
    criteria: Sequence[Criterion],
    text: str,
    result: Judgement,
    record: RubricRecord,
    declined: bool | None = None,
    prefix: str = "",
) -> Score:
    """The score of a judged text; without a number, its verdicts kept, if all are ungraded.

    Args:
        criteria: The rubric.
        text: Exactly what was judged.
        result: The panel's verdicts.
        record: What is known of text, protocol and judges; the verdicts are added here.
        declined: The judge's word on whether the reply declines; None if it was not asked.
        prefix: Of the value keys, where two rubric scores stand side by side.
    """
    score = scenario_score(criteria, result.verdicts)
    record = record.but(verdicts=result.verdicts, ungraded=result.ungraded)
    if sources := result.sources():
        record = record.but(sources=sources)
    if not result.single:
        record = record.but(votes=result.votes())
    if declined is not None:
        record = record.but(declined=declined)
    graded = math.isfinite(score.score)
    word = math.nan if declined is None and not graded else float(bool(declined))
    return Score(
        value=_values(prefix, score if graded else None, len(text), word),
        answer=text,
        explanation=rubric_table(criteria, result, score),
        reason=None if graded else "grader_failed",
        metadata=record.metadata(),
    )


def unscored(
    reason: str, text: str, record: RubricRecord, problem: str = "", prefix: str = ""
) -> Score:
    """A score without a number, with its reason from `UNSCORED_REASONS`.

    Not Score.unscored(): metrics never see a bare nan, and then nobody counts it.
    """
    return Score(
        value=_values(prefix, None, 0, 1.0 if reason == "refusal" else math.nan),
        answer=text,
        explanation=f"Not scored: {reason.replace('_', ' ')}. {problem}".strip(),
        reason=reason,
        metadata=record.metadata(),
    )


def _values(
    prefix: str, score: ScenarioScore | None, length: int, declined: float
) -> dict[str, float]:
    """Every key of a text without a score is nan, so that all figures rest on the same texts.

    `declined` alone is measured on replies that have no score.
    """
    nan = math.nan
    dimensions = score.dimensions if score else dict.fromkeys(DIMENSIONS, nan)
    values = {
        "score": score.score if score else nan,
        **{dimension_key(d): dimensions[d] for d in DIMENSIONS},
        "length": float(length) if score else nan,
        "graded_share": score.graded_share if score else nan,
        "declined": declined,
    }
    return {prefix + key: value for key, value in values.items()}
