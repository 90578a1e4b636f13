"""What a tier order says about every step of a data set, as arrays over [chain, step, option]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from moral_evals.scorers.corda.order import TierOrder, Tiers, compare_all
from moral_evals.scorers.stats.bootstrap import Array

IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
StepOptions: TypeAlias = Sequence[Sequence[Sequence[Tiers]]]
"""Options by chain, step and place in the data; an empty list is a step that is not known."""


@dataclass(frozen=True, eq=False)
class StepTable:
    """n chains, J steps (of the longest), K options (of the widest step), T tiers.

    Attributes:
        order: The tier order.
        options: What the table was built from.
        length: Steps of each chain, (n,).
        n_options: Options of each step, (n, J); 0 where there is no step.
        values: Tier values, (n, J, K, T); nan where unknown or where there is no option.
        u: Rank values in [0, 1], (n, J, K); nan where there is no option.
        won: How many of an option's K-1 pairs it wins at each deciding tier, (n, J, K, T).
        decided: How many of its pairs are decided there, (n, J, K, T).
        conflict_won: How many of its pairs are conflicts that it wins, (n, J, K).
        conflict: How many of its pairs are conflicts, (n, J, K).
    """

    order: TierOrder
    options: StepOptions
    length: IntArray
    n_options: IntArray
    values: Array
    u: Array
    won: Array
    decided: Array
    conflict_won: Array
    conflict: Array

    @classmethod
    def build(cls, options: StepOptions, order: TierOrder) -> "StepTable":
        """Compare all options of all steps.

        Raises:
            ValueError: For a tier outside the order or a value that is not finite.
        """
        n = len(options)
        j = max((len(chain) for chain in options), default=0)
        k = max((len(step) for chain in options for step in chain), default=1)
        tiers = len(order.names)
        table = cls(
            order=order,
            options=options,
            length=np.array([len(chain) for chain in options], dtype=np.int64),
            n_options=np.zeros((n, j), dtype=np.int64),
            values=np.full((n, j, k, tiers), np.nan),
            u=np.full((n, j, k), np.nan),
            won=np.zeros((n, j, k, tiers)),
            decided=np.zeros((n, j, k, tiers)),
            conflict_won=np.zeros((n, j, k)),
            conflict=np.zeros((n, j, k)),
        )
        known: dict[object, _Pairs] = {}  # coarse levels: the same step comes again and again
        for i, chain in enumerate(options):
            for step, found in enumerate(chain):
                if found:
                    table._fill((i, step), found, known)
        return table

    def _fill(
        self, at: tuple[int, int], step: Sequence[Tiers], known: dict[object, "_Pairs"]
    ) -> None:
        key = tuple(tuple(sorted(tiers.items())) for tiers in step)
        if key not in known:
            known[key] = _Pairs.of(step, self.order)
        pairs, k = known[key], len(step)
        self.n_options[at] = k
        self.values[at][:k] = pairs.values
        self.u[at][:k] = pairs.u
        self.won[at][:k] = pairs.won
        self.decided[at][:k] = pairs.decided
        self.conflict_won[at][:k] = pairs.conflict_won
        self.conflict[at][:k] = pairs.conflict

    def under(self, order: TierOrder) -> "StepTable":
        """The same steps under another order of the same tiers."""
        return StepTable.build(self.options, order)

    @property
    def informative(self) -> BoolArray:
        """Steps with a decided pair, (n, J)."""
        return np.asarray(self.decided.any(axis=(2, 3)))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """One step's part of a `StepTable`."""

    values: Array
    u: Array
    won: Array
    decided: Array
    conflict_won: Array
    conflict: Array

    @classmethod
    def of(cls, options: Sequence[Tiers], order: TierOrder) -> "_Pairs":
        k, tiers = len(options), len(order.names)
        won, decided = np.zeros((k, tiers)), np.zeros((k, tiers))
        conflict_won, conflict = np.zeros(k), np.zeros(k)
        for o, row in enumerate(compare_all(options, order)):
            for pair in row:
                if pair.tier is not None:
                    tier, better = order.names.index(pair.tier), pair.outcome == "better"
                    decided[o, tier] += 1
                    won[o, tier] += better
                    conflict[o] += pair.conflict
                    conflict_won[o] += pair.conflict and better
        rows = [[tiers.get(name) for name in order.names] for tiers in options]
        return cls(
            values=np.array(rows, dtype=float),  # None becomes nan
            # whole counts until the last division, so that equal ranks are equal floats
            u=(2 * won.sum(axis=1) + (k - 1 - decided.sum(axis=1))) / (2 * (k - 1)),
            won=won,
            decided=decided,
            conflict_won=conflict_won,
            conflict=conflict,
        )
