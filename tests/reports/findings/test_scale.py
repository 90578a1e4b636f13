"""Families by size: tables, slopes, marks."""

import math

import numpy as np
import pytest
from scipy.stats import linregress

from moral_evals.loaders.tables.model_file import ModelFacts
from moral_evals.reports.findings.scale import scale
from moral_evals.reports.form.document import OutOf
from tests.reports.builders import column, rubric_run

SIZES = {"m8": 8.0, "m1": 1.0, "m70": 70.0}


def models(family="F", **more):
    return {n: ModelFacts(n, family, b, **more.get(n, {})) for n, b in SIZES.items()}


def runs(**more):
    rng = np.random.default_rng(1)
    return [
        rubric_run(f"p/{name}", rng.uniform(0.3, 0.7, 12), rng.uniform(500, 900, 12) * b**0.3,
                   **more.get(name, {}))
        for name, b in SIZES.items()
    ]  # fmt: skip


def test_members_stand_by_size_with_length_beside_the_scores():
    found = runs()
    table = scale(found, models(m70={"active_b": 3.0, "name": "Big"})).tables[0]
    assert column(table, "model") == ["p/m1", "p/m8", "Big"]
    assert column(table, "size (B)") == [1, 8, 70]
    assert column(table, "active (B)")[2] == 3
    big = found[2]
    assert column(table, "Regular")[2].estimate == pytest.approx(big.values["score"].mean())
    hard = 1000 * big.values["score"].mean() / big.values["length"].mean()
    assert column(table, "Hard")[2].estimate == pytest.approx(hard)
    assert column(table, "characters")[2] == round(big.values["length"].mean())
    assert column(table, "scored") == [OutOf(12, 12)] * 3


def test_slopes_of_a_family():
    found = runs()
    (row,) = scale(found, models()).tables[1].rows
    x = np.log10(list(SIZES.values()))
    scores = [r.values["score"].mean() for r in found]
    lengths = [r.values["length"].mean() for r in found]
    assert row[:3] == ["F", 3, 12]
    assert row[3].estimate == pytest.approx(linregress(x, scores).slope)
    hard = 1000 * np.divide(scores, lengths)
    assert row[4].estimate == pytest.approx(linregress(x, hard).slope)
    assert row[5].estimate == pytest.approx(linregress(x, lengths).slope)
    assert row[3].lower < row[3].estimate < row[3].upper
    assert row[8] == "raw"


def test_slopes_rest_on_the_scenarios_that_all_have_scored():
    found = runs()
    scores = [0.5] * 12
    scores[3] = math.nan
    found.append(rubric_run("p/m8", scores, ids=[*found[0].ids[:11], "s99"]))
    (row,) = scale(found, models()).tables[1].rows
    assert row[1:3] == [3, 10]


def test_two_sizes_have_no_slope():
    report = scale(runs()[:2], models())
    assert len(report.tables) == 1
    assert "F: no slope, 2 known sizes with scores of 3." in report.notes


def test_a_size_that_is_not_published_is_shown_last_and_without_slope():
    facts = models() | {"m1": ModelFacts("m1", "F", math.nan)}
    report = scale(runs(), facts)
    assert column(report.tables[0], "model") == ["p/m8", "p/m70", "p/m1"]
    assert math.isnan(column(report.tables[0], "size (B)")[2])
    assert len(report.tables) == 1


def test_a_family_of_two_kinds_of_trace_is_confounded():
    report = scale(runs(m70={"traces": {"summary": 12}}), models())
    assert report.tables[1].rows[0][8] == "CONFOUNDED: raw and summary"
    assert any(note.startswith("F: CONFOUNDED") for note in report.notes)
    # of responses the trace is no part
    responses = [
        rubric_run(r.model, r.values["score"], traces=r.traces, judged="response")
        for r in runs(m70={"traces": {"summary": 12}})
    ]
    assert scale(responses, models()).tables[1].rows[0][8] == "raw and summary"


def test_families_that_differ_in_trace_from_each_other_are_marked_only():
    other = models() | {"x": ModelFacts("x", "G", 5.0)}
    report = scale([*runs(), rubric_run("p/x", [0.5] * 12, traces={"summary": 12})], other)
    assert column(report.tables[0], "family") == ["F", "F", "F", "G"]
    assert not any("CONFOUNDED" in note for note in report.notes)
    assert any("TRACES DIFFER IN KIND" in note for note in report.notes)


def test_a_model_that_shows_no_trace_is_marked_so():
    hidden = rubric_run("p/m1", [math.nan] * 12, traces={}, outcome={"samples": 12.0,
                        "trace_none": 10.0, "trace_redacted": 2.0, "trace_raw": 0.0})  # fmt: skip
    report = scale([*runs()[::2], hidden], models())
    row = report.tables[0].rows[0]
    assert row[0] == "p/m1" and row[8] == "none, redacted"
    assert math.isnan(row[6])
    assert len(report.tables) == 1  # nothing scored, so no third size


def test_models_that_the_file_lacks_are_named():
    report = scale([*runs(), rubric_run("p/other", [0.5])], models())
    assert "Not in the file of models, so not shown: p/other." in report.notes
    assert scale([rubric_run("p/other", [0.5])], models()) is None


def test_two_runs_of_a_model_keep_their_marks():
    found = [*runs(), rubric_run("p/m8", [0.5] * 12)]
    table = scale(found, models(m8={"name": "Eight"})).tables[0]
    assert column(table, "model") == ["p/m1", "Eight", "Eight #2", "p/m70"]
