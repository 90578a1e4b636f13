"""Seeded bootstrap intervals over independent units (scenarios or chains).

Every statistic of the suite is a function of column sums over units: a mean is
`sum(x) / sum(1)`, MoReBench-Hard `1000 * sum(score) / sum(length)`, a share
`sum(won) / sum(decided)`. One matrix of resampling counts therefore serves all statistics of a
data set, and contrasts stay paired. Definition: CORDA design, section 3.9; the small-sample level
and BCa follow Hesterberg (2015) and Efron (1987).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Method = Literal["bca", "percentile", "t", "studentized"]
ROUNDING = 1e-12
"""Differences below this are what is left of equal numbers."""

RESAMPLES = 10_000
SEED = 0
# Multiplications in one matrix product. OpenBLAS splits larger ones among threads, which wait for
# each other on a busy machine, thirty times slower; and sums would depend on their number.
_PRODUCT = 2**18
_KEPT = 2**22  # entries of a matrix that is kept as floats too
SMALL_N = 10
"""Below this many units an interval is marked, and nothing is called higher."""
FEWEST = 5
"""Below this many units there is no interval: resamples of so few say nothing of others."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; `nan` stands for "not measured" throughout.

    Attributes:
        estimate: The statistic on the data.
        lower: Lower end, nan if there is no interval (fewer than `FEWEST` units).
        upper: Upper end, likewise.
        n: Units that the statistic rests on.
        flag: `""`, `small_n` (2 to 9 units) or `degenerate` (all units alike).
    """

    estimate: float
    lower: float
    upper: float
    n: int
    flag: str = ""

    @classmethod
    def unmeasured(cls, n: int = 0) -> "Interval":
        """No estimate, from this many units."""
        return cls(math.nan, math.nan, math.nan, n)

    def __eq__(self, other: object) -> bool:
        """Alike, nan to nan: what a dataclass makes of nan differs between Python 3.12 and 3.13."""
        return self._key() == other._key() if isinstance(other, Interval) else NotImplemented

    def __hash__(self) -> int:
        """Alike for intervals that are alike."""
        return hash(self._key())

    def _key(self) -> tuple[float | int | str | None, ...]:
        ends = (self.estimate, self.lower, self.upper)
        return *(None if math.isnan(x) else x for x in ends), self.n, self.flag

    @property
    def leaves_out_zero(self) -> bool:
        """Whether 0 lies outside; False where there is no interval."""
        # a resample without any difference may come out as 1e-17
        return self.lower > ROUNDING or self.upper < -ROUNDING

    @property
    def few(self) -> bool:
        """Whether the interval rests on so few units that it must be marked."""
        marked = self.flag == "small_n" or (self.flag == "degenerate" and self.n < SMALL_N)
        return marked and math.isfinite(self.lower)

    def named(self, name: str) -> dict[str, float]:
        """`name`, `name_lower` and `name_upper`, as Inspect's results hold them."""
        return {name: self.estimate, f"{name}_lower": self.lower, f"{name}_upper": self.upper}


@dataclass(frozen=True)
class Statistic:
    """A function of column sums.

    Attributes:
        columns: Unit contributions, shape (units, k).
        combine: From sums, shape (..., k), to values, shape (...); nan where undefined.
        bounds: Range of the statistic, used for clipping and for degenerate data.
        possible: Range for degenerate data where `bounds` are infinite; None if there is none.
    """

    columns: Array
    combine: Callable[[Array], Array]
    bounds: tuple[float, float] = (-math.inf, math.inf)
    possible: tuple[float, float] | None = None

    @property
    def span(self) -> tuple[float, float]:
        """The range that degenerate data are judged by."""
        return self.bounds if self.possible is None else self.possible

    def estimate(self) -> float:
        """The statistic on the data; nan where undefined."""
        return float(self.combine(self.columns.sum(axis=0))) if len(self.columns) else math.nan

    def left_out(self) -> Array:
        """Jackknife values: the statistic without each of the units that contribute."""
        return self.combine(self.columns.sum(axis=0) - self.columns[self.used()])

    def alike(self, left_out: Array) -> bool:
        """Whether no unit moves the statistic, so that no resample could either."""
        estimate = self.estimate()
        near = np.abs(left_out - estimate) <= ROUNDING * max(1.0, abs(estimate))
        return bool(near.all())

    def used(self) -> NDArray[np.intp]:
        """Indices of the units that contribute."""
        return np.flatnonzero(np.any(self.columns != 0, axis=1))

    def units(self) -> int:
        """Number of units that contribute."""
        return len(self.used())


