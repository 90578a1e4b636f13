"""Tests read off the bootstrap's intervals, and Holm's adjustment for several (CORDA 3.8)."""

import math
from collections.abc import Sequence

from moral_evals.scorers.stats.bootstrap import Bootstrap, Statistic

_HALVINGS = 25
_ROUNDING = 1e-12  # a resample without any difference may come out as 1e-17


def p_value(bootstrap: Bootstrap, statistic: Statistic) -> float:
    """The smallest alpha at which the interval leaves out 0.

    So the interval at level 0.95 leaves out 0 exactly if p < 0.05, from six units on. Not below
    1/(B+1), the finest that B resamples show, nor below 2^(1-n), what an exact test gives when
    all of n units point one way: the bootstrap of a few units takes them for all there are. nan
    where no interval exists.
    """
    found = bootstrap.interval(statistic)
    if math.isnan(found.lower):
        return math.nan
    return max(_smallest_level(bootstrap, statistic), 2.0 ** (1 - found.n))


def _smallest_level(bootstrap: Bootstrap, statistic: Statistic) -> float:
    low, high = 1 / (bootstrap.resamples + 1), 1.0
    if _leaves_out_zero(bootstrap, statistic, low):
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _leaves_out_zero(bootstrap, statistic, middle):
            high = middle
        else:
            low = middle
    return high


def _leaves_out_zero(bootstrap: Bootstrap, statistic: Statistic, alpha: float) -> bool:
    found = bootstrap.interval(statistic, level=1 - alpha)
    return found.lower > _ROUNDING or found.upper < -_ROUNDING


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given; nan stays nan and is not counted as a test."""
    tests = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - rank) * p))
        adjusted[i] = highest
    return adjusted
