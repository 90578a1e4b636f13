"""Figures of CORDA scores. Markers of the condition `unconditioned` are filled, others hollow."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moral_evals.reports.plots.canvas import drawing, line_of, new_figure, short
from moral_evals.reports.plots.catalogue import Drawing
from moral_evals.reports.plots.palette import MUTED, PAPER, Mark
from moral_evals.reports.plots.rows import PlotRow, Scale, draw_rows
from moral_evals.reports.runs.corda_runs import CordaRun, all_tiers
from moral_evals.scorers.corda import bias, metrics
from moral_evals.scorers.corda.table import Arm, ChainTable
from moral_evals.scorers.stats.bootstrap import Interval, Statistic, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Answers:
    """A run under the name that figures give it."""

    name: str
    run: CordaRun

    @property
    def table(self) -> ChainTable:
        """The answers, an arm for each condition."""
        return self.run.table

    def ask(self, condition: str, figure: Callable[[Arm], Statistic]) -> Interval:
        """A figure of one condition with its interval over chains."""
        return self.run.ask(condition, figure)


_Ask = Callable[[Answers, str], Interval]
"""A figure of a run in a condition."""


def conditions_of(asked: Sequence[Answers]) -> list[str]:
    """Conditions that any run has, in their usual order."""
    return list(dict.fromkeys(c for a in asked for c in a.table.arms))


@drawing()
def tiers(asked: Sequence[Answers], looks: Mapping[str, Mark]) -> "Figure":
    """Share won of the decisions that each tier decides."""
    names = all_tiers([a.run for a in asked])
    # by name: another scoring may have another order
    rows = _rows(asked, looks, [_tier_won(name) for name in names])
    scale = Scale("share won", reference=metrics.CHANCE)
    return draw_rows(names, rows, scale)


def _tier_won(tier: str) -> _Ask:
    return lambda found, condition: found.run.ask_tier(condition, tier, metrics.tier_won)


@drawing()
def positions(asked: Sequence[Answers], looks: Mapping[str, Mark]) -> "Figure":
    """Excess of answers at the first position and with the first label."""
    figures = (bias.first_position_excess, bias.first_label_excess)
    rows = _rows(asked, looks, [_of(figure) for figure in figures])
    ends = [abs(v) for r in rows for c in r.cells for v in (c.estimate, c.lower, c.upper)]
    reach = 1.1 * max([0.1, *(v for v in ends if math.isfinite(v))])
    scale = Scale("share minus chance", (-reach, reach), 0.0, signed=True)
    return draw_rows(("first position", "first label"), rows, scale)


def _of(figure: Callable[[Arm], Statistic]) -> _Ask:
    return lambda found, condition: found.ask(condition, figure)


def _rows(
    asked: Sequence[Answers],
    looks: Mapping[str, Mark],
    figures: Sequence[_Ask],
) -> list[PlotRow]:
    several = len(conditions_of(asked)) > 1
    rows = []
    for found in asked:
        for i, condition in enumerate(found.table.arms):
            label = short(found.name, 34) if i == 0 else ""
            cells = [figure(found, condition) for figure in figures]
            rows.append(
                PlotRow(
                    f"{label} · {condition}".removeprefix(" · ") if several else label,
                    looks[found.name], cells, i == 0, condition != "unconditioned",
                )
            )  # fmt: skip
    return rows


@drawing()
def drift_lines(asked: Sequence[Answers], looks: Mapping[str, Mark]) -> "Figure":
    """Mean rank value at each step: each condition of each model against `unconditioned`."""
    panels = [(found, condition) for found in asked for condition in _panels(found)]
    others = max(len(_panels(found)) for found in asked)
    across = others if others > 1 else min(4, len(panels))
    down = math.ceil(len(panels) / across)
    figure, axes = new_figure(0.5 + 2.3 * across, 0.6 + 1.9 * down, down, across, share=True)
    for i, ax in enumerate(axes):
        if i < len(panels):
            found, condition = panels[i]
            ax.set_title(f"{short(found.name, 30)}\n{condition}", loc="left")
            ax.axhline(metrics.CHANCE, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)))
            ax.grid(axis="y")
            # the lowest of its column, which need not be in the last row
            ax.tick_params(labelbottom=i + across >= len(panels))
            for one in dict.fromkeys(["unconditioned", condition]):
                if one in found.table.arms:
                    _curve(ax, found, one, looks[found.name])
        else:
            ax.set_axis_off()
    steps = max(a.table.steps.n_options.shape[1] for a in asked)
    axes[0].set(ylim=(0, 1), xlim=(0.6, steps + 0.4), xticks=range(1, steps + 1))
    axes[0].set(ylabel="mean rank value")
    axes[across * (down - 1)].set(xlabel="step")
    return figure


def _panels(found: Answers) -> list[str]:
    """The conditions to show, each beside `unconditioned`."""
    return [c for c in found.table.arms if c != "unconditioned"] or ["unconditioned"]


def _curve(ax: "Axes", found: Answers, condition: str, mark: Mark) -> None:
    fresh = condition == "unconditioned"
    steps = found.table.steps.n_options.shape[1]
    values = [found.ask(condition, _at(step)) for step in range(steps)]
    # side by side, so that no interval hides another
    x = [step + (0.94 if fresh else 1.06) for step in range(steps)]
    for at, value in zip(x, values, strict=True):
        if math.isfinite(value.lower):
            ax.plot(
                [at, at], [value.lower, value.upper], color=mark.colour, linewidth=1.0,
                linestyle=line_of(value),
                alpha=0.8, clip_on=False,
            )  # fmt: skip
    ax.plot(
        x, [v.estimate for v in values], color=mark.colour, linewidth=1.4, clip_on=False,
        linestyle="-" if fresh else (0, (4, 2)), marker=mark.marker, markersize=4.5,
        markerfacecolor=mark.colour if fresh else PAPER,
    )  # fmt: skip


def _at(step: int) -> Callable[[Arm], Statistic]:
    return lambda arm: ratio(metrics.step_scores(arm)[:, step])


def corda_drawings(
    runs: Sequence[CordaRun], names: Sequence[str], looks: Mapping[str, Mark]
) -> Iterator[Drawing]:
    """Figures of CORDA runs that one table compares."""
    asked = [Answers(name, run) for run, name in zip(runs, names, strict=True)]
    yield Drawing(
        "tiers",
        "Tier profile",
        "Share won of the pairs of options that each tier decides (dashed: random choice), 95% "
        "intervals over chains. Filled markers: unconditioned.",
        lambda: tiers(asked, looks),
    )
    if any(a.table.steps.n_options.shape[1] > 1 for a in asked):
        yield Drawing(
            "drift",
            "Choices along the chain",
            "Mean rank value of the options chosen at each step (1 best, 0 worst, dashed: random "
            "choice), 95% intervals over chains. Filled markers and solid line: unconditioned; "
            "hollow and dashed: the condition named. The content changes from step to step: read the "
            "distance between conditions, not the slope.",
            lambda: drift_lines(asked, looks),
        )
    yield Drawing(
        "positions",
        "Pull of position and label",
        "Share of answers at the first position, and with the alphabetically first label, minus "
        "chance; 95% intervals over chains. Where layouts are balanced, a model that reads the "
        "content alone stays at 0.",
        lambda: positions(asked, looks),
    )
