"""Figures of rubric scores."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from moral_evals.reports.compare.rubric import interval_of
from moral_evals.reports.findings.theories import ordered
from moral_evals.reports.plots.canvas import drawing, short
from moral_evals.reports.plots.heat import draw_heat
from moral_evals.reports.plots.palette import Mark
from moral_evals.reports.plots.rows import PlotRow, Scale, draw_rows
from moral_evals.reports.runs.rubric_runs import RubricRun, dimensions_shown
from moral_evals.scorers.stats.bootstrap import Array, Interval, ratio

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@drawing()
def dimensions(runs: Sequence[RubricRun], names: Sequence[str], _: Mapping[str, Mark]) -> "Figure":
    """Weighted share earned in each of the dimensions that `compare` shows."""
    shown = dimensions_shown(runs)
    cells = [[interval_of(ratio(run.dimension(d))) for d in shown] for run in runs]
    return draw_heat(shown, names, cells)


@drawing()
def theory_rows(
    runs: Sequence[RubricRun], names: Sequence[str], looks: Mapping[str, Mark]
) -> "Figure":
    """MoReBench-Regular under each theory."""
    shown = theories_of(runs)
    rows = [
        PlotRow(short(name), looks[name], [under(run, theory) for theory in shown])
        for run, name in zip(runs, names, strict=True)
    ]
    return draw_rows(shown, rows, Scale("MoReBench-Regular", bars=True))


def theories_of(runs: Sequence[RubricRun]) -> list[str]:
    """Theories that occur among the runs' scenarios, in their usual order."""
    return ordered(label for run in runs for label in run.labels["theory"])


def under(run: RubricRun, theory: str) -> Interval:
    """A run's mean score over the scenarios of a theory."""
    member = np.array([label == theory for label in run.labels["theory"]], dtype=bool)
    scores: Array = np.where(member, run.values["score"], np.nan)
    return interval_of(ratio(scores))
