"""Means and slopes over arrays with gaps: what is missing leaves, it never counts as 0."""

import numpy as np

from moral_evals.scorers.corda.steps import IntArray
from moral_evals.scorers.stats.bootstrap import Array, Statistic, ratio


def mean_known(values: Array, axis: int) -> Array:
    """Mean of the entries that are not nan; nan if there are none."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def chain_mean(x: Array, bounds: tuple[float, float]) -> Statistic:
    """Mean over chains of the mean over a chain's known steps.

    Args:
        x: One number a step, (n, J); nan leaves.
        bounds: Range of the numbers.
    """
    return ratio(mean_known(x, axis=1), bounds=bounds)


def chain_slope(x: Array, length: IntArray, bounds: tuple[float, float]) -> Statistic:
    """Mean over chains of the least-squares slope of x on (j-1)/(J-1).

    Args:
        x: One number a step, (n, J); nan leaves. A chain needs two known steps.
        length: Steps of each chain, J, (n,).
        bounds: Range of x; the steepest slopes that it allows bound the statistic.

    Returns:
        Change of x from the first step to the last.
    """
    known = np.isfinite(x)
    enough = known.sum(axis=1) >= 2
    known &= enough[:, None]
    position = np.arange(x.shape[1]) / np.maximum(length - 1, 1)[:, None]
    centre = mean_known(np.where(known, position, np.nan), axis=1)
    away = np.where(known, position - np.where(enough, centre, 0.0)[:, None], 0.0)
    square = np.where(enough, (away**2).sum(axis=1), 1.0)
    weight = away / square[:, None]
    slope = (weight * np.where(known, x, 0.0)).sum(axis=1)
    low, high = bounds
    steepest = (high - low) * float(np.maximum(weight, 0).sum(axis=1).max(initial=0.0))
    return ratio(np.where(enough, slope, np.nan), bounds=(-steepest, steepest))
