"""Paired comparisons of runs: differences, intervals, tests, Holm's verdicts."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from moral_evals.reports.form.document import Cell, RunName, Table, number
from moral_evals.reports.runs.naming import same_answers
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.rubric.scenario_table import hard_score
from moral_evals.scorers.stats.bootstrap import (
    SMALL_N,
    Array,
    Bootstrap,
    Interval,
    Statistic,
    ratio,
)
from moral_evals.scorers.stats.missing import Bounds, mean_difference_bounds
from moral_evals.scorers.stats.multiplicity import ALPHA, holm, verdict_word
from moral_evals.scorers.stats.paired import PairedTest, of_sides, paired_test
from moral_evals.scorers.stats.pvalue import PValue


@dataclass(frozen=True)
class ModelPair:
    """First run minus second in one figure, on the scenarios that both have scored.

    Attributes:
        first: Index of a run.
        second: Index of another.
        found: The difference with its 95% interval.
        test: Its test; p is nan for fewer than two units.
        adjusted: p after Holm over all comparisons of the figure.
        bounds: How far scenarios that were given to both and that one of them has unscored could
            move the difference of the means; unknown for a figure without such a range.
    """

    first: int
    second: int
    found: Interval
    test: PairedTest
    adjusted: PValue
    bounds: Bounds


def verdict(found: Interval, test: PairedTest, adjusted: float, first: str, second: str) -> str:
    """Which of two is higher at a family-wise level of 5%, if either, and how firmly."""
    word = verdict_word(test.n, adjusted, rare_loss=test.rare_loss)
    ahead = first if found.estimate > 0 else second
    if word == "higher":
        return f"{ahead} higher"
    if word == "leans":
        return f"leans {ahead} ({test.n} units)"
    return f"{word} ({test.n})" if word == "too few units" else word


def reason(found: Interval, test: PairedTest, adjusted: float) -> str:
    """Why an interval that leaves out 0 has no firmer verdict; empty where nothing is to be said."""
    word = verdict_word(test.n, adjusted, rare_loss=test.rare_loss)
    if word == "leans" and test.rare_loss:
        return "a rare large loss stands against it"
    if not found.leaves_out_zero:
        return ""
    if word == "too few units":
        return f"interval leaves out 0, no verdict below {SMALL_N} units"
    if word == "no difference shown":
        if test.p < ALPHA:
            return "interval leaves out 0, not so after Holm"
        return f"interval leaves out 0, {test.strictest} do not (p {test.p})".replace(
            "paired t do", "paired t does"
        )
    return ""


def regular(run: RubricRun, ids: Sequence[str]) -> Statistic:
    """MoReBench-Regular over some scenarios."""
    return ratio(run.over(ids, "score"))


def hard(run: RubricRun, ids: Sequence[str]) -> Statistic:
    """MoReBench-Hard over some scenarios: score per 1,000 characters, a ratio of means."""
    return hard_score(run.over(ids, "score"), run.over(ids, "length"))


def score_bounds(first: RubricRun, second: RubricRun) -> Bounds:
    """How far unscored scenarios could move the difference in Regular."""
    ids = first.ordered({*first.ids} & {*second.ids})
    return mean_difference_bounds(first.over(ids, "score"), second.over(ids, "score"))


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
    """Scenarios that both runs have scored, in the first run's order."""
    return first.ordered(_scored(first) & _scored(second))


def compare_runs(
    runs: Sequence[RubricRun],
    figures: Mapping[str, Figure] = FIGURES,
    baseline: int | None = None,
) -> dict[str, list[ModelPair]]:
    """By figure all pairs of runs, or each run against a baseline; Holm runs over those made.

    Two scorings of the same answers make no pair.
    """
    pairs = [
        p
        for p in combinations(range(len(runs)), 2)
        if (baseline is None or baseline in p) and not same_answers(runs[p[0]], runs[p[1]])
    ]
    shared = {(a, b): shared_ids(runs[a], runs[b]) for a, b in pairs}
    found: dict[tuple[int, int], dict[str, tuple[Interval, PairedTest]]] = {}
    # drawing takes longest, and pairs of one size have one draw
    for a, b in sorted(pairs, key=lambda p: len(shared[p])):
        found[a, b] = _compare(runs[a], runs[b], shared[a, b], figures)
    # of Hard nothing can be said: a text that is missing has no length
    bounds = {"Regular": {p: score_bounds(runs[p[0]], runs[p[1]]) for p in pairs}}
    return {
        name: _adjusted({p: found[p][name] for p in pairs}, bounds.get(name, {}))
        for name in figures
    }


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
            c.test.p,
            c.adjusted,
            verdict(c.found, c.test, c.adjusted, names[c.first], names[c.second]),
            "; ".join(_remarks(c)),
        ]
        for c in comparisons
    ]
    columns = ["pair", "difference [95%]", "shared", "p", "Holm p", "verdict", "remark"]
    slug = "pairs_" + title.lower().replace(" ", "_")
    return Table(slug, f"Paired differences in {title}", columns, rows, notes)


def _remarks(c: ModelPair) -> Iterator[str]:
    if why := reason(c.found, c.test, c.adjusted):
        yield why
    if c.bounds.open:
        yield f"unscored scenarios allow {number(c.bounds.low)} to {number(c.bounds.high)}"


def _compare(
    first: RubricRun, second: RubricRun, ids: Sequence[str], figures: Mapping[str, Figure]
) -> dict[str, tuple[Interval, PairedTest]]:
    bootstrap = Bootstrap(len(ids))
    found = {}
    for name, figure in figures.items():
        pair = of_sides(figure(first, ids), figure(second, ids))
        found[name] = bootstrap.interval(pair.statistic), paired_test(bootstrap, pair)
    return found


def _adjusted(
    found: Mapping[tuple[int, int], tuple[Interval, PairedTest]],
    bounds: Mapping[tuple[int, int], Bounds],
) -> list[ModelPair]:
    adjusted = holm([test.p for _, test in found.values()])
    return [
        ModelPair(a, b, interval, test, held, bounds.get((a, b), Bounds.unknown()))
        for ((a, b), (interval, test)), held in zip(found.items(), adjusted, strict=True)
    ]


def _scored(run: RubricRun) -> set[str]:
    known: Array = np.isfinite(run.values["score"])
    return {i for i, there in zip(run.ids, known, strict=True) if there}
