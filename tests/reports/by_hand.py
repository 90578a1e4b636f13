"""Intervals and tests from their published formulas, with nothing of the suite's arithmetic.

A figure is a function of how often each unit is drawn: weights (..., n) to values (...).
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import numpy as np
from scipy import stats

Figure = Callable[[np.ndarray], np.ndarray]

RESAMPLES = 10_000
RESOLUTION = 1e-7
"""Of a p-value that is found by halving."""


@cache
def draws(n: int) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(0))
    return rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)


def share(top: Sequence[float], bottom: Sequence[float] | None = None, scale: float = 1) -> Figure:
    """Sum of `top` over sum of `bottom`, or over the number of units; a unit with a nan is out."""
    top = np.array(top, dtype=float)
    bottom = np.ones(len(top)) if bottom is None else np.array(bottom, dtype=float)
    here = ~np.isnan(top + bottom)
    return lambda w: scale * (w[..., here] @ top[here]) / (w[..., here] @ bottom[here])


def minus(first: Figure, second: Figure) -> Figure:
    return lambda w: first(w) - second(w)


def interval(
    figure: Figure,
    n: int,
    used: Sequence[int] | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[float, float, float]:
    """Estimate and ends: BCa (Efron 1987) at the small-sample level (Hesterberg 2015).

    Args:
        figure: What is estimated.
        n: Number of units.
        used: Units that contribute; all if left out.
        level: Coverage.
        bounds: Range of the figure.
    """
    used = np.arange(n) if used is None else np.array(used)
    m = len(used)
    estimate = float(figure(np.ones(n)))
    values = figure(draws(n))
    values = values[np.isfinite(values)]
    left = figure(1 - np.eye(n)[used])
    tail = stats.norm.cdf(stats.t.ppf((1 - level) / 2, m - 1) * np.sqrt(m / (m - 1)))
    alike = np.abs(values - estimate) < 1e-12
    z0 = stats.norm.ppf(np.mean(alike / 2 + (~alike & (values < estimate))))
    away = left.mean() - left
    a = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    levels = np.array([tail, 1 - tail])
    if np.isfinite(z0):
        z = z0 + stats.norm.ppf(levels)
        # beyond the pole of the correction, few units at a small level: all resamples
        whole = ~np.isfinite(z) | (1 - a * z <= 0)
        z = np.where(whole, 0, z)
        levels = np.where(whole, levels > 0.5, stats.norm.cdf(z0 + z / (1 - a * z)))
    lower, upper = np.quantile(values, levels)
    return estimate, max(float(lower), bounds[0]), min(float(upper), bounds[1])


def p_value(figure: Figure, n: int, used: Sequence[int] | None = None) -> float:
    """Smallest alpha at which the interval leaves out 0, from 1/(B+1), to within RESOLUTION."""

    def outside(alpha: float) -> bool:
        _, lower, upper = interval(figure, n, used, 1 - alpha)
        return lower > 1e-12 or upper < -1e-12

    # an exact test of n units that all point one way gives no less
    least = 2.0 ** (1 - (n if used is None else len(used)))
    low, high = 1 / (RESAMPLES + 1), 1.0
    if outside(low):
        return max(low, least)
    while high - low > RESOLUTION / 4:
        middle = (low + high) / 2
        low, high = (low, middle) if outside(middle) else (middle, high)
    return max(high, least)


def holm(chances: Sequence[float]) -> list[float]:
    """The k-th smallest of m times m - k + 1, never below the one before, 1 at most."""
    order, m = np.argsort(chances), len(chances)
    raised = np.maximum.accumulate(np.array(chances)[order] * (m - np.arange(m)))
    found = np.empty(m)
    found[order] = np.minimum(raised, 1)
    return found.tolist()


def t_p(figure: Figure, n: int, used: Sequence[int] | None = None) -> float:
    """Paired t on jackknife pseudo-values (Tukey 1958)."""
    used = np.arange(n) if used is None else np.array(used)
    m = len(used)
    pseudo = m * figure(np.ones(n)) - (m - 1) * figure(1 - np.eye(n)[used])
    if np.ptp(pseudo) < 1e-12:
        return 1.0 if abs(pseudo[0]) < 1e-12 else 0.0
    return float(stats.ttest_1samp(pseudo, 0).pvalue)


def flip_p(
    measure: Callable[[np.ndarray], np.ndarray], first: np.ndarray, second: np.ndarray
) -> float:
    """Sign flips: all of up to 14 units that differ, else 9,999 seeded ones and the data's own.

    Args:
        measure: A figure of one side, from its values (units, k).
        first: Values of one side, (units, k).
        second: Of the other.
    """
    first, second = (np.array(x, dtype=float).reshape(len(x), -1) for x in (first, second))
    at = np.flatnonzero(np.any(np.abs(first - second) > 1e-12, axis=1))
    exact = len(at) <= 14
    if exact:
        signs = np.array(list(product([0, 1], repeat=len(at))), dtype=int)
    else:
        rng = np.random.Generator(np.random.PCG64(0))
        signs = rng.integers(0, 2, size=(9_999, len(at)), dtype=np.uint8)
    observed, reached = abs(measure(first) - measure(second)), 0
    for row in signs:
        turned = at[row == 1]
        a, b = first.copy(), second.copy()
        a[turned], b[turned] = second[turned], first[turned]
        reached += abs(measure(a) - measure(b)) >= observed - 1e-12
    return reached / len(signs) if exact else (1 + reached) / (1 + len(signs))
