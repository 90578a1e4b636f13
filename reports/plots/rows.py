"""The figure that most figures are: a row for each model, a panel for each quantity."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moral_evals.reports.form.document import number
from moral_evals.reports.plots.canvas import line_of, new_figure, short
from moral_evals.reports.plots.palette import INK, MUTED, PAPER, Mark
from moral_evals.scorers.stats.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.26  # inches
_GAP = 0.5  # of a row, between models that have several rows
_PANEL = 1.75


@dataclass(frozen=True)
class PlotRow:
    """One line of the figure.

    Attributes:
        label: At its left.
        mark: Look of its model.
        cells: One estimate a panel.
        first: Whether a model begins here.
        hollow: Whether its markers are empty.
    """

    label: str
    mark: Mark
    cells: Sequence[Interval]
    first: bool = True
    hollow: bool = False


@dataclass(frozen=True)
class Scale:
    """The quantity that all panels share.

    Attributes:
        label: Its name, short enough to stand below a panel.
        limits: Its range.
        reference: Where a line is drawn, if anywhere.
        bars: Whether bars rise from 0.
        signed: Whether numbers carry their sign.
    """

    label: str
    limits: tuple[float, float] = (0.0, 1.0)
    reference: float | None = None
    bars: bool = False
    signed: bool = False


def draw_rows(headings: Sequence[str], rows: Sequence[PlotRow], scale: Scale) -> "Figure":
    """Draw rows of estimates with their intervals, numbers at the right of each panel."""
    places = _places(rows)
    names = max((len(r.label) for r in rows), default=0) * 0.08
    figure, axes = new_figure(
        0.4 + names + _PANEL * len(headings),
        1.0 + _ROW * (places[-1] + 1),
        columns=len(headings),
        share=True,
    )
    for panel, (ax, heading) in enumerate(zip(axes, headings, strict=True)):
        _frame(ax, heading, scale)
        for row, y in zip(rows, places, strict=True):
            _estimate(ax, row, row.cells[panel], y, scale)
    axes[0].set_yticks(places, [r.label for r in rows])
    axes[0].set_ylim(places[-1] + 0.7, -0.7)
    axes[0].set_xlabel(scale.label, loc="left")
    return figure


def _places(rows: Sequence[PlotRow]) -> list[float]:
    grouped = not all(r.first for r in rows)
    places: list[float] = []
    for i, row in enumerate(rows):
        step = 1 + (_GAP if grouped and row.first else 0)
        places.append(places[-1] + step if i else 0.0)
    return places


def _frame(ax: "Axes", heading: str, scale: Scale) -> None:
    ax.set_title("\n".join(textwrap.wrap(short(heading), 18)), loc="left")
    ax.set_xlim(*scale.limits)
    ax.locator_params(axis="x", nbins=3)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", length=2)
    ax.spines["left"].set_visible(False)
    if scale.reference is not None:
        ax.axvline(scale.reference, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)


def _estimate(ax: "Axes", row: PlotRow, found: Interval, y: float, scale: Scale) -> None:
    mark, value = row.mark, found.estimate
    text = number(value, 2)
    if scale.signed and value > 0 and text != "0.00":
        text = "+" + text
    beside = ax.get_yaxis_transform()
    ax.text(1.08, y, text, transform=beside, va="center", fontsize=8, color=MUTED)
    if math.isnan(value):
        return
    if scale.bars:
        ax.barh(y, value, height=0.66, color=mark.colour, alpha=0.55)
    if math.isfinite(found.lower):
        colour = INK if scale.bars else mark.colour
        ax.plot(
            [found.lower, found.upper], [y, y], color=colour, linewidth=1.3, clip_on=False,
            linestyle=line_of(found),
        )  # fmt: skip
    if not scale.bars:
        ax.plot(
            value, y, mark.marker, markersize=5.5, clip_on=False, zorder=3, markeredgewidth=1.2,
            markeredgecolor=mark.colour, markerfacecolor=PAPER if row.hollow else mark.colour,
        )  # fmt: skip
