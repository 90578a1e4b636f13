"""A table of estimates as a heat map, with the numbers in the cells."""

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from moral_evals.reports.form.document import mark as interval_mark
from moral_evals.reports.form.document import number
from moral_evals.reports.plots.canvas import new_figure, short
from moral_evals.reports.plots.palette import PAPER
from moral_evals.scorers.stats.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DARK_TEXT, _LIGHT_TEXT = "#000000", "#ffffff"  # on a cell, which no colour scheme changes


def draw_heat(
    headings: Sequence[str], names: Sequence[str], cells: Sequence[Sequence[Interval]]
) -> "Figure":
    """Draw shares from 0 to 1, a row for each name; the interval stands below each number."""
    label = max(len(short(n)) for n in names) * 0.08
    figure, (ax,) = new_figure(0.4 + label + 1.15 * len(headings), 0.7 + 0.44 * len(names))
    values = np.array([[c.estimate for c in row] for row in cells])
    mesh = ax.pcolormesh(
        values, cmap="viridis", vmin=0, vmax=1, edgecolors=PAPER, linewidth=2, antialiased=True
    )
    for (i, j), value in np.ndenumerate(values):
        colour = _readable_on(*mesh.to_rgba(value)[:3]) if math.isfinite(value) else None
        ends = cells[i][j]
        ranged = math.isfinite(ends.lower)
        at = j + 0.5, i + (0.4 if ranged else 0.5)
        ax.text(*at, number(value, 2), ha="center", va="center", color=colour, fontsize=10)
        if ranged:
            text = f"{number(ends.lower, 2)} to {number(ends.upper, 2)}{interval_mark(ends)}"
            ax.text(j + 0.5, i + 0.74, text, ha="center", va="center", color=colour, fontsize=7)
    ax.set_xticks(
        np.arange(len(headings)) + 0.5, ["\n".join(textwrap.wrap(h, 12)) for h in headings]
    )
    ax.set_yticks(np.arange(len(names)) + 0.5, [short(n) for n in names])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.invert_yaxis()
    for spine in ax.spines.values():
        spine.set_visible(False)
    return figure


def _readable_on(red: float, green: float, blue: float) -> str:
    def linear(c: float) -> float:
        return c / 12.92 if c <= 0.04045 else float(((c + 0.055) / 1.055) ** 2.4)

    luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    # where black and white have the same contrast (WCAG 2)
    return _DARK_TEXT if luminance > 0.179 else _LIGHT_TEXT
