"""The bootstrap's p-value, Holm's adjustment for several tests, and the verdict they carry."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import special

from moral_evals.scorers.stats.bootstrap import (
    ROUNDING,
    SMALL_N,
    Array,
    Bootstrap,
    Statistic,
    acceleration,
    bias,
)
from moral_evals.scorers.stats.pvalue import NOT_TESTED, PValue

ALPHA = 0.05
ENOUGH_UNITS = 30
"""From so many units on a difference is called higher; below it is only leaned to."""

Word = Literal["not tested", "too few units", "no difference shown", "leans", "higher"]


def verdict_word(n: int, adjusted: float, *, rare_loss: bool = False) -> Word:
    """What may be said of a difference at a family-wise level of 5%.

    Args:
        n: Units that the difference rests on.
        adjusted: Its p-value after Holm.
        rare_loss: Whether a rare large loss stands against it (`paired.rare_large_loss`).
    """
    if math.isnan(adjusted):
        return "not tested"
    if n < SMALL_N:
        return "too few units"
    if adjusted >= ALPHA:
        return "no difference shown"
    return "leans" if rare_loss or n < ENOUGH_UNITS else "higher"


def p_value(bootstrap: Bootstrap, statistic: Statistic) -> PValue:
    """The smallest alpha at which the interval leaves out 0, in closed form.

    So the interval at level 0.95 leaves out 0 exactly if p < 0.05, from six units on. Not below
    1/(B+1), the finest that B resamples show, nor below 2^(1-n), what an exact test gives when
    all of n units point one way: the bootstrap of a few units takes them for all there are. nan
    for fewer than two units.
    """
    n, estimate = statistic.units(), statistic.estimate()
    if n < 2 or not math.isfinite(estimate):
        return NOT_TESTED
    left_out = statistic.left_out()
    if not np.all(np.isfinite(left_out)):
        return NOT_TESTED
    least = max(1 / (bootstrap.resamples + 1), 2.0 ** (1 - n))
    if statistic.alike(left_out):
        return PValue(max(least, _degenerate_level(estimate, statistic.span, n)))
    return PValue(min(1.0, max(least, _level(bootstrap, statistic, estimate, left_out))))


def _degenerate_level(c: float, span: tuple[float, float], n: int) -> float:
    """The alpha at which low + (c - low) alpha^(1/n), or its mirror image, is 0."""
    if abs(c) <= ROUNDING:
        return 1.0
    end = -span[0] if c > 0 else span[1]
    return float((end / (end + abs(c))) ** n) if math.isfinite(end) else 0.0


def _level(bootstrap: Bootstrap, statistic: Statistic, estimate: float, left_out: Array) -> float:
    n = len(left_out)
    if bootstrap.method == "t":
        error = math.sqrt((n - 1) / n * float(np.sum((left_out - left_out.mean()) ** 2)))
        return float(2 * special.stdtr(n - 1, -abs(estimate) / error))
    if bootstrap.method == "studentized":
        t, error = bootstrap.studentized(statistic)
        values = estimate - t * error  # whose quantiles are the interval's ends
    else:
        values = bootstrap.replicates(statistic)
        values = values[np.isfinite(values)]
    if estimate < 0:
        values, left_out, estimate = -values, -left_out, -estimate
    crossing = _quantile_of_zero(values)
    if bootstrap.method != "bca" or crossing in (0.0, 1.0):
        return min(1.0, 2 * crossing)
    z = _unshifted(float(special.ndtri(crossing)), bias(values, estimate), acceleration(left_out))
    if z >= 0:
        return 1.0
    # alpha' back to alpha: the inverse of `small_sample_level`
    return float(2 * special.stdtr(n - 1, z / math.sqrt(n / (n - 1))))


def _quantile_of_zero(values: Array) -> float:
    """The highest level whose quantile is not above 0; 0 if all values are, 1 if none is."""
    above = values > ROUNDING
    k = len(values) - int(np.count_nonzero(above))
    if k in (0, len(values)):
        return float(k > 0)
    low, high = float(values[~above].max()), float(values[above].min())
    return (k - 1 + (ROUNDING - low) / (high - low)) / (len(values) - 1)


def _unshifted(shifted: float, z0: float, a: float) -> float:
    """The z that BCa moves to `shifted`; infinite beyond the pole of the correction."""
    if not math.isfinite(z0):
        return shifted
    v = shifted - z0
    bend = 1 + a * v
    if bend <= 0:
        return math.inf if a < 0 else -math.inf
    return v / bend - z0


def holm(p_values: Sequence[float]) -> list[PValue]:
    """Holm's adjusted p-values, in the order given; nan stays nan and is not counted as a test."""
    tests = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [NOT_TESTED] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - rank) * p))
        adjusted[i] = PValue(highest)
    return adjusted
