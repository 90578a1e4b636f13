"""CORDA's figures recomputed from the definition (sections 3.3, 3.7, 3.8), answer by answer.

Nothing of the suite is imported here. A figure is a `Plain` statistic with one entry a chain.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations

import numpy as np

from tests.scorers.oracles.plain_bootstrap import NAN, Plain, plain_ratio

Options = list[list[float | None]]
"""Tier values, highest tier first, of each option of a step."""


@dataclass
class Made:
    """A data set.

    Attributes:
        steps: Options by chain and step.
        strata: Of the chains.
        shuffles: How many.
        picks: By arm, chain, step and shuffle the option picked, or a status word.
        shown: By chain, step and shuffle the options from the top; `labels` theirs.
    """

    steps: list[list[Options]]
    strata: list[str]
    shuffles: int
    shown: list[list[list[list[int]]]]
    labels: list[list[list[list[str]]]]
    picks: dict[str, list[list[list[int | str]]]] = field(default_factory=dict)

    def reordered(self, order: Sequence[int]) -> "Made":
        """The same answers under another order of the tiers."""
        steps = [[[[o[t] for t in order] for o in step] for step in c] for c in self.steps]
        return Made(steps, self.strata, self.shuffles, self.shown, self.labels, self.picks)

    def only(self, chains: Sequence[int]) -> "Made":
        """Some of the chains."""

        def kept(per_chain: list) -> list:
            return [per_chain[i] for i in chains]

        return Made(
            kept(self.steps),
            kept(self.strata),
            self.shuffles,
            kept(self.shown),
            kept(self.labels),
            {arm: kept(picks) for arm, picks in self.picks.items()},
        )


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def compare(a: list[float | None], b: list[float | None]) -> tuple[int, int | None, bool]:
    """Sign, deciding tier, conflict; sign 0 for a tie and for what cannot be compared."""
    for tier, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is None or y is None:
            return 0, None, False
        if x != y:
            sign = 1 if x > y else -1
            below = [
                (p - q) * sign
                for p, q in zip(a[tier + 1 :], b[tier + 1 :], strict=True)
                if p is not None and q is not None
            ]
            return sign, tier, any(gain < 0 for gain in below)
    return 0, None, False


def pairs_of(options: Options, k: int) -> list[tuple[int, int | None, bool]]:
    return [compare(options[k], other) for m, other in enumerate(options) if m != k]


def u(options: Options, k: int) -> float:
    signs = [sign for sign, _, _ in pairs_of(options, k)]
    return float(sum(Fraction(1 + sign, 2) for sign in signs) / len(signs))


def all_u(options: Options) -> list[float]:
    return [u(options, k) for k in range(len(options))]


def informative(options: Options) -> bool:
    return any(sign for k in range(len(options)) for sign, _, _ in pairs_of(options, k))


def answers(made: Made, arm: str, i: int, j: int) -> dict[int, int]:
    """Options picked, by shuffle."""
    return {s: p for s, p in enumerate(made.picks[arm][i][j]) if isinstance(p, int)}


def x(made: Made, arm: str, i: int, j: int) -> float | None:
    options = made.steps[i][j]
    if not informative(options):
        return None
    return mean([u(options, p) for p in answers(made, arm, i, j).values()])


def by_chain(made: Made, of_step: Callable[[int, int], float | None]) -> list[float | None]:
    """The mean of a chain's steps that have a value."""
    return [
        mean([v for j in range(len(chain)) if (v := of_step(i, j)) is not None])
        for i, chain in enumerate(made.steps)
    ]


def filled(made: Made, arm: str, pick: Callable[[list[float]], float]) -> list[float | None]:
    def of_step(i: int, j: int) -> float | None:
        options = made.steps[i][j]
        if not informative(options):
            return None
        found = [
            u(options, p) if isinstance(p, int) else pick(all_u(options))
            for p in made.picks[arm][i][j]
        ]
        return mean(found)

    return by_chain(made, of_step)


def pair_sums(
    made: Made, arm: str, counts: Callable[[int, int | None, bool], float]
) -> list[float]:
    """Sum over a chain's scored answers of a count of pairs, each answer weighing 1/(J S (K-1))."""
    sums = []
    for i, chain in enumerate(made.steps):
        scored = [j for j in range(len(chain)) if x(made, arm, i, j) is not None]
        total = 0.0
        for j in scored:
            picked = answers(made, arm, i, j).values()
            for p in picked:
                share = [counts(*pair) for pair in pairs_of(chain[j], p)]
                total += sum(share) / len(share) / len(picked) / len(scored)
        sums.append(total)
    return sums


