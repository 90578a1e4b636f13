"""Scores that were edited in the log: what they say and what they rest on must agree.

Inspect's `edit_score` changes a score's value or its metadata, each alone. Half of the figures of
this suite rest on the one and half on the other, so an edit of one alone would move some figures
and leave others.
"""

import math
from collections.abc import Mapping

from inspect_ai.scorer import SampleScore

from moral_evals.loaders.errors import SuiteError

_ROUNDING = 1e-9


def refuse_detached(score: SampleScore, derived: Mapping[str, float], rests_on: str) -> None:
    """Raise SuiteError if an edited value is not what its record gives.

    Args:
        score: From a log; one that was never edited passes.
        derived: What the record gives, by key of the value.
        rests_on: The part of the metadata that the value rests on.
    """
    if not score.score.history:
        return
    said = score.score.as_dict()
    wrong = {
        key: value
        for key, value in derived.items()
        if key in said and not _alike(_number(said[key]), value)
    }
    if wrong:
        told = ", ".join(f"{k} {said[k]} (they give {v:.6g})" for k, v in wrong.items())
        raise SuiteError(
            f"sample {score.sample_id!r}: its edited score does not follow from the {rests_on} in "
            f"its metadata: {told}. Edit both together, value and metadata, so that all figures "
            "follow; or set the sample's value to nan."
        )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _alike(a: float, b: float) -> bool:
    return abs(a - b) <= _ROUNDING or (math.isnan(a) and math.isnan(b))
