"""How far values that are missing could move a figure. Not intervals: they say nothing of sampling."""

import math
from dataclasses import dataclass

import numpy as np

from moral_evals.scorers.stats.bootstrap import Array


@dataclass(frozen=True)
class Bounds:
    """Lowest and highest value that what is missing allows; equal if nothing is missing."""

    low: float
    high: float

    @classmethod
    def unknown(cls) -> "Bounds":
        """Nothing can be said."""
        return cls(math.nan, math.nan)

    @property
    def open(self) -> bool:
        """Whether anything is missing."""
        return self.high > self.low


def mean_difference_bounds(a: Array, b: Array, low: float = 0.0, high: float = 1.0) -> Bounds:
    """Of the mean of a - b over units, each missing value taken as the least or the most possible.

    Args:
        a: One value a unit; nan where it is missing.
        b: Likewise, for the same units.
        low: The least that a value can be.
        high: The most.
    """
    if not len(a):
        return Bounds.unknown()
    least = np.where(np.isnan(a), low, a) - np.where(np.isnan(b), high, b)
    most = np.where(np.isnan(a), high, a) - np.where(np.isnan(b), low, b)
    return Bounds(math.fsum(least) / len(a), math.fsum(most) / len(a))