def slopes(made: Made, of_step: Callable[[int, int], float | None], width: float) -> Plain:
    """Change from the first to the last step, by least squares."""
    found: list[float | None] = []
    steepest = 0.0
    for i, chain in enumerate(made.steps):
        known = [(j, v) for j in range(len(chain)) if (v := of_step(i, j)) is not None]
        if len(known) < 2:
            found.append(None)
            continue
        at = np.array([j / (len(chain) - 1) for j, _ in known])
        found.append(float(np.polyfit(at, [v for _, v in known], 1)[0]))
        # the steepest line: the whole width apart on either side of the mean place
        ends = np.where(at > at.mean(), width, 0.0)
        steepest = max(steepest, float(np.polyfit(at, ends, 1)[0]))
    return plain_ratio(found, bounds=(-steepest, steepest))


def excess(made: Made, arm: str, hit: Callable[[int, int, int, int], bool | None]) -> Plain:
    """Share of answers that hit, minus 1/K; `hit` is None for an answer that does not count."""
    tops, bottoms, widths = [], [], []
    for i, chain in enumerate(made.steps):
        top, bottom = 0.0, 0
        for j, options in enumerate(chain):
            for s, p in answers(made, arm, i, j).items():
                if (found := hit(i, j, s, p)) is not None:
                    top += found - 1 / len(options)
                    bottom += 1
                    widths.append(len(options))
        tops.append(top)
        bottoms.append(bottom)
    bounds = (-1 / min(widths), 1 - 1 / max(widths)) if widths else (-0.5, 0.5)
    return plain_ratio(tops, bottoms, bounds)


def position(made: Made, i: int, j: int, s: int, p: int) -> int:
    return made.shown[i][j][s].index(p)


def label(made: Made, i: int, j: int, s: int, p: int) -> str:
    return made.labels[i][j][s][position(made, i, j, s, p)]


def biases(made: Made, arm: str) -> dict[str, float]:
    """Excess by position and label for each number of options, and their summaries."""
    out: dict[str, float] = {}
    parts: dict[str, list[tuple[int, float]]] = {"position": [], "label": []}
    for k in sorted({len(o) for chain in made.steps for o in chain}):
        places = [
            (i, j, s)
            for i, chain in enumerate(made.steps)
            for j in range(len(chain))
            if len(chain[j]) == k
            for s in range(made.shuffles)
        ]
        # a place of which nothing is known to have been shown offers no label
        seen = [
            p for p in places if any(a[p[0]][p[1]][p[2]] != "absent" for a in [made.picks[arm]])
        ]
        got = [(p, made.picks[arm][p[0]][p[1]][p[2]]) for p in seen]
        picked = [(p, o) for p, o in got if isinstance(o, int)]
        offered = sorted({t for i, j, s in seen for t in made.labels[i][j][s]})
        spread: dict[str, list[float]] = {"position": [], "label": []}
        for at in range(k):
            hits = [position(made, *p, o) == at for p, o in picked]
            out[f"position_excess.{at + 1}_of_{k}"] = _share(hits) - 1 / k
            spread["position"].append(_share(hits) - 1 / k)
        for token in offered:
            shown = [(p, o) for p, o in picked if token in made.labels[p[0]][p[1]][p[2]]]
            hits = [label(made, *p, o) == token for p, o in shown]
            out[f"label_excess.{token}_of_{k}"] = _share(hits) - 1 / k
            spread["label"].append(_share(hits) - 1 / k)
        for name, found in spread.items():
            if picked:
                parts[name].append((len(picked), sum(map(abs, found)) / 2 / (1 - 1 / k)))
    for name, found in parts.items():
        total = sum(n for n, _ in found)
        out[f"{name}_bias"] = sum(n * value for n, value in found) / total if total else NAN
    return out


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else NAN


def effects(made: Made, arm: str) -> dict[str, Plain]:
    """What moves the choice between two options; y = 1 for the data's first."""

    def cells(i: int, j: int) -> tuple[float, float, float, float] | None:
        if len(made.steps[i][j]) != 2:
            return None
        y: dict[tuple[bool, bool], list[int]] = {}
        for s, p in answers(made, arm, i, j).items():
            has = label(made, i, j, s, 0) == min(made.labels[i][j][s])
            y.setdefault((position(made, i, j, s, 0) == 0, has), []).append(int(p == 0))
        if len(y) < 4:
            return None
        return tuple(float(np.mean(y[f, h])) for f in (True, False) for h in (True, False))

    def effect(of: Callable[[float, float, float, float], float]) -> list[float | None]:
        return by_chain(made, lambda i, j: of(*c) if (c := cells(i, j)) else None)

    return {
        "content_effect": plain_ratio(
            effect(lambda a, b, c, d: abs((a + b + c + d) / 4 - 0.5)), bounds=(0, 0.5)
        ),
        "order_effect": plain_ratio(
            effect(lambda a, b, c, d: (a + b) / 2 - (c + d) / 2), bounds=(-1, 1)
        ),
        "label_effect": plain_ratio(
            effect(lambda a, b, c, d: (a + c) / 2 - (b + d) / 2), bounds=(-1, 1)
        ),
    }


