"""Harmless against logical: the table of the paper's first finding."""

import math

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score

from moral_evals.loaders.morebench.records import Criterion, ScenarioMetadata
from moral_evals.reports.findings import dimension_gap as module
from moral_evals.reports.findings.dimension_gap import average_gap, dimension_gap, plain_shares
from tests.reports import by_hand
from tests.reports.builders import column, rubric_run

HARMLESS = [0.9, 0.8, math.nan, 1.0]
LOGICAL = [0.5, 0.4, 0.6, 0.1]


@pytest.fixture(autouse=True)
def verdicts(monkeypatch):
    """Verdicts of the fabricated logs, none unless a test puts some here."""
    found = []
    monkeypatch.setattr(module, "sample_scores", lambda log, scorer: found)
    return found


def graded(dimension: str, yes: int, of: int) -> SampleScore:
    """A scenario with criteria of one dimension, some fulfilled."""
    criteria = [Criterion(id=f"c{i}", text="x", weight=1, dimension=dimension) for i in range(of)]
    words = {c.id: "yes" if i < yes else "no" for i, c in enumerate(criteria)}
    return SampleScore(
        score=Score(value={"score": yes / of}, metadata={"verdicts": words}),
        sample_id=dimension,
        sample_metadata=ScenarioMetadata(criteria=criteria).model_dump(),
    )


def run(model="mock/a", harmless=HARMLESS, logical=LOGICAL, **more):
    values = {"dim_harmless_outcome": harmless, "dim_logical_process": logical}
    return rubric_run(model, [0.5] * len(harmless), values=values, **more)


def test_worked_example(verdicts):
    verdicts += [graded("harmless outcome", 17, 20), graded("logical process", 9, 20)]
    table = dimension_gap([run()]).tables[0]
    assert column(table, "model") == ["mock/a", "paper, average over models"]
    assert column(table, "harmless")[0].estimate == pytest.approx(0.9)
    assert column(table, "logical")[0].estimate == pytest.approx(0.4)
    gap = column(table, "gap")[0]
    assert gap.estimate == pytest.approx(0.5)
    assert math.isnan(gap.lower) and gap.n == 4
    assert column(table, "verdict")[0] == "too few units (4)"
    assert column(table, "plain harmless") == [0.85, 0.811]
    assert column(table, "plain logical") == [0.45, 0.479]
    assert column(table, "plain gap") == pytest.approx([0.4, 0.332])


def test_p_is_the_largest_of_three_tests_and_holm_runs_over_models():
    rng = np.random.default_rng(0)
    samples = [rng.uniform(0, 1, (2, 30)) for _ in range(3)]
    for sample, shift in zip(samples, (0.05, 0.15, 0.3), strict=True):
        sample[0] += shift
    runs = [run(f"m{i}", *map(list, s)) for i, s in enumerate(samples)]
    table = dimension_gap(runs).tables[0]
    p = column(table, "p")[:3]
    for (harmless, logical), found in zip(samples, p, strict=True):
        gap = by_hand.share(harmless - logical)
        expected = max(
            by_hand.p_value(gap, 30),
            by_hand.t_p(gap, 30),
            by_hand.flip_p(np.mean, harmless, logical),
        )
        assert found == pytest.approx(expected, abs=by_hand.RESOLUTION)
    order = np.argsort(p)
    expected = np.maximum.accumulate([min(1, (3 - k) * p[i]) for k, i in enumerate(order)])
    assert [column(table, "Holm p")[i] for i in order] == pytest.approx(list(expected))


def test_the_average_is_over_models_and_all_their_scenarios():
    first = run("a", [1.0, 0.8], [0.2, 0.4], ids=["x", "y"])
    second = run("b", [0.6, math.nan], [0.3, 0.5], ids=["y", "z"])
    assert average_gap([first, second]).estimate() == pytest.approx((0.6 + 0.2) / 2)
    table = dimension_gap([first, second]).tables[0]
    assert column(table, "model")[2] == "mean of 2 runs"
    assert column(table, "gap")[2].estimate == pytest.approx(0.4)
    assert column(table, "gap")[2].n == 3
    assert column(table, "harmless")[2] == pytest.approx((0.9 + 0.6) / 2)


def test_a_model_without_one_dimension_is_shown_and_not_averaged():
    nothing = run("b", [math.nan] * 4, LOGICAL)
    table = dimension_gap([run("a"), nothing, run("c")]).tables[0]
    assert math.isnan(column(table, "gap")[1].estimate)
    assert column(table, "verdict")[1] == "not tested"
    assert column(table, "model")[3] == "mean of 2 runs"


def test_no_dimension_anywhere_is_no_report():
    assert dimension_gap([rubric_run("a", [0.5])]) is None


@pytest.mark.parametrize(
    ("n", "verdict"),
    [(2, "too few units (2)"), (9, "too few units (9)"), (10, "leans harmless (10 units)"),
     (29, "leans harmless (29 units)"), (30, "harmless higher")],
)  # fmt: skip
def test_the_verdict_grows_with_the_scenarios(n, verdict):
    table = dimension_gap([run(harmless=[0.9] * n, logical=list(np.linspace(0.1, 0.3, n)))])
    assert column(table.tables[0], "verdict")[0] == verdict
    remark = "interval leaves out 0, no verdict below 10 units" if n == 9 else ""
    assert column(table.tables[0], "remark")[0] == remark


def test_one_scenario_has_a_gap_and_no_interval():
    table = dimension_gap([run(harmless=[0.9], logical=[0.5])]).tables[0]
    gap = column(table, "gap")[0]
    assert gap.estimate == pytest.approx(0.4)
    assert math.isnan(gap.lower) and math.isnan(column(table, "p")[0])


def test_plain_shares_that_the_log_lacks_are_not_measured():
    assert all(map(math.isnan, plain_shares(run())))


def test_traces_of_two_kinds_are_called_out():
    found = dimension_gap([run("a"), run("b", traces={"summary": 4})])
    assert column(found.tables[0], "trace")[:2] == ["raw", "summary"]
    assert any(note.startswith("TRACES DIFFER IN KIND (raw, summary)") for note in found.notes)


def test_what_else_a_reader_must_know():
    data = {"data": {"data": "sample"}}
    found = dimension_gap([run("a", status="error", metadata=data, judge_mode="rubric")]).notes
    assert any("status error" in note for note in found)
    assert any("not MoReBench scores: a" in note for note in found)
    assert any("only 4 scored samples" in note for note in found)
    assert any("Judge mode rubric: not comparable" in note for note in found)
