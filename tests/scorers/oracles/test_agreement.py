"""Figures of a judge beside labels against plain recomputation, with their intervals."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from moral_evals.scorers.stats import agreement
from moral_evals.scorers.stats.bootstrap import Bootstrap, Statistic
from tests.scorers.oracles.plain_bootstrap import NAN, Plain, drawn, plain_interval

DRAWS = 80

Cells = Sequence[float]
"""Pairs with label and verdict yes yes, yes no, no yes, no no."""


def f1(right: float, wrong: float) -> float:
    return 2 * right / (2 * right + wrong) if right or wrong else NAN


def macro_f1(s: Cells) -> float:
    return (f1(s[0], s[1] + s[2]) + f1(s[3], s[1] + s[2])) / 2


def kappa(s: Cells) -> float:
    total = sum(s)
    if not total:
        return NAN
    labels, verdicts = (s[0] + s[1]) / total, (s[0] + s[2]) / total
    chance = labels * verdicts + (1 - labels) * (1 - verdicts)
    return ((s[0] + s[3]) / total - chance) / (1 - chance) if chance != 1 else NAN


def of_total(part: Callable[[Cells], float]) -> Callable[[Cells], float]:
    return lambda s: part(s) / sum(s) if sum(s) else NAN


FIGURES: dict[str, tuple[Callable[..., Statistic], Callable[[Cells], float], tuple[int, int]]] = {
    "macro F1": (agreement.macro_f1, macro_f1, (0, 1)),
    "kappa": (agreement.kappa, kappa, (-1, 1)),
    "accuracy": (agreement.accuracy, of_total(lambda s: s[0] + s[3]), (0, 1)),
    "yes bias": (agreement.yes_bias, of_total(lambda s: s[2] - s[1]), (-1, 1)),
    "base rate": (agreement.base_rate, of_total(lambda s: s[0] + s[1]), (0, 1)),
}


def table(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "alike":
        return np.tile(rng.integers(1, 5, 4), (6, 1)).astype(float)
    if kind == "no text":
        return np.zeros((4, 4))
    high = {"full": 7, "sparse": 2}[kind]
    return rng.integers(0, high, (int(rng.integers(2, 14)), 4)).astype(float)


KINDS = ("full", "sparse", "alike", "no text")


def agree(found: Statistic, expected: Plain) -> None:
    n = len(expected.units)
    interval = Bootstrap(n, seed=2, resamples=DRAWS).interval(found)
    estimate, lower, upper, units, flag = plain_interval(expected, drawn(n, DRAWS, 2))
    assert (interval.n, interval.flag) == (units, flag)
    ends = (interval.estimate, interval.lower, interval.upper)
    assert ends == pytest.approx((estimate, lower, upper), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FIGURES)
def test_figures(name: str, kind: str, seed: int) -> None:
    figure, plain, bounds = FIGURES[name]
    cells = table(kind, seed)
    agree(figure(cells), Plain([tuple(row) for row in cells], plain, bounds))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["full", "alike"])
def test_the_lowest_of_three_categories(kind: str, seed: int) -> None:
    cells = [table(kind, 10 * seed)]
    rng = np.random.default_rng(seed)
    cells += [rng.permuted(cells[0], axis=0 if kind == "full" else 1)[:, ::-1] for _ in range(2)]
    if kind == "alike":
        cells = [np.tile(c[0], (len(c), 1)) for c in cells]
    units = [tuple(np.concatenate(rows)) for rows in zip(*cells, strict=True)]

    def lowest(s: Cells) -> float:
        return min(macro_f1(s[i : i + 4]) for i in (0, 4, 8))

    agree(agreement.minimum_macro_f1(cells), Plain(units, lowest, (0, 1)))


def test_cells_count_label_first() -> None:
    pairs = [("yes", "no"), ("yes", "no"), ("no", "yes"), ("yes", "yes"), ("no", "ungraded")]
    made = [agreement.JudgedPair(i % 2, *pair) for i, pair in enumerate(pairs)]
    assert agreement.counts(made, 2).tolist() == [[0, 1, 1, 0], [1, 1, 0, 0]]
    assert math.isnan(agreement.kappa(agreement.counts(made[4:], 2)).estimate())


def test_one_pair_is_enough_for_a_share() -> None:
    one = np.array([[1.0, 0.0, 0.0, 0.0]])
    assert agreement.accuracy(one).estimate() == 1
    assert agreement.base_rate(one).estimate() == 1
    assert agreement.yes_bias(one).estimate() == 0