def ratio(
    numerator: Sequence[float] | Array,
    denominator: Sequence[float] | Array | None = None,
    *,
    scale: float = 1.0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Statistic:
    """`scale * sum(numerator) / sum(denominator)`; the mean if no denominator is given.

    A nan in the numerator means that the unit has no value: it leaves both sums.
    """
    top = np.asarray(numerator, dtype=float)
    bottom = np.ones_like(top) if denominator is None else np.asarray(denominator, dtype=float)
    known = np.isfinite(top) & np.isfinite(bottom)
    columns = np.where(known[:, None], np.stack([top, bottom], axis=1), 0.0)
    return Statistic(columns, lambda s: scale * _divide(s[..., 0], s[..., 1]), bounds)


def difference(first: Statistic, second: Statistic) -> Statistic:
    """First minus second, both over the same units."""
    split = first.columns.shape[1]
    (low1, high1), (low2, high2) = first.bounds, second.bounds
    (least1, most1), (least2, most2) = first.span, second.span
    return Statistic(
        np.concatenate([first.columns, second.columns], axis=1),
        lambda s: first.combine(s[..., :split]) - second.combine(s[..., split:]),
        (low1 - high2, high1 - low2),
        (least1 - most2, most1 - least2),
    )


def _divide(top: Array, bottom: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom != 0, top / bottom, np.nan)


@lru_cache(maxsize=16)
def resample_counts(
    n: int, resamples: int, seed: int, strata: tuple[int, ...] | None = None
) -> NDArray[np.uint16]:
    """How often each unit is drawn, shape (resamples, n); rows sum to n.

    Args:
        n: Number of units.
        resamples: Number of resamples.
        seed: Seed of NumPy's PCG64; global random state is never touched.
        strata: Stratum of each unit; stratum sizes are then kept in every resample.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    counts = np.empty((resamples, n), dtype=np.uint16)
    labels = np.zeros(n, dtype=int) if strata is None else np.asarray(strata)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        share = np.full(len(members), 1 / len(members))
        counts[:, members] = rng.multinomial(len(members), share, size=resamples)
    counts.flags.writeable = False
    return counts


@lru_cache(maxsize=4)
def _as_floats(
    n: int, resamples: int, seed: int, strata: tuple[int, ...] | None
) -> NDArray[np.generic]:
    """The counts ready for products, where they do not fill the memory."""
    counts = resample_counts(n, resamples, seed, strata)
    return counts.astype(float) if counts.size <= _KEPT else counts


def in_blocks(weights: NDArray[np.generic], columns: Array) -> Array:
    """`weights @ columns`, in blocks that one thread multiplies."""
    rows = max(1, _PRODUCT // max(1, columns.size))
    return np.concatenate(
        [
            weights[start : start + rows].astype(float, copy=False) @ columns
            for start in range(0, len(weights), rows)
        ]
    )


class Bootstrap:
    """Resampling of one data set's units, to be asked for the interval of any statistic."""

    def __init__(
        self,
        n: int,
        *,
        seed: int = SEED,
        resamples: int = RESAMPLES,
        level: float = 0.95,
        method: Method = "bca",
        strata: Sequence[object] | None = None,
    ) -> None:
        """Fix the units and the resampling.

        Args:
            n: Number of units; the caller sorts them by id, so that order of input is no matter.
            seed: Seed of the draw.
            resamples: Number of resamples.
            level: Coverage of the interval.
            method: `bca` (default), `percentile`, `t` or `studentized`.
            strata: Label of each unit to resample within, or None.
        """
        if method not in ("bca", "percentile", "t", "studentized"):
            raise ValueError(f"unknown method {method!r}")
        self.n, self.seed, self.resamples = n, seed, resamples
        self.alpha, self.method = 1 - level, method
        self.strata = None
        if strata is not None:
            names = {label: i for i, label in enumerate(sorted(map(str, set(strata))))}
            self.strata = tuple(names[str(label)] for label in strata)
        self._last: tuple[Statistic, Array] | None = None

    def counts(self) -> NDArray[np.uint16]:
        """Resampling counts, shape (resamples, n)."""
        return resample_counts(self.n, self.resamples, self.seed, self.strata)

    def replicates(self, statistic: Statistic) -> Array:
        """The statistic on every resample, shape (resamples,); nan where undefined."""
        # a test asks for the same statistic at many levels
        if self._last is None or self._last[0] is not statistic:
            self._last = statistic, statistic.combine(self._sums(statistic.columns))
        return self._last[1]

    def stderr(self, statistic: Statistic) -> float:
        """Standard error: the spread over resamples; nan for fewer than two units."""
        if statistic.units() < 2:
            return math.nan
        values = self.replicates(statistic)
        return float(np.std(values[np.isfinite(values)], ddof=1))

    def _sums(self, columns: Array) -> Array:
        return in_blocks(_as_floats(self.n, self.resamples, self.seed, self.strata), columns)

    def interval(self, statistic: Statistic, level: float | None = None) -> Interval:
        """Estimate and interval of a statistic; edge cases as in section 3.9.

        Args:
            statistic: What to estimate, with one row of columns for each unit.
            level: Coverage, if another than the bootstrap's own.
        """
        alpha = self.alpha if level is None else 1 - level
        columns = statistic.columns
        if len(columns) != self.n:
            raise ValueError(f"{len(columns)} rows for {self.n} units")
        n, estimate = statistic.units(), statistic.estimate()
        if not math.isfinite(estimate):
            return Interval.unmeasured(n)
        left_out = statistic.left_out()
        if n < 2 or not np.all(np.isfinite(left_out)):
            return Interval(estimate, math.nan, math.nan, n)
        alike = statistic.alike(left_out)
        flag = "degenerate" if alike else "small_n" if n < SMALL_N else ""
        if n < FEWEST:
            return Interval(estimate, math.nan, math.nan, n, flag)
        if alike:
            return self._degenerate(estimate, statistic.span, n, alpha)
        lower, upper = self._ends(statistic, estimate, left_out, n, alpha)
        low, high = statistic.bounds
        return Interval(estimate, max(lower, low), min(upper, high), n, flag)

    def _degenerate(self, c: float, bounds: tuple[float, float], n: int, alpha: float) -> Interval:
        low, high = bounds
        if not (math.isfinite(low) and math.isfinite(high)):
            return Interval(c, math.nan, math.nan, n, "degenerate")
        q = alpha ** (1 / n)
        return Interval(c, low + (c - low) * q, high - (high - c) * q, n, "degenerate")

    def _ends(
        self, statistic: Statistic, estimate: float, left_out: Array, n: int, alpha: float
    ) -> tuple[float, float]:
        if self.method == "t":
            error = math.sqrt((n - 1) / n * float(np.sum((left_out - left_out.mean()) ** 2)))
            reach = float(special.stdtrit(n - 1, 1 - alpha / 2)) * error
            return estimate - reach, estimate + reach
        if self.method == "studentized":
            return self._studentized(statistic, estimate, alpha)
        values = self.replicates(statistic)
        values = values[np.isfinite(values)]  # a ratio over an empty denominator
        if self.method == "percentile":
            levels = (alpha / 2, 1 - alpha / 2)
        else:
            levels = bca_levels(values, estimate, left_out, small_sample_level(alpha, n))
        lower, upper = np.quantile(values, levels)
        return float(lower), float(upper)

    def _studentized(
        self, statistic: Statistic, estimate: float, alpha: float
    ) -> tuple[float, float]:
        t, error = self.studentized(statistic)
        high, low = np.quantile(t, (1 - alpha / 2, alpha / 2))
        return estimate - float(high) * error, estimate - float(low) * error

    def studentized(self, statistic: Statistic) -> tuple[Array, float]:
        """Resampled t, and the standard error that the interval multiplies it with."""
        columns, estimate = statistic.columns, statistic.estimate()
        total = columns.sum(axis=0)
        influence = (self.n - 1) * (estimate - statistic.combine(total - columns))
        moments = self._sums(np.stack([influence, influence**2], axis=1)) / self.n
        spread = np.sqrt(np.maximum(moments[:, 1] - moments[:, 0] ** 2, 0) / self.n)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (self.replicates(statistic) - estimate) / spread
        return t[np.isfinite(t)], float(np.std(influence)) / math.sqrt(self.n)


def small_sample_level(alpha: float, n: int) -> float:
    """alpha' = Phi(t_{alpha/2, n-1} sqrt(n/(n-1))), used in place of alpha/2 (section 3.9)."""
    return float(special.ndtr(special.stdtrit(n - 1, alpha / 2) * math.sqrt(n / (n - 1))))


def acceleration(left_out: Array) -> float:
    """Efron's a from the jackknife values."""
    d = left_out.mean() - left_out
    square = float(np.sum(d**2))
    return float(np.sum(d**3)) / (6 * square**1.5) if square else 0.0


def bias(values: Array, estimate: float) -> float:
    """Efron's z0: where the estimate lies among the resamples, ties half; infinite at the edge."""
    tolerance = ROUNDING * max(1.0, abs(estimate))
    ties = np.abs(values - estimate) <= tolerance
    below = float(np.mean(np.where(ties, 0.5, values < estimate)))
    return float(special.ndtri(below))


def bca_levels(
    values: Array, estimate: float, left_out: Array, level: float
) -> tuple[float, float]:
    """Quantile levels of the bias-corrected, accelerated interval.

    Args:
        values: The statistic on the resamples.
        estimate: The statistic on the data.
        left_out: Jackknife values.
        level: One-sided level, e.g. alpha/2 or alpha'.
    """
    z0 = bias(values, estimate)
    if not math.isfinite(z0):
        return level, 1 - level
    a, z = acceleration(left_out), float(special.ndtri(level))

    def shifted(z: float) -> float:
        bend = 1 - a * (z0 + z)
        if not math.isfinite(z) or bend <= 0:
            # beyond the correction's pole, where few units meet a small level: all resamples
            return 0.0 if z < 0 else 1.0
        return float(special.ndtr(z0 + (z0 + z) / bend))

    return shifted(z), shifted(-z)