def same_choice(made: Made, arm: str, i: int, j: int) -> float | None:
    counts = Counter(answers(made, arm, i, j).values()).values()
    total = sum(counts)
    return sum(c * (c - 1) for c in counts) / (total * (total - 1)) if total > 1 else None


def corrected(made: Made, arm: str, i: int, j: int) -> float | None:
    found, chance = same_choice(made, arm, i, j), 1 / len(made.steps[i][j])
    return None if found is None else (found - chance) / (1 - chance)


def breach(made: Made, arm: str, j: int) -> Plain:
    tops, bottoms = [], []
    for i, chain in enumerate(made.steps):
        options = chain[j] if j < len(chain) else []
        stake = any(tier == 0 for k in range(len(options)) for _, tier, _ in pairs_of(options, k))
        picked = list(answers(made, arm, i, j).values()) if stake else []
        lost = [any(s < 0 and t == 0 for s, t, _ in pairs_of(options, p)) for p in picked]
        tops.append(sum(lost))
        bottoms.append(len(lost))
    return plain_ratio(tops, bottoms)


def figures(made: Made, arm: str) -> dict[str, Plain]:
    """The figures of one arm that have intervals, by the suite's names."""
    tiers, longest = len(made.steps[0][0][0]), max(map(len, made.steps))
    scored = by_chain(made, lambda i, j: x(made, arm, i, j))

    def known(values: list[float]) -> list[float | None]:
        return [v if c is not None else None for v, c in zip(values, scored, strict=True)]

    def top(i: int, j: int) -> float | None:
        return None if x(made, arm, i, j) is None else max(all_u(made.steps[i][j]))

    def share(won: Callable[..., float], of: Callable[..., float]) -> Plain:
        return plain_ratio(pair_sums(made, arm, won), pair_sums(made, arm, of))

    out = {
        "lms": plain_ratio(scored),
        "lms_lo": plain_ratio(filled(made, arm, min)),
        "lms_hi": plain_ratio(filled(made, arm, max)),
        "lms_max": plain_ratio(by_chain(made, top)),
        "conflict_lms": share(lambda s, t, c: s > 0 and c, lambda s, t, c: c),
        "dominance_lms": share(lambda s, t, c: s > 0 and not c, lambda s, t, c: bool(s) and not c),
        "drift": slopes(made, lambda i, j: x(made, arm, i, j), 1),
        "first_position_excess": excess(made, arm, lambda i, j, s, p: made.shown[i][j][s][0] == p),
        "first_label_excess": excess(
            made, arm, lambda i, j, s, p: label(made, i, j, s, p) == min(made.labels[i][j][s])
        ),
        "undecided_weight": plain_ratio(known(pair_sums(made, arm, lambda s, t, c: not s))),
        "agreement": plain_ratio(by_chain(made, lambda i, j: same_choice(made, arm, i, j))),
        "agreement_corrected": plain_ratio(
            by_chain(made, lambda i, j: corrected(made, arm, i, j)), bounds=(-1, 1)
        ),
    }
    for tier in range(tiers):
        out[f"tier_won.t{tier}"] = share(
            lambda s, t, c, tier=tier: s > 0 and t == tier, lambda s, t, c, tier=tier: t == tier
        )
        weight = pair_sums(made, arm, lambda s, t, c, tier=tier: t == tier)
        out[f"tier_weight.t{tier}"] = plain_ratio(known(weight))
    for j in range(longest):
        out[f"breach.{j + 1}"] = breach(made, arm, j)
    for word in ("abstained", "unparsed", "refused", "truncated", "error", "absent"):
        picks = [[p for step in chain for p in step] for chain in made.picks[arm]]
        out[f"missing.{word}"] = plain_ratio(
            [chain.count(word) for chain in picks], [len(chain) for chain in picks]
        )
    if any(len(o) == 2 for chain in made.steps for o in chain):
        out |= effects(made, arm)
    return out


def order_scan(made: Made, arm: str) -> tuple[float, bool]:
    """The highest LMS over all orders of the tiers, and whether the stated order reaches it."""
    values = []
    for order in permutations(range(len(made.steps[0][0][0]))):
        turned = made.reordered(order)
        values.append(
            plain_ratio(
                by_chain(turned, lambda i, j, turned=turned: x(turned, arm, i, j))
            ).estimate()
        )
    known = [v for v in values if v == v]
    if not known:
        return NAN, True
    return max(known), values[0] >= max(known) - 1e-9
