"""Bootstrap intervals recomputed from their definition, with loops where the suite has matrices.

CORDA design, section 3.9. Nothing of the suite is imported here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

NAN = math.nan


@dataclass(frozen=True)
class Plain:
    """A statistic: one tuple of contributions a unit, and a function of their sums."""

    units: list[tuple[float, ...]]
    of_sums: Callable[[Sequence[float]], float]
    bounds: tuple[float, float]

    def estimate(self) -> float:
        return self.of_sums(_sums(self.units)) if self.units else NAN


def plain_ratio(
    tops: Sequence[float | None],
    bottoms: Sequence[float | None] | None = None,
    bounds: tuple[float, float] = (0, 1),
    scale: float = 1,
) -> Plain:
    """Sum over sum; None leaves both."""
    pairs = zip(tops, bottoms if bottoms is not None else [1] * len(tops), strict=True)
    units = [(0.0, 0.0) if None in pair else (float(pair[0]), float(pair[1])) for pair in pairs]
    return Plain(units, lambda s: scale * s[0] / s[1] if s[1] else NAN, bounds)


def drawn(n: int, resamples: int, seed: int, strata: Sequence[str] | None = None) -> np.ndarray:
    """Times that each unit is drawn: seeded PCG64, multinomial within each stratum."""
    rng = np.random.Generator(np.random.PCG64(seed))
    counts = np.zeros((resamples, n), dtype=int)
    names = list(strata) if strata is not None else [""] * n
    for name in sorted(set(names)):
        members = [i for i in range(n) if names[i] == name]
        even = [1 / len(members)] * len(members)
        counts[:, members] = rng.multinomial(len(members), even, size=resamples)
    return counts


def plain_interval(
    statistic: Plain, counts: np.ndarray, method: str = "bca", level: float = 0.95
) -> tuple[float, float, float, int, str]:
    """Estimate, lower and upper end, units, flag."""
    estimate, alpha = statistic.estimate(), 1 - level
    low, high = statistic.bounds
    used = [i for i, unit in enumerate(statistic.units) if any(unit)]
    n = len(used)
    without = [
        statistic.of_sums(_sums([u for k, u in enumerate(statistic.units) if k != i])) for i in used
    ]
    if math.isnan(estimate):
        return NAN, NAN, NAN, n, ""
    if n < 2 or any(map(math.isnan, without)):
        return estimate, NAN, NAN, n, ""
    alike = all(abs(w - estimate) < 1e-12 for w in without)
    if n < 5:  # too few for an interval
        return estimate, NAN, NAN, n, "degenerate" if alike else "small_n"
    if alike:
        if math.isinf(high):
            return estimate, NAN, NAN, n, "degenerate"
        q = alpha ** (1 / n)
        return estimate, low + (estimate - low) * q, high - (high - estimate) * q, n, "degenerate"
    values = _replicates(statistic, counts)
    if method == "percentile":
        levels = alpha / 2, 1 - alpha / 2
    else:
        levels = _bca_levels(values, estimate, without, n, alpha)
    lower, upper = np.quantile(values, levels)
    return estimate, max(lower, low), min(upper, high), n, "small_n" if n < 10 else ""


def _replicates(statistic: Plain, counts: np.ndarray) -> list[float]:
    columns = np.array(statistic.units)
    values = [statistic.of_sums((row[:, None] * columns).sum(axis=0)) for row in counts]
    return [v for v in values if not math.isnan(v)]


def _bca_levels(
    values: list[float], estimate: float, without: list[float], n: int, alpha: float
) -> tuple[float, float]:
    level = norm.cdf(t.ppf(alpha / 2, n - 1) * math.sqrt(n / (n - 1)))
    share = sum(0.5 if abs(v - estimate) < 1e-11 else v < estimate for v in values) / len(values)
    if share in (0, 1):
        return level, 1 - level
    z0, centre = norm.ppf(share), sum(without) / n
    d = [centre - w for w in without]
    a = sum(x**3 for x in d) / (6 * sum(x**2 for x in d) ** 1.5)
    return tuple(_shifted(z0, a, z) for z in (norm.ppf(level), -norm.ppf(level)))


def _shifted(z0: float, a: float, z: float) -> float:
    """A quantile level; beyond the correction's pole the ends are those of all resamples."""
    if math.isinf(z):
        return float(z > 0)
    bend = 1 - a * (z0 + z)
    if bend <= 0:
        return float(z > 0)
    return float(norm.cdf(z0 + (z0 + z) / bend))


def _sums(units: Sequence[Sequence[float]]) -> list[float]:
    return [math.fsum(column) for column in zip(*units, strict=True)] if units else [0.0, 0.0]
