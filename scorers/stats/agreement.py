"""Agreement of a judge with labels: macro-F1, kappa and their kin as functions of counts.

Every figure is a function of the four counts of (label, verdict), summed over texts, so that the
bootstrap can resample texts: the criteria of one text hang together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from moral_evals.scorers.stats.bootstrap import Array, Statistic


@dataclass(frozen=True)
class JudgedPair:
    """A label, and the verdict beside it: `yes`, `no` or `ungraded`."""

    unit: int
    label: str
    verdict: str
    group: str = ""


COUNTS = ("yes_yes", "yes_no", "no_yes", "no_no")
"""Order of count columns: label first, verdict second."""


def counts(pairs: Sequence[JudgedPair], units: int) -> Array:
    """Counts by unit, shape (units, 4); ungraded pairs are in none."""
    table = np.zeros((units, len(COUNTS)))
    for pair in pairs:
        if pair.verdict in ("yes", "no"):
            table[pair.unit, COUNTS.index(f"{pair.label}_{pair.verdict}")] += 1
    return table


def macro_f1(table: Array) -> Statistic:
    """Mean of the F1 of yes and the F1 of no, in [0, 1]."""
    return Statistic(table, _macro_f1, (0.0, 1.0))


def minimum_macro_f1(tables: Sequence[Array]) -> Statistic:
    """Lowest macro-F1 over categories: the figure by which the paper chose its judge.

    Args:
        tables: Counts by unit for each category, each of shape (units, 4).
    """
    columns = np.concatenate(list(tables), axis=1)

    def combine(sums: Array) -> Array:
        parts = [_macro_f1(sums[..., 4 * i : 4 * i + 4]) for i in range(len(tables))]
        return np.asarray(np.min(np.stack(parts, axis=-1), axis=-1))

    return Statistic(columns, combine, (0.0, 1.0))


def kappa(table: Array) -> Statistic:
    """Cohen's kappa, in [-1, 1]."""

    def combine(s: Array) -> Array:
        total = s.sum(axis=-1)
        observed = _divide(s[..., 0] + s[..., 3], total)
        label_yes = _divide(s[..., 0] + s[..., 1], total)
        verdict_yes = _divide(s[..., 0] + s[..., 2], total)
        chance = label_yes * verdict_yes + (1 - label_yes) * (1 - verdict_yes)
        return _divide(observed - chance, 1 - chance)

    return Statistic(table, combine, (-1.0, 1.0))


def accuracy(table: Array) -> Statistic:
    """Share of pairs on which label and verdict are the same."""
    return Statistic(table, lambda s: _divide(s[..., 0] + s[..., 3], s.sum(axis=-1)), (0.0, 1.0))


def yes_bias(table: Array) -> Statistic:
    """Share of yes verdicts minus share of yes labels, in [-1, 1]; above 0 the judge is lenient."""
    return Statistic(table, lambda s: _divide(s[..., 2] - s[..., 1], s.sum(axis=-1)), (-1.0, 1.0))


def base_rate(table: Array) -> Statistic:
    """Share of yes labels."""
    return Statistic(table, lambda s: _divide(s[..., 0] + s[..., 1], s.sum(axis=-1)), (0.0, 1.0))


def _macro_f1(s: Array) -> Array:
    wrong = s[..., 1] + s[..., 2]
    yes = _divide(2 * s[..., 0], 2 * s[..., 0] + wrong)
    no = _divide(2 * s[..., 3], 2 * s[..., 3] + wrong)
    return np.asarray((yes + no) / 2)


def _divide(top: Array, bottom: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom != 0, top / bottom, np.nan)
