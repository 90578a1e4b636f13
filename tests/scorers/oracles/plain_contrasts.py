"""CORDA's contrasts of two arms recomputed from the definition (section 3.8).

Nothing of the suite is imported here.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from tests.scorers.oracles.plain_bootstrap import NAN, Plain, plain_ratio
from tests.scorers.oracles.plain_corda import (
    Made,
    answers,
    by_chain,
    informative,
    mean,
    slopes,
    u,
)


def d(made: Made, a: str, b: str, i: int, j: int) -> float | None:
    options, first, second = made.steps[i][j], answers(made, a, i, j), answers(made, b, i, j)
    if not informative(options):
        return None
    return mean([u(options, first[s]) - u(options, second[s]) for s in first if s in second])


def contrasts(made: Made, a: str, b: str) -> dict[str, Plain]:
    def steps(which: Callable[[int], bool]) -> Plain:
        return plain_ratio(
            by_chain(made, lambda i, j: d(made, a, b, i, j) if which(j) else None), bounds=(-1, 1)
        )

    return {
        "mean": steps(lambda j: True),
        "later": steps(lambda j: j > 0),
        "first": steps(lambda j: j == 0),
        "drift": slopes(made, lambda i, j: d(made, a, b, i, j), 2),
    }


def tier_differences(made: Made, a: str, b: str, i: int, s: int) -> tuple[list, int]:
    """By tier the sum of differences over shared informative steps, None if unknown; steps."""
    sums: list[Fraction | None] = [Fraction(0)] * len(made.steps[0][0][0])
    shared = 0
    for j, options in enumerate(made.steps[i]):
        first, second = answers(made, a, i, j), answers(made, b, i, j)
        if not informative(options) or s not in first or s not in second:
            continue
        shared += 1
        if first[s] == second[s]:
            continue
        for tier, (p, q) in enumerate(zip(options[first[s]], options[second[s]], strict=True)):
            unknown = p is None or q is None or sums[tier] is None
            sums[tier] = None if unknown else sums[tier] + Fraction(p) - Fraction(q)
    return sums, shared


def first_sign(values: Sequence[float | None]) -> int:
    for v in values:
        if v is None:
            return 0
        if abs(v) > 1e-9:
            return 1 if v > 0 else -1
    return 0


def net_benefit(made: Made, a: str, b: str) -> Plain:
    by_chain_signs = []
    for i in range(len(made.steps)):
        found = [tier_differences(made, a, b, i, s) for s in range(made.shuffles)]
        by_chain_signs.append(mean([first_sign(sums) for sums, steps in found if steps]))
    return plain_ratio(by_chain_signs, bounds=(-1, 1))


def p_lex(made: Made, a: str, b: str, counts: np.ndarray) -> tuple[float, float, float, int]:
    """Shares of resamples better, worse, tie; and what was left out."""
    totals: list[list[float] | None] = []
    left_out = 0
    for i in range(len(made.steps)):
        found = [tier_differences(made, a, b, i, s) for s in range(made.shuffles)]
        found = [(sums, steps) for sums, steps in found if steps]
        whole = [[v / steps for v in sums] for sums, steps in found if None not in sums]
        left_out += len(found) - len(whole)
        totals.append([float(sum(t) / len(whole)) for t in zip(*whole, strict=True)] or None)
    signs = []
    for row in counts:
        units = [(c, t) for c, t in zip(row, totals, strict=True) if t is not None and c]
        if units:
            weight = sum(c for c, _ in units)
            tiers = range(len(units[0][1]))
            signs.append(first_sign([sum(c * t[k] for c, t in units) / weight for k in tiers]))
    if not signs:
        return NAN, NAN, NAN, left_out
    better, worse, tie = (signs.count(s) / len(signs) for s in (1, -1, 0))
    return better, worse, tie, left_out
