"""What the figures show, and that they show it whole, with one model and with twenty."""

import math

import pytest

pytest.importorskip("matplotlib")

from matplotlib.text import Text

from moral_evals.loaders.morebench.records import DIMENSIONS, THEORIES, dimension_key
from moral_evals.reports.plots import corda, rubric
from moral_evals.reports.plots.canvas import line_of
from moral_evals.reports.plots.catalogue import rubric_drawings
from moral_evals.reports.plots.corda import corda_drawings
from moral_evals.reports.plots.files import titled
from moral_evals.reports.plots.palette import marks
from moral_evals.reports.plots.rows import PlotRow, Scale, draw_rows
from moral_evals.reports.plots.scatter import regular_hard
from moral_evals.scorers.stats.bootstrap import Interval
from tests.reports.builders import rubric_run
from tests.reports.made_runs import HOSTILE, answers, corda_run

SHARES = [0.2, 0.4, 0.6, 0.8, 0.5] * 2
BY_DIMENSION = {dimension_key(d): SHARES for d in DIMENSIONS}
CHOICES = {f"c{i}": ["1122", "1112", "2222"] for i in range(3)}


def texts(figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(Text) if t.get_text() and t.get_visible()]


def whiskers(ax) -> list[tuple[float, float]]:
    """Ends of the horizontal lines of a panel."""
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    return [(float(a), float(b)) for a, b in lines if a != b]


def drawn(models: int, conditions=("unconditioned", "own")):
    names = [f"provider/a-model-with-a-rather-long-name-{i}" for i in range(models - 1)] + [HOSTILE]
    looks = marks(names)
    rubrics = [
        rubric_run(n, SHARES, [100.0 * (i + 1)] * 10, values=BY_DIMENSION,
                   theories=list(THEORIES) * 2, traces={"raw": 9, "summary": i})
        for i, n in enumerate(names)
    ]  # fmt: skip
    chains = [corda_run(n, answers(CHOICES, conditions)) for n in names]
    yield from rubric_drawings(rubrics, names, looks)
    yield from corda_drawings(chains, names, looks)


@pytest.mark.parametrize("models", [1, 20])
def test_nothing_is_cut_off(models):
    shown = list(drawn(models))
    assert [d.name for d in shown] == [
        "dimensions", "regular_hard", "theories", "tiers", "drift", "positions"
    ]  # fmt: skip
    for drawing in shown:
        figure = titled(drawing, "a benchmark, trace judged")
        figure.draw_without_rendering()
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert min(box.x0, box.y0) > -0.01, drawing.name
        assert box.x1 < width + 0.01, drawing.name
        assert box.y1 < height + 0.01, drawing.name


def test_a_heat_map_has_each_number_with_its_interval_and_a_dash_for_none():
    values = {"dim_identifying": [0.5, 0.6, 0.7, 0.8, 0.9], "dim_clear_process": [math.nan] * 5}
    figure = rubric.dimensions([rubric_run("m", [0.5] * 5, values=values)], ["m"], {})
    found = texts(figure)
    assert "0.70" in found
    assert found.count("–") == 4
    (ends,) = [t for t in found if " to " in t]
    assert ends.endswith("‡"), "five scenarios are few"
    assert "other" not in found


def test_bars_are_the_means_by_theory():
    run = rubric_run(
        "m", [0.2, 0.4, 0.3, 0.1, 0.5, 0.9], theories=[*[THEORIES[0]] * 5, THEORIES[1]]
    )
    figure = rubric.theory_rows([run], ["m"], marks(["m"]))
    first, second = figure.axes
    assert first.patches[0].get_width() == pytest.approx(0.3)
    assert second.patches[0].get_width() == pytest.approx(0.9)
    assert len(whiskers(first)) == 1
    assert whiskers(second) == []  # one scenario has no interval


def test_intervals_are_drawn_as_computed_and_the_unmeasured_as_a_dash():
    look = marks(["m"])["m"]
    cells = [[Interval(0.5, 0.25, 0.75, 9)], [Interval.unmeasured()]]
    figure = draw_rows(["share"], [PlotRow("m", look, c) for c in cells], Scale("x", reference=0.5))
    assert whiskers(figure.axes[0]) == [(0.25, 0.75)]
    for flag, style in (("", "-"), ("small_n", (0, (1, 1.2)))):
        assert line_of(Interval(0.5, 0.25, 0.75, 9, flag)) == style
    assert {"0.50", "–"} <= set(texts(figure))


def test_tiers_positions_and_steps_are_those_of_the_scorer():
    asked = [corda.Answers("m", corda_run("m", answers(CHOICES)))]
    looks = marks(["m"])
    tiers = corda.tiers(asked, looks)
    # 5 of 12 answers take the better option, and only the first tier decides
    assert "0.42" in texts(tiers.axes[0])
    assert "–" in texts(tiers.axes[1])
    drift = corda.drift_lines(asked, looks)
    steps = next(line for line in drift.axes[0].lines if len(line.get_xdata()) == 3)
    assert list(steps.get_ydata()) == pytest.approx([0.5, 0.75, 0.0])
    positions = corda.positions(asked, looks)
    assert any(list(line.get_xdata()) == [0, 0] for line in positions.axes[0].lines)
    low, high = positions.axes[0].get_xlim()
    assert low == -high


def test_each_condition_has_a_panel_beside_the_unconditioned_answers():
    found = corda.Answers("m", corda_run("m", answers(CHOICES, ("unconditioned", "own", "best"))))
    figure = corda.drift_lines([found], marks(["m"]))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["m\nown", "m\nbest"]
    assert all(sum(len(line.get_xdata()) == 3 for line in ax.lines) == 2 for ax in figure.axes)


def test_very_different_lengths_make_the_scale_logarithmic():
    near = [rubric_run("a", SHARES, [100.0] * 10), rubric_run("b", SHARES, [120.0] * 10)]
    far = [near[0], rubric_run("b", SHARES, [9000.0] * 10)]
    looks = marks("ab")
    assert regular_hard(near, ["a", "b"], looks).axes[0].get_yscale() == "linear"
    figure = regular_hard(far, ["a", "b"], looks)
    assert figure.axes[0].get_yscale() == "log"
    assert not any("math" in t for t in texts(figure))


def test_a_figure_without_data_is_left_out():
    unscored = rubric_run("m", [math.nan] * 3)
    assert list(rubric_drawings([unscored], ["m"], marks(["m"]))) == []
    single = corda_run("m", answers({"c1": ["12"]}))
    names = [d.name for d in corda_drawings([single], ["m"], marks(["m"]))]
    assert names == ["tiers", "positions"]


def test_a_scatter_of_one_unscored_run_beside_a_scored_one_shows_one_point():
    runs = [rubric_run("a", SHARES), rubric_run("b", [math.nan] * 10)]
    figure = regular_hard(runs, ["a", "b"], marks("ab"))
    assert "a" in texts(figure)
    assert "b" not in texts(figure)
