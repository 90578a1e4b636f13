"""Paired comparisons of runs: differences, intervals, Holm's verdicts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from moral_evals.reports.form.document import Cell, PValue, RunName, Table
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import (
    Array,
    Bootstrap,
    Interval,
    Statistic,
    difference,
    ratio,
)
from moral_evals.scorers.stats.multiplicity import holm, p_value

ALPHA = 0.05


@dataclass(frozen=True)
class ModelPair:
    """First run minus second in one figure, on the scenarios that both have scored.

    Attributes:
        first: Index of a run.
        second: Index of another.
        found: The difference with its 95% interval.
        p: Smallest level at which the interval leaves out 0; nan if there is no interval.
        adjusted: The same after Holm over all comparisons of the figure.
    """

    first: int
    second: int
    found: Interval
    p: float
    adjusted: float


def verdict(found: Interval, adjusted: float, first: str, second: str) -> str:
    """Which of two is higher at a family-wise level of 5%, if either."""
    if math.isnan(adjusted):
        return "not tested"
    if adjusted >= ALPHA:
        return "no difference shown"
    return f"{first if found.estimate > 0 else second} higher"


def regular(run: RubricRun, ids: Sequence[str]) -> Statistic:
    """MoReBench-Regular over some scenarios."""
    return ratio(run.over(ids, "score"))


def hard(run: RubricRun, ids: Sequence[str]) -> Statistic:
    """MoReBench-Hard over some scenarios: score per 1,000 characters, a ratio of means."""
    top, bottom = run.over(ids, "score"), run.over(ids, "length")
    return ratio(top, bottom, scale=1000, bounds=(0, np.inf))


Figure = Callable[[RubricRun, Sequence[str]], Statistic]
"""A figure of a run over some scenarios."""

FIGURES: dict[str, Figure] = {"Regular": regular, "Hard": hard}


def best_first(runs: Sequence[RubricRun]) -> list[RubricRun]:
    """Runs by Regular; one without a score comes last."""

    def rank(run: RubricRun) -> float:
        value = regular(run, run.ids).estimate()
        return math.inf if math.isnan(value) else -value

    return sorted(runs, key=rank)


def rubric_groups(runs: Sequence[RubricRun]) -> list[list[RubricRun]]:
    """The runs of one table each, best first: by benchmark and scorer.

    Trace and response of one log are two tables; of two logs they are refused.
    """
    groups: dict[tuple[str, str], list[RubricRun]] = {}
    for run in runs:
        kind = run.scorer.rstrip("0123456789")
        groups.setdefault((run.conditions.task, kind), []).append(run)
    return [best_first(group) for _, group in sorted(groups.items())]


def shared_ids(first: RubricRun, second: RubricRun) -> list[str]:
    """Scenarios that both runs have scored, sorted."""
    return sorted(_scored(first) & _scored(second))


def compare_runs(
    runs: Sequence[RubricRun],
    figures: Mapping[str, Figure] = FIGURES,
    baseline: int | None = None,
) -> dict[str, list[ModelPair]]:
    """By figure all pairs of runs, or each run against a baseline; Holm runs over those made."""
    pairs = [p for p in combinations(range(len(runs)), 2) if baseline is None or baseline in p]
    shared = {(a, b): shared_ids(runs[a], runs[b]) for a, b in pairs}
    found: dict[tuple[int, int], dict[str, tuple[Interval, float]]] = {}
    # drawing takes longest, and pairs of one size have one draw
    for a, b in sorted(pairs, key=lambda p: len(shared[p])):
        found[a, b] = _compare(runs[a], runs[b], shared[a, b], figures)
    return {name: _adjusted({p: found[p][name] for p in pairs}) for name in figures}


def pairs_table(
    title: str,
    names: Sequence[RunName],
    comparisons: Sequence[ModelPair],
    notes: Sequence[str] = (),
) -> Table:
    """A line for each comparison."""
    rows: list[list[Cell]] = [
        [
            names[c.first].minus(names[c.second]),
            c.found,
            c.found.n,
            PValue(c.p),
            PValue(c.adjusted),
            verdict(c.found, c.adjusted, names[c.first], names[c.second]),
        ]
        for c in comparisons
    ]
    columns = ["pair", "difference [95%]", "shared", "p", "Holm p", "verdict"]
    slug = "pairs_" + title.lower().replace(" ", "_")
    return Table(slug, f"Paired differences in {title}", columns, rows, notes)


def _compare(
    first: RubricRun, second: RubricRun, ids: Sequence[str], figures: Mapping[str, Figure]
) -> dict[str, tuple[Interval, float]]:
    bootstrap = Bootstrap(len(ids))
    found = {}
    for name, figure in figures.items():
        statistic = difference(figure(first, ids), figure(second, ids))
        found[name] = bootstrap.interval(statistic), p_value(bootstrap, statistic)
    return found


def _adjusted(found: Mapping[tuple[int, int], tuple[Interval, float]]) -> list[ModelPair]:
    adjusted = holm([p for _, p in found.values()])
    return [
        ModelPair(a, b, interval, p, held)
        for ((a, b), (interval, p)), held in zip(found.items(), adjusted, strict=True)
    ]


def _scored(run: RubricRun) -> set[str]:
    known: Array = np.isfinite(run.values["score"])
    return {i for i, there in zip(run.ids, known, strict=True) if there}
