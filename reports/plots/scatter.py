"""Regular against Hard: what a model's score is worth beside the length of its reasoning."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from moral_evals.reports.compare.pairs import hard, regular
from moral_evals.reports.compare.rubric import interval_of
from moral_evals.reports.plots.canvas import drawing, line_of, new_figure, short
from moral_evals.reports.plots.palette import MUTED, Mark
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import Interval, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHAPES = {"raw": "o", "summary": "s", "elicited": "^", "mixed": "D", "unknown": "X"}
_LARGEST = 260.0  # area of the longest texts' marker, in square points
_SMALLEST = 14.0
_LINE = 0.18  # inches between two names
_WIDE = 8.0  # greatest Hard over smallest, from which the scale is logarithmic


@drawing()
def regular_hard(
    runs: Sequence[RubricRun], names: Sequence[str], looks: Mapping[str, Mark]
) -> "Figure":
    """A point a run: place the two scores with intervals, area the length, shape the trace."""
    height = max(4.2, 1.6 + _LINE * len(runs))
    figure, (ax,) = new_figure(8.6, height)
    lengths = [_length(run) for run in runs]
    longest = max((v for v in lengths if math.isfinite(v)), default=1.0)
    points: list[tuple[str, float, float]] = []
    heights: list[float] = []
    for run, name, length in zip(runs, names, lengths, strict=True):
        x, y = interval_of(regular(run, run.ids)), interval_of(hard(run, run.ids))
        if math.isfinite(x.estimate) and math.isfinite(y.estimate):
            _point(ax, x, y, _area(length, longest), _kind(run), looks[name])
            points.append((name, x.estimate, y.estimate))
            heights += (v for v in (y.lower, y.estimate, y.upper) if math.isfinite(v))
    ax.margins(0.07)
    # texts of a tenth of the length have ten times the Hard score
    if heights and min(heights) > 0 and max(heights) > _WIDE * min(heights):
        _logarithmic(ax)
    ax.grid()
    ax.set_xlabel("MoReBench-Regular")
    ax.set_ylabel("MoReBench-Hard (per 1,000 characters)")
    _label(ax, points, _LINE / (height - 1.3))
    _key(ax, sorted({_kind(run) for run in runs}), longest)
    return figure


def _length(run: RubricRun) -> float:
    return ratio(run.values["length"], bounds=(0, math.inf)).estimate()


def _kind(run: RubricRun) -> str:
    kind = run.trace.partition(":")[0]
    return kind if kind in _SHAPES else "unknown"


def _area(length: float, longest: float) -> float:
    return max(_SMALLEST, _LARGEST * length / longest) if length > 0 else _SMALLEST


def _point(ax: "Axes", x: Interval, y: Interval, area: float, kind: str, mark: Mark) -> None:
    colour = mark.colour
    if math.isfinite(x.lower):
        ax.plot(
            [x.lower, x.upper], [y.estimate] * 2, color=colour, linewidth=1.2, linestyle=line_of(x)
        )
    if math.isfinite(y.lower):
        ax.plot(
            [x.estimate] * 2, [y.lower, y.upper], color=colour, linewidth=1.2, linestyle=line_of(y)
        )
    ax.scatter(
        x.estimate, y.estimate, s=area, marker=_SHAPES[kind], color=colour, alpha=0.6, zorder=3
    )


def _label(ax: "Axes", points: Sequence[tuple[str, float, float]], gap: float) -> None:
    """Names in the right margin, in the order of the points, so that none hides another."""
    ordered = sorted(points, key=lambda p: p[2])
    to_axes = ax.transData - ax.transAxes
    places = spread([float(to_axes.transform((x, y))[1]) for _, x, y in ordered], gap)
    for (name, x, y), place in zip(ordered, places, strict=True):
        ax.annotate(
            short(name), (x, y), (1.04, place), textcoords="axes fraction", va="center",
            annotation_clip=False,
            arrowprops={
                # unlike an interval
                "arrowstyle": "-", "color": MUTED, "linewidth": 0.7, "linestyle": (0, (1, 2)),
                "relpos": (0, 0.5), "shrinkA": 2, "shrinkB": 0,
            },
        )  # fmt: skip


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Places in [0, 1] near those wanted (ascending), at least `gap` apart if there is room."""
    gap = min(gap, 1 / max(len(wanted) - 1, 1))
    places: list[float] = []
    for want in wanted:
        places.append(max(want, places[-1] + gap) if places else max(want, 0.0))
    ceiling = 1.0
    for i in reversed(range(len(places))):
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - gap
    return places


def _key(ax: "Axes", kinds: Sequence[str], longest: float) -> None:
    handles = [
        ax.scatter([], [], s=45, marker=_SHAPES[kind], color=MUTED, label=f"{kind} trace")
        for kind in kinds
    ]
    for length in _round_lengths(longest):
        label = f"{length:,.0f} characters"
        area = _area(length, longest)
        handles.append(ax.scatter([], [], s=area, color=MUTED, alpha=0.6, label=label))
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=5)


def _round_lengths(longest: float) -> list[float]:
    """Two round numbers: about the longest and about a third of it."""
    wanted = [v for v in (longest / 3, longest) if v >= 1]
    return sorted({max(r for r in _round_numbers(v) if r <= v) for v in wanted})


def _round_numbers(value: float) -> list[float]:
    """1, 2 and 5 times the powers of ten around a number."""
    place = math.floor(math.log10(value))
    return [float(f"{unit}e{k}") for k in range(place - 1, place + 2) for unit in (1, 2, 5)]


def _logarithmic(ax: "Axes") -> None:
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ticks = sorted({r for v in (low, (low * high) ** 0.5, high) for r in _round_numbers(v)})
    shown = [t for t in ticks if low <= t <= high]
    # matplotlib's own labels are formulas, which are turned off
    ax.set_yticks(shown, [f"{t:g}" for t in shown])
    ax.minorticks_off()
