"""Permutation tests: a seeded null distribution by shuffling, within strata if wanted."""

from collections.abc import Sequence

import numpy as np

from moral_evals.scorers.stats.bootstrap import SEED, Array
from moral_evals.scorers.stats.pvalue import PValue

SHUFFLES = 9_999


def shuffled(
    values: Array,
    strata: Sequence[object] | None = None,
    *,
    shuffles: int = SHUFFLES,
    seed: int = SEED,
) -> Array:
    """The values in random orders, shape (shuffles, n).

    Args:
        values: One number for each unit.
        strata: Label of each unit; values change places only with those of the same label.
        shuffles: Number of orders.
        seed: Seed of NumPy's PCG64; global random state is never touched.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    out = np.tile(np.asarray(values, dtype=float), (shuffles, 1))
    labels = [0] * len(values) if strata is None else list(strata)
    for label in dict.fromkeys(labels):
        members = [i for i, other in enumerate(labels) if other == label]
        out[:, members] = rng.permuted(out[:, members], axis=1)
    return out


def permutation_p(observed: float, null: Array) -> PValue:
    """Share of the orders with a statistic at least as large, the data's own order among them.

    So p is never 0 and the test keeps its level (Phipson & Smyth 2010, doi:10.2202/1544-6115.1585).
    """
    # an order that gives the same statistic may differ from it in the last bits
    reached = null >= observed - 1e-12 * max(1.0, abs(observed))
    return PValue((1 + np.count_nonzero(reached)) / (1 + len(null)))
