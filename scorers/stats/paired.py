"""Tests of a difference between two sides over the same units.

No single test keeps its level on few, skewed or lumpy units, so p is the largest of three: the
bootstrap's, a sign-flip permutation and the paired t. They fail on unlike data: the bootstrap on
few units, t on skewed ones, flips where the two sides have unlike shapes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from moral_evals.scorers.stats.bootstrap import (
    ROUNDING,
    SEED,
    Array,
    Bootstrap,
    Statistic,
    difference,
    in_blocks,
)
from moral_evals.scorers.stats.multiplicity import p_value
from moral_evals.scorers.stats.pvalue import NOT_TESTED, PValue

EXACT_UNITS = 14
"""Up to so many units with a difference all 2^14 signs are tried."""
FLIPS = 9_999


@dataclass(frozen=True)
class Paired:
    """A difference of two sides, and its columns with the sides exchanged in every unit.

    Attributes:
        statistic: First side minus second.
        exchanged: Columns of each unit if the first side had the second's values, and the reverse.
    """

    statistic: Statistic
    exchanged: Array


@dataclass(frozen=True)
class PairedTest:
    """A test that the two sides are alike.

    Attributes:
        n: Units that the difference rests on.
        p: Largest of the three below; nan where one of them is.
        bootstrap: Smallest level at which the bootstrap interval leaves out 0.
        flips: Sign-flip permutation.
        t: Paired t on jackknife pseudo-values.
        rare_loss: Whether a rare large loss stands against the difference.
    """

    n: int
    p: PValue
    bootstrap: PValue
    flips: PValue
    t: PValue
    rare_loss: bool

    @classmethod
    def untested(cls, n: int = 0) -> "PairedTest":
        """Of too few units, or of figures that are not defined."""
        return cls(n, NOT_TESTED, NOT_TESTED, NOT_TESTED, NOT_TESTED, rare_loss=False)

    @property
    def strictest(self) -> str:
        """Name of the test that gave p."""
        names = {"bootstrap": self.bootstrap, "sign flips": self.flips, "paired t": self.t}
        return max(names, key=lambda name: names[name])


def of_sides(first: Statistic, second: Statistic) -> Paired:
    """The difference of one figure on two sides; units in the same order in both."""
    exchanged = np.concatenate([second.columns, first.columns], axis=1)
    return Paired(difference(first, second), exchanged)


def of_differences(mean: Statistic) -> Paired:
    """A mean of differences, from `bootstrap.ratio`: the exchange turns each sign."""
    return Paired(mean, mean.columns * np.array([-1.0, 1.0]))


def paired_test(bootstrap: Bootstrap, pair: Paired, *, enough: float = math.inf) -> PairedTest:
    """The three tests, and the largest p.

    Args:
        bootstrap: Over all units.
        pair: The difference.
        enough: Leave out the dearer tests once p is known to be at least this: a verdict at level
            `enough` can no longer come out. p is then a lower bound.
    """
    statistic = pair.statistic
    values = pseudo_values(statistic)
    n = len(values)
    if n < 2 or not np.all(np.isfinite(values)):
        return PairedTest.untested(n)
    t, flips, resampled = t_test(values), NOT_TESTED, NOT_TESTED
    p = t
    if p < enough:
        flips = flip_test(pair, seed=bootstrap.seed)
        p = max(p, flips)
    if p < enough:
        resampled = p_value(bootstrap, statistic)
        p = max(p, resampled)
    return PairedTest(n, p, resampled, flips, t, rare_large_loss(values))


def pseudo_values(statistic: Statistic) -> Array:
    """Tukey's n T - (n - 1) T_(-i) of the units that contribute; of a mean the values themselves."""
    n, estimate = statistic.units(), statistic.estimate()
    if n == 0 or not math.isfinite(estimate):
        return np.full(n, math.nan)
    return np.asarray(n * estimate - (n - 1) * statistic.left_out())


def t_test(values: Array) -> PValue:
    """Two-sided t of a mean of 0; where all values are alike, 1 if they are 0 and else 0."""
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    scale = max(1.0, float(np.abs(values).max()))
    if spread <= ROUNDING * scale:
        return PValue(1.0 if abs(mean) <= ROUNDING * scale else 0.0)
    t = mean / (spread / math.sqrt(len(values)))
    return PValue(2 * special.stdtr(len(values) - 1, -abs(t)))


def flip_test(pair: Paired, *, seed: int = SEED) -> PValue:
    """Share of exchanges of the sides that give a difference as large, the data's own among them.

    All exchanges of up to `EXACT_UNITS` units that have a difference, else `FLIPS` seeded ones.
    """
    columns = pair.statistic.columns
    change = pair.exchanged - columns
    moved = np.any(np.abs(change) > ROUNDING, axis=1)
    used = np.any(np.abs(change) > ROUNDING, axis=0)
    if not moved.any():
        return PValue(1.0)
    # columns that no exchange changes, a count of units above all, need no product
    steps = in_blocks(_signs(int(moved.sum()), seed), change[np.ix_(moved, used)])
    sums = np.broadcast_to(columns.sum(axis=0), (len(steps), columns.shape[1])).copy()
    sums[:, used] += steps
    values = np.abs(pair.statistic.combine(sums))
    observed = abs(pair.statistic.estimate())
    # equal sums may differ in the last bits; an exchange without a value counts against
    short = values < observed - ROUNDING * max(1.0, observed)
    reached = len(values) - int(np.count_nonzero(short))
    if moved.sum() <= EXACT_UNITS:
        return PValue(reached / len(values))
    return PValue((1 + reached) / (1 + len(values)))


@lru_cache(maxsize=4)
def _signs(units: int, seed: int) -> NDArray[np.float64]:
    """1 where a unit's sides are exchanged, shape (exchanges, units)."""
    if units <= EXACT_UNITS:
        signs = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
    else:
        rng = np.random.Generator(np.random.PCG64(seed))
        signs = rng.integers(0, 2, size=(FLIPS, units), dtype=np.uint8)
    found = signs.astype(float)
    found.flags.writeable = False
    return found


def rare_large_loss(values: Array) -> bool:
    """Whether one or two units go against the mean, each further than any unit goes with it.

    So few large losses say that their rate is hardly known: the mean may lie on their side.
    Units without a difference do not count.
    """
    turned = values * math.copysign(1.0, float(values.mean()))
    sizes = np.abs(turned)
    least = ROUNDING * max(1.0, float(sizes.max()))
    against = turned < -least
    if not 1 <= np.count_nonzero(against) <= 2:
        return False
    others = sizes[~against].max(initial=0.0)
    return bool(sizes[against].min() > others + least)
