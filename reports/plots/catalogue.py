"""Which figures a group of runs has: those for which its logs hold data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from moral_evals.loaders.morebench.records import dimension_key
from moral_evals.reports.plots import rubric
from moral_evals.reports.plots.palette import Mark
from moral_evals.reports.plots.scatter import regular_hard
from moral_evals.reports.runs.rubric_runs import RubricRun, dimensions_shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """A figure that can be drawn.

    Attributes:
        name: Short identifier, for file names.
        title: What a reader sees above it.
        caption: How to read it.
        draw: Draws it; raises SuiteError if matplotlib is not installed.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], "Figure"]


def rubric_drawings(
    runs: Sequence[RubricRun], names: Sequence[str], looks: Mapping[str, Mark]
) -> Iterator[Drawing]:
    """Figures of runs that one table compares."""
    if _known(runs, *map(dimension_key, dimensions_shown(runs))):
        yield Drawing(
            "dimensions",
            "Heat map of the dimensions",
            "Weighted share earned within each dimension, averaged over scenarios; below it the "
            "95% interval.",
            lambda: rubric.dimensions(runs, names, looks),
        )
    if _known(runs, "score"):
        yield Drawing(
            "regular_hard",
            "Regular and Hard, with length",
            "Lines: 95% intervals. Area of a marker: mean length of the judged text. Hard divides "
            "by that length: compare models only where the kind of trace is the same.",
            lambda: regular_hard(runs, names, looks),
        )
    if rubric.theories_of(runs):
        yield Drawing(
            "theories",
            "Scores by theory",
            "Mean over the scenarios of a theory with its 95% interval. Each theory has scenarios of its own: compare "
            "models within one, not theories.",
            lambda: rubric.theory_rows(runs, names, looks),
        )


def _known(runs: Sequence[RubricRun], *keys: str) -> bool:
    return any(
        np.isfinite(run.values[key]).any() for run in runs for key in keys if key in run.values
    )
