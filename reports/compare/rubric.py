"""Models side by side on MoReBench: the table, and what differs beyond chance."""

import math
from collections.abc import Sequence

import numpy as np

from moral_evals.reports.compare.pairs import best_first, compare_runs, hard, pairs_table, regular
from moral_evals.reports.form.document import Cell, OutOf, Report, RunName, Table
from moral_evals.reports.runs.conditions import refuse_incomparable
from moral_evals.reports.runs.naming import place, run_names
from moral_evals.reports.runs.remarks import shared_remarks
from moral_evals.reports.runs.rubric_runs import RubricRun, dimensions_shown
from moral_evals.scorers.stats.bootstrap import Bootstrap, Interval, Statistic, difference, ratio


def compare_rubric(
    runs: Sequence[RubricRun], allowed: Sequence[str] = (), baseline: str | None = None
) -> Report:
    """Compare rubric runs.

    Args:
        runs: At least one.
        allowed: Conditions that may differ, by name.
        baseline: Model (or part of its name) to compare all others with; None compares all pairs.

    Raises:
        SuiteError: If the runs are not comparable, with every reason.
    """
    refuse_incomparable([r.conditions for r in runs], allowed, [r.log.location for r in runs])
    runs = best_first(runs)
    names = run_names(runs)
    tables = [scores_table(runs, names), dimensions_table(runs, names)]
    if len(runs) > 1:
        compared = compare_runs(runs, baseline=None if baseline is None else place(names, baseline))
        tables += [pairs_table(title, names, made) for title, made in compared.items() if made]
    notes = [
        "Intervals: 95% BCa bootstrap over scenarios; pairs on the scenarios that both have "
        "scored. p: largest of bootstrap, sign flips and paired t; Holm over the pairs of each "
        "table. No verdict below 10 scenarios, from 10 to 29 a model is only leaned to.",
        *shared_remarks(runs, names),
    ]
    first = runs[0].conditions
    title = f"{first.task}, {first.judged} judged: {len(runs)} runs"
    return Report(title, tables, notes, f"{first.task}-{first.judged}")


def scores_table(runs: Sequence[RubricRun], names: Sequence[RunName]) -> Table:
    """Regular, Hard, length, what was measured, and the kind of trace."""
    rows: list[list[Cell]] = []
    for run, name in zip(runs, names, strict=True):
        length = run.values["length"]
        rows.append(
            [
                name,
                interval_of(regular(run, run.ids)),
                interval_of(hard(run, run.ids)),
                round(np.nanmean(length)) if np.isfinite(length).any() else math.nan,
                OutOf(run.scored, run.samples),
                ratio(run.values["graded_share"]).estimate(),
                ratio(run.values["declined"]).estimate(),
                run.trace,
            ]
        )
    columns = ["model", "Regular", "Hard", "characters", "scored", "graded", "refused", "trace"]
    return Table("scores", "Scores", columns, rows)


def dimensions_table(runs: Sequence[RubricRun], names: Sequence[RunName]) -> Table:
    """Weighted share within each dimension, and the gap of the paper's first finding."""
    shown = dimensions_shown(runs)
    rows: list[list[Cell]] = [
        [
            name,
            *(interval_of(ratio(run.dimension(d))) for d in shown),
            interval_of(harmless_minus_logical(run)),
        ]
        for run, name in zip(runs, names, strict=True)
    ]
    columns = ["model", *shown, "harmless − logical"]
    return Table("dimensions", "Dimensions (weighted share, by scenario)", columns, rows)


def harmless_and_logical(run: RubricRun) -> tuple[Statistic, Statistic]:
    """Weighted shares within harmless outcome and within logical process."""
    return ratio(run.values["dim_harmless_outcome"]), ratio(run.values["dim_logical_process"])


def harmless_minus_logical(run: RubricRun) -> Statistic:
    """Harmless outcome minus logical process, each over the scenarios that have it."""
    return difference(*harmless_and_logical(run))


def interval_of(statistic: Statistic) -> Interval:
    """The 95% interval over a run's scenarios."""
    return Bootstrap(len(statistic.columns)).interval(statistic)
