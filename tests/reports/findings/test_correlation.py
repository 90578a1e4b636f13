"""Correlation with other benchmarks: coefficients, intervals, and candour about few models."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from moral_evals.loaders.tables.benchmark_file import Benchmarks
from moral_evals.reports.findings.correlation import (
    correlation,
    fisher_interval,
    model_scores,
    pearson,
    spearman,
)
from tests.reports.builders import column, rubric_run

X = np.array([0.31, 0.52, 0.44, 0.61, 0.38, 0.72, 0.55, 0.47, 0.66, 0.41, 0.58, 0.35])
Y = np.array([1210, 1190, 1250, 1300, 1180, 1275, 1320, 1205, 1290, 1260, 1215, 1240.0])


def test_pearson_is_scipys():
    found, expected = pearson(X, Y).found, stats.pearsonr(X, Y)
    interval = expected.confidence_interval(0.95)
    assert found.estimate == pytest.approx(expected.statistic)
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high))
    assert (found.n, found.flag) == (12, "")


def test_spearman_is_scipys_with_ties_too():
    for x in (X, np.round(X, 1)):
        assert spearman(x, Y).found.estimate == pytest.approx(stats.spearmanr(x, Y).statistic)


def test_spearmans_interval_is_the_published_one():
    # the example of ci.spear in Bonett's own R package statpsych
    y = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
    x = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]
    found = spearman(np.array(x, dtype=float), np.array(y, dtype=float)).found
    assert found.estimate == pytest.approx(0.8699639)
    assert (found.lower, found.upper) == pytest.approx((0.5840951, 0.9638297), abs=1e-6)


@pytest.mark.parametrize("kind", [pearson, spearman])
def test_p_is_that_of_all_orders(kind):
    x, y = X[:6], Y[:6]
    a, b = (x, y) if kind is pearson else (stats.rankdata(x), stats.rankdata(y))
    exact = stats.permutation_test(
        (a,), lambda v: abs(stats.pearsonr(v, b).statistic),
        permutation_type="pairings", alternative="greater",
    ).pvalue  # fmt: skip
    assert kind(x, y).p == pytest.approx(exact, abs=0.02)


def test_a_large_common_level_changes_no_p():
    assert pearson(X, Y + 1e7).p == pytest.approx(pearson(X, Y).p, abs=1e-3)


@pytest.mark.parametrize("kind", [pearson, spearman])
def test_few_units(kind):
    two, three, four, five = (kind(X[:n], Y[:n]) for n in (2, 3, 4, 5))
    assert math.isnan(two.found.estimate)
    assert math.isfinite(three.found.estimate)
    assert math.isnan(three.found.lower) and math.isnan(three.p)
    assert math.isnan(four.found.lower)
    assert math.isfinite(five.found.lower) and five.found.few
    assert four.p >= 2 / 24 - 0.02  # of 24 orders, two at least are as extreme


@pytest.mark.parametrize("kind", [pearson, spearman])
def test_a_side_that_does_not_vary(kind):
    found = kind(X, np.full(12, 0.1))
    assert math.isnan(found.found.estimate) and math.isnan(found.p)


@pytest.mark.parametrize("kind", [pearson, spearman])
def test_units_on_a_line_have_no_interval_of_width_zero(kind):
    found = kind(X, 3 * X + 1)
    assert found.found.estimate == 1
    assert math.isnan(found.found.lower) and found.found.flag == "degenerate"
    assert found.p < 0.01


def test_units_without_a_value_are_left_out():
    y = Y.copy()
    y[[0, 5]] = np.nan
    kept = np.delete(np.arange(12), [0, 5])
    assert pearson(X, y) == pearson(X[kept], Y[kept])
    assert pearson(X, y).found.n == 10


@given(st.floats(-0.999, 0.999), st.integers(5, 500), st.floats(1, 1.5))
def test_an_interval_holds_its_estimate(r, n, spread):
    found = fisher_interval(r, n, spread)
    assert -1 <= found.lower <= r <= found.upper <= 1


@given(st.integers(0, 1000))
def test_symmetry_and_sign(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 8))
    for kind in (pearson, spearman):
        assert kind(x, y).found.estimate == pytest.approx(kind(y, x).found.estimate)
        assert kind(x, -y).found.estimate == pytest.approx(-kind(x, y).found.estimate)


def runs(*means, **more):
    return [rubric_run(f"p/m{i}", [m, m], **more) for i, m in enumerate(means)]


def benchmarks(**columns):
    n = len(next(iter(columns.values())))
    rows = {f"m{i}": {name: values[i] for name, values in columns.items()} for i in range(n)}
    return Benchmarks(tuple(columns), rows)


def test_the_report_counts_models_and_calls_few_few():
    other = benchmarks(HLE=list(Y[:11]), AIME=[1.0, 2.0, 3.0] + [math.nan] * 8)
    report = correlation(runs(*X[:12]), other)
    table = report.tables[0]
    assert column(table, "benchmark") == ["HLE", "AIME", "paper, lowest", "paper, highest"]
    assert column(table, "models")[:2] == [11, 3]
    assert column(table, "remark")[:2] == ["", "too few models to lean on"]
    found = column(table, "Pearson r")
    assert found[0].estimate == pytest.approx(stats.pearsonr(X[:11], Y[:11]).statistic)
    assert found[2:] == [-0.245, 0.216]
    assert any("p/m11 (not in the file)" in note for note in report.notes)


def test_holm_over_the_benchmarks_that_were_tested():
    other = benchmarks(a=list(Y), b=list(Y[::-1]), c=[math.nan] * 12)
    table = correlation(runs(*X), other).tables[0]
    p, held = column(table, "p"), column(table, "Holm p")
    low, high = sorted(p[:2])
    assert sorted(held[:2]) == pytest.approx([min(1, 2 * low), max(min(1, 2 * low), high)])
    assert math.isnan(held[2])


def test_hard_is_correlated_when_asked():
    found = [rubric_run(f"p/m{i}", [0.5, 0.5], [1000 * (i + 1)] * 2) for i in range(5)]
    other = benchmarks(B=[1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    assert math.isnan(column(correlation(found, other).tables[0], "Pearson r")[0].estimate)
    hard = correlation(found, other, "hard").tables[0]
    assert column(hard, "Pearson r")[0].estimate == 1
    assert hard.name == "correlation_hard_morebench_trace"


def test_several_runs_of_a_model_are_one_point():
    found = [*runs(0.2, 0.4), rubric_run("q/m0", [0.4, 0.6]), rubric_run("p/m1", [math.nan])]
    scores, left_out = model_scores(found, benchmarks(B=[1.0, 2.0]), "regular")
    assert scores == {"m0": pytest.approx([0.2, 0.5]), "m1": pytest.approx([0.4])}
    assert left_out == ["p/m1 (no score)"]
    notes = correlation(found, benchmarks(B=[1.0, 2.0])).notes
    assert any("m0: 2 runs, their mean counts once" in note for note in notes)


def test_no_model_in_the_file_is_no_report():
    assert correlation(runs(0.1, 0.2), Benchmarks(("B",), {"other": {"B": 1.0}})) is None
