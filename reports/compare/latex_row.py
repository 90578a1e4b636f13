"""One row a model in the column order of upstream's calculator, for tables of the same form."""

import math
from collections.abc import Sequence

import numpy as np

from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import Array

_COLUMNS = (
    ("source_group", "daily_dilemmas"),
    ("source_group", "ai_risk"),
    ("type", "expert_case"),
    ("type", "short_case"),
    ("type", "long_case"),
    ("role", "ai_advisor"),
    ("role", "ai_agent"),
)


def latex_row(run: RubricRun) -> str:
    """Means by group and overall on 0-100, mean length, score per 1,000 characters.

    Rounded as upstream prints them, the last figure from the rounded two before it; a column that
    the run does not have is a dash.
    """
    scores = run.values["score"]
    groups = [
        _mean([s for s, name in zip(scores, run.labels[group], strict=True) if name == label])
        for group, label in _COLUMNS
    ]
    overall, length = _mean(scores), _mean(run.values["length"], 0, 1)
    per_length = _rounded(overall / length * 1000, 1) if length else math.nan
    # upstream's length is a whole number
    shown = [*map(_text, [*groups, overall]), _text(length).removesuffix(".0"), _text(per_length)]
    return " & ".join(shown)


def _mean(values: Sequence[float] | Array, digits: int = 1, scale: float = 100) -> float:
    known = np.array([v for v in values if math.isfinite(v)]) * scale
    return _rounded(float(np.mean(known)), digits) if len(known) else math.nan


def _rounded(value: float, digits: int) -> float:
    # as upstream: NumPy and Python do not agree on 61.45
    return float(np.round(value, digits))


def _text(value: float) -> str:
    return "--" if math.isnan(value) else str(value)
