"""The one place that imports matplotlib: its settings, new figures, their bytes."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.plots.palette import INK, MUTED, PAPER, RULE
from moral_evals.scorers.stats.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")

_SETTINGS: Any = {
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 9,
    "legend.fontsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    # a dollar in a model's name is a dollar
    "text.parse_math": False,
    # ids that are the same in every run
    "svg.hashsalt": "moral-reports",
}
_UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
_BARE: Any = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_LONGEST = 44


def line_of(found: Interval) -> Any:
    """Line style of an interval: dotted where it rests on too few units to lean on."""
    return (0, (1, 1.2)) if found.few else "-"


@contextmanager
def drawing() -> Iterator[None]:
    """Hold the house's settings while a figure is made or saved; also a decorator.

    Raises SuiteError if matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise SuiteError('figures need matplotlib: pip install "moral-evals[plots]".') from error
    with warnings.catch_warnings(), matplotlib.rc_context(_SETTINGS):
        # a name in a script that the font lacks shows boxes; in the page the browser's font serves
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, share: bool = False
) -> tuple["Figure", list["Axes"]]:
    """A figure in inches and its axes, row by row; `share` gives all of them the same scales."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=share, sharey=share)
    return figure, list(axes.flat)


@drawing()
def to_file(figure: "Figure", form: str, dpi: int) -> bytes:
    """A figure as PNG, SVG or PDF, on a light ground. Text in SVG becomes outlines."""
    out = io.BytesIO()
    figure.savefig(out, format=form, dpi=dpi, metadata=_UNDATED.get(form))
    return out.getvalue()


@drawing()
def to_page_svg(figure: "Figure") -> str:
    """A figure as SVG for a page: no ground, no metadata, text as text."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata=_BARE)
    return out.getvalue()


def short(name: str, longest: int = _LONGEST) -> str:
    """A name on one line, its middle left out if it is long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if len(line) <= longest:
        return line
    head = (longest - 1) // 2
    return line[:head] + "…" + line[head + 1 - longest :]
