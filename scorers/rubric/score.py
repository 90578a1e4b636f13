"""The one form of a rubric score: value keys, answer, criterion table and facts."""

import math
from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Score

from moral_evals.loaders.morebench.records import DIMENSIONS, Criterion, dimension_key
from moral_evals.scorers.judging.panel import Judgement
from moral_evals.scorers.rubric.aggregate import scenario_score
from moral_evals.scorers.rubric.table import rubric_table


def scored(
    criteria: Sequence[Criterion],
    text: str,
    result: Judgement,
    facts: dict[str, Any],
    declined: bool | None = None,
    prefix: str = "",
) -> Score:
    """The score of a judged text.

    Args:
        criteria: The rubric.
        text: Exactly what was judged.
        result: The panel's verdicts.
        facts: What the log must say of text, protocol and judges.
        declined: The judge's word on whether the reply declines; None if it was not asked.
        prefix: Of the value keys, where two rubric scores stand side by side.
    """
    score = scenario_score(criteria, result.verdicts)
    facts = facts | {"verdicts": result.verdicts, "ungraded": result.ungraded}
    if not result.single:
        facts["votes"] = result.votes()
    if declined is not None:
        facts["declined"] = declined
    return Score(
        value=_values(
            prefix,
            score=score.score,
            **{dimension_key(d): score.dimensions[d] for d in DIMENSIONS},
            length=float(len(text)),
            graded_share=score.graded_share,
            declined=float(bool(declined)),
        ),
        answer=text,
        explanation=rubric_table(criteria, result, score),
        reason=None if score.graded_share else "grader_failed",
        metadata=facts,
    )


def unscored(
    reason: str, text: str, facts: dict[str, Any], problem: str = "", prefix: str = ""
) -> Score:
    """A score without a number, with its reason from `UNSCORED_REASONS`.

    Not Score.unscored(): metrics never see a bare nan, and then nobody counts it.
    """
    nan = math.nan
    return Score(
        value=_values(
            prefix,
            score=nan,
            **dict.fromkeys(map(dimension_key, DIMENSIONS), nan),
            length=nan,
            graded_share=nan,
            declined=1.0 if reason == "refusal" else nan,
        ),
        answer=text,
        explanation=f"Not scored: {reason.replace('_', ' ')}. {problem}".strip(),
        reason=reason,
        metadata=facts,
    )


def _values(prefix: str, **values: float) -> dict[str, float]:
    return {prefix + key: value for key, value in values.items()}
