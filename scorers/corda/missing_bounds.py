"""How far missing answers could move a difference of two arms.

Every missing answer is filled with the option that moves the difference furthest, in both arms, at
the informative steps where an answer was due. Not intervals: they say nothing of sampling.
"""

import numpy as np

from moral_evals.scorers.corda.metrics import chain_mean, mean_known
from moral_evals.scorers.corda.net_benefit import chain_signs
from moral_evals.scorers.corda.table import Arm
from moral_evals.scorers.stats.bootstrap import Array
from moral_evals.scorers.stats.missing import Bounds


def difference_bounds(a: Arm, b: Arm, steps: slice = slice(None)) -> Bounds:
    """Of the mean difference in rank value, a minus b: dLMS, or CE from the second step on.

    Args:
        a: An arm.
        b: Another of the same table.
        steps: The steps that count; all of them, unless given.
    """
    low, high = (
        chain_mean(_filled(a, best)[:, steps] - _filled(b, not best)[:, steps], (-1, 1))
        for best in (False, True)
    )
    return Bounds(low.estimate(), high.estimate())


def net_benefit_bounds(a: Arm, b: Arm) -> Bounds:
    """Of net benefit: a chain with a missing answer in a shuffle counts there as lost, or as won.

    Outer bounds: what was answered may already decide such a chain.
    """
    signs, _ = chain_signs(a, b)
    due = (a.places | b.places) & a.steps.informative[:, :, None]
    missing = (due & ~(a.answered & b.answered)).any(axis=1)
    asked = due.any(axis=1)
    low, high = (
        mean_known(
            mean_known(np.where(asked, np.where(missing, fill, signs), np.nan), axis=1), axis=0
        )
        for fill in (-1.0, 1.0)
    )
    return Bounds(float(low), float(high))


def _filled(arm: Arm, best: bool) -> Array:
    """x_ij with every missing answer filled by the step's best or worst option, (n, J)."""
    ranks = arm.steps.u
    value = (
        np.nan_to_num(ranks, nan=0.0).max(axis=2, initial=0.0)
        if best
        else np.nan_to_num(ranks, nan=1.0).min(axis=2, initial=1.0)
    )
    due = arm.places & arm.steps.informative[:, :, None]
    u = np.where(arm.answered, arm.u, value[:, :, None])
    return mean_known(np.where(due, u, np.nan), axis=2)
