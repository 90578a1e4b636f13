"""When a loss at a dominance pair fails under every order of the tiers.

It does if the better option is at least as good on every tier. That is known only where no tier
below the deciding one is unknown, and where the order names every tier of the data.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from moral_evals.scorers.corda.order import TierOrder, Tiers, compare_all
from moral_evals.scorers.corda.table import StepTable


@dataclass(frozen=True)
class DominancePairs:
    """Dominance pairs of a data set under an order.

    Attributes:
        pairs: All of them, each step's options two by two.
        unknown_below: Those with an unknown value below the deciding tier.
        left_out: Tiers of the data that the order does not name.
    """

    pairs: int
    unknown_below: int
    left_out: tuple[str, ...]

    @property
    def certain(self) -> bool:
        """Whether every loss at these pairs fails under every order."""
        return not self.unknown_below and not self.left_out

    def sentence(self) -> str:
        """What may be said of dominance losses."""
        if self.certain:
            return f"losses at the {self.pairs} dominance pairs fail under every order"
        reasons = []
        if self.unknown_below:
            reasons.append(
                f"{self.unknown_below} of {self.pairs} pairs have an unknown tier below the "
                "deciding one"
            )
        if self.left_out:
            reasons.append(f"the order leaves out {', '.join(self.left_out)}")
        return f"dominance losses need not fail under every order: {'; '.join(reasons)}"


def dominance_pairs(steps: StepTable, data_tiers: Iterable[str] = ()) -> DominancePairs:
    """Count a data set's dominance pairs.

    Args:
        steps: The steps under the order.
        data_tiers: Tier names of the data, where the order may leave some out.
    """
    pairs = unknown = 0
    for step in (step for chain in steps.options for step in chain if step):
        found = compare_all(step, steps.order)
        for k, m in combinations(range(len(step)), 2):
            pair = found[k][m]
            if pair.tier is not None and not pair.conflict:
                pairs += 1
                unknown += _unknown_below(step[k], step[m], pair.tier, steps.order)
    left_out = tuple(sorted(set(data_tiers) - set(steps.order.names)))
    return DominancePairs(pairs, unknown, left_out)


def _unknown_below(a: Tiers, b: Tiers, tier: str, order: TierOrder) -> bool:
    below = order.names[order.names.index(tier) + 1 :]
    return any(a.get(name) is None or b.get(name) is None for name in below)
