"""Harmless against logical, model by model: the first finding of the paper, on one's own models.

The paper (arXiv 2510.16380) finds that models avoid harm far more reliably than they argue well.
Its figures are plain shares of criteria fulfilled on thinking traces, pooled over the run, and
averaged over models. Beside them stand the same shares of each run; the tested gap weights the
criteria and averages scenario by scenario, so that scenarios can be its units.
"""

import math
from collections.abc import Sequence

import numpy as np

from moral_evals.loaders.morebench.records import dimension_key
from moral_evals.reports.compare.pairs import reason, verdict
from moral_evals.reports.compare.rubric import (
    harmless_and_logical,
    harmless_minus_logical,
    interval_of,
)
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.runs.logs import content_of
from moral_evals.reports.runs.naming import run_names
from moral_evals.reports.runs.remarks import shared_remarks, trace_mark
from moral_evals.reports.runs.rubric_runs import RubricRun, prefix_of
from moral_evals.reports.runs.sample_scores import sample_scores
from moral_evals.scorers.rubric.scenario_table import ScenarioTable, dimension_share
from moral_evals.scorers.stats.bootstrap import Array, Bootstrap, Statistic, ratio
from moral_evals.scorers.stats.multiplicity import holm
from moral_evals.scorers.stats.paired import of_sides, paired_test

_DIMENSIONS = ("harmless outcome", "logical process")
HARMLESS, LOGICAL = map(dimension_key, _DIMENSIONS)
PAPER = (0.811, 0.479)
"""Harmless and logical in the paper: average over models of the share of criteria fulfilled."""

_COLUMNS = [
    "model", "harmless", "logical", "gap", "scenarios", "p", "Holm p", "verdict",
    "remark", "plain harmless", "plain logical", "plain gap", "trace",
]  # fmt: skip


def dimension_gap(runs: Sequence[RubricRun]) -> Report | None:
    """The gap of each run, their average and the paper's; None if no run has both dimensions."""
    gaps = [interval_of(harmless_minus_logical(run)) for run in runs]
    if not any(math.isfinite(gap.estimate) for gap in gaps):
        return None
    names = run_names(runs)
    plain = [plain_shares(run) for run in runs]
    tests = [
        paired_test(Bootstrap(len(run.ids)), of_sides(*harmless_and_logical(run))) for run in runs
    ]
    rows: list[list[Cell]] = [
        [
            name,
            *(interval_of(ratio(run.values[key])) for key in (HARMLESS, LOGICAL)),
            gap,
            gap.n,
            test.p,
            held,
            verdict(gap, test, held, "harmless", "logical"),
            reason(gap, test, held),
            *_with_gap(shares),
            trace_mark(run),
        ]
        for run, name, gap, test, held, shares in zip(
            runs, names, gaps, tests, holm([t.p for t in tests]), plain, strict=True
        )
    ]
    measured = [i for i, gap in enumerate(gaps) if math.isfinite(gap.estimate)]
    if len(measured) > 1:
        rows.append(_average_row([runs[i] for i in measured], [plain[i] for i in measured]))
    rows.append(["paper, average over models", *[math.nan] * 6, "", "", *_with_gap(PAPER), ""])
    notes = [
        "Gap: weighted share within harmless outcome minus that within logical process, each "
        "averaged over the scenarios that have it; 95% BCa bootstrap over scenarios, Holm over "
        "models. p: largest of bootstrap, sign flips within a scenario and t. Plain: criteria "
        "fulfilled over criteria graded, pooled over the run: the form of the paper's figures, "
        "which are for thinking traces.",
    ]
    first = runs[0].conditions
    table = Table(
        f"gap_{first.task}_{first.judged}", "Harmless minus logical", _COLUMNS, rows, notes
    )
    title = f"Harmless against logical: {first.task}, {first.judged} judged"
    return Report(title, [table], shared_remarks(runs, names))


def average_gap(runs: Sequence[RubricRun]) -> Statistic:
    """Mean of the runs' gaps over all their scenarios; the models are fixed."""
    ids = runs[0].ordered({i for run in runs for i in run.ids})
    parts = [ratio(run.over(ids, key)) for run in runs for key in (HARMLESS, LOGICAL)]
    signs = np.tile([1.0, -1.0], len(runs)) / len(runs)

    def combine(sums: Array) -> Array:
        values = [p.combine(sums[..., 2 * i : 2 * i + 2]) for i, p in enumerate(parts)]
        return np.asarray(np.stack(values, axis=-1) @ signs, dtype=float)

    return Statistic(np.concatenate([p.columns for p in parts], axis=1), combine, (-1.0, 1.0))


def plain_shares(run: RubricRun) -> tuple[float, float]:
    """Shares of harmless and of logical criteria fulfilled, pooled; nan if none was graded."""
    with content_of(run.log.location):
        table = ScenarioTable.build(sample_scores(run.log, run.scorer), prefix_of(run.scorer))
    harmless, logical = (dimension_share(table, d).estimate() for d in _DIMENSIONS)
    return harmless, logical


def _average_row(runs: Sequence[RubricRun], plain: Sequence[tuple[float, float]]) -> list[Cell]:
    gap = average_gap(runs)
    found = Bootstrap(len(gap.columns)).interval(gap)
    shares = [
        float(np.mean([ratio(run.values[key]).estimate() for run in runs]))
        for key in (HARMLESS, LOGICAL)
    ]
    harmless, logical = (float(share) for share in np.mean(plain, axis=0))
    return [f"mean of {len(runs)} runs", *shares, found, found.n, *[math.nan] * 2, "", "",
            *_with_gap((harmless, logical)), ""]  # fmt: skip


def _with_gap(shares: tuple[float, float]) -> list[Cell]:
    return [*shares, shares[0] - shares[1]]
