"""Trace against response of the same log."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.findings.consistency import (
    TraceAndResponse,
    consistency,
    judged_both,
    pearson_over,
)
from moral_evals.scorers.stats.bootstrap import Bootstrap
from tests.reports.builders import column, rubric_run

TRACE = [0.2, 0.5, 0.6, 0.9, 0.4, 0.7]
RESPONSE = [0.3, 0.4, 0.6, 0.7, 0.1, 0.8]


def pair(model="m", trace=TRACE, response=RESPONSE, **more):
    return [
        rubric_run(model, trace, [2000.0] * len(trace), **more),
        rubric_run(model, response, [300.0] * len(response), judged="response",
                   scorer="rubric_judge_response", **more),
    ]  # fmt: skip


def rows(*runs):
    return consistency(judged_both(runs)).tables[0]


def test_worked_example():
    table = rows(*pair())
    assert column(table, "scenarios") == [6]
    assert column(table, "Pearson r")[0].estimate == pytest.approx(
        stats.pearsonr(TRACE, RESPONSE).statistic
    )
    assert column(table, "Spearman rho")[0].estimate == pytest.approx(
        stats.spearmanr(TRACE, RESPONSE).statistic
    )
    gap = column(table, "trace − response")[0]
    assert gap.estimate == pytest.approx((3.3 - 2.9) / 6)
    assert gap.lower < gap.estimate < gap.upper
    assert column(table, "response higher")[0].estimate == pytest.approx(2 / 6)
    assert column(table, "equal") == pytest.approx([1 / 6])
    assert (column(table, "trace chars"), column(table, "response chars")) == ([2000], [300])
    assert math.isnan(column(table, "r with others' responses")[0])


def test_only_scenarios_with_both_scores_count():
    trace, response = TRACE.copy(), RESPONSE.copy()
    trace[0], response[1] = math.nan, math.nan
    table = rows(*pair(trace=trace, response=response))
    assert column(table, "scenarios") == [4]
    assert column(table, "trace") == pytest.approx([np.mean(TRACE[2:])])


def test_what_the_shared_rubric_alone_explains():
    other = [0.1, 0.5, 0.5, 0.8, 0.6, 0.6]
    table = rows(*pair("a"), *pair("b", trace=TRACE[::-1], response=other))
    expected = [
        stats.pearsonr(TRACE, other).statistic,
        stats.pearsonr(TRACE[::-1], RESPONSE).statistic,
    ]
    assert column(table, "r with others' responses") == pytest.approx(expected)


def test_runs_of_one_log_are_paired_by_its_place():
    first, second = pair(location="x.eval"), pair(location="y.eval")
    found = judged_both([first[0], second[1], second[0], first[1]])
    assert [(p.trace.log.location, p.response.log.location) for p in found] == [
        ("x.eval", "x.eval"), ("y.eval", "y.eval"),
    ]  # fmt: skip
    assert judged_both([first[0], second[1]]) == []
    assert consistency([]) is None


def test_of_several_scores_those_under_equal_conditions_are_paired():
    trace, response = pair()
    other = rubric_run("m", TRACE, judge="other judge", scorer="rubric_judge1")
    assert judged_both([other, trace, response]) == [TraceAndResponse(trace, response)]


def test_scores_by_two_judges_are_refused_unless_allowed():
    trace, _ = pair()
    response = rubric_run("m", RESPONSE, judged="response", judge="other judge")
    with pytest.raises(SuiteError, match="judge differs"):
        judged_both([trace, response])
    assert len(judged_both([trace, response], ["judge"])) == 1


@pytest.mark.parametrize(
    ("trace", "response"), [([0.5] * 6, RESPONSE), (TRACE, [0.1] * 6), ([0.3] * 3, [0.3] * 3)]
)
def test_a_side_that_does_not_vary_has_no_correlation(trace, response):
    table = rows(*pair(trace=trace, response=response))
    assert math.isnan(column(table, "Pearson r")[0].estimate)
    assert math.isnan(column(table, "Spearman rho")[0].estimate)
    assert math.isfinite(column(table, "trace − response")[0].estimate)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_scenarios_have_no_correlation(n):
    table = rows(*pair(trace=TRACE[:n], response=RESPONSE[:n]))
    assert column(table, "scenarios") == [n]
    assert math.isnan(column(table, "Pearson r")[0].estimate)


@given(st.integers(0, 10_000), st.integers(3, 40))
def test_pearson_as_a_function_of_sums(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, 1, (2, n))
    statistic = pearson_over(x, y)
    assert statistic.estimate() == pytest.approx(stats.pearsonr(x, y).statistic)
    # as on a resample: each unit as often as it is drawn
    counts = rng.multinomial(n, [1 / n] * n)
    drawn = np.repeat(np.arange(n), counts)
    if len(set(drawn)) > 2:
        found = float(statistic.combine(counts @ statistic.columns))
        assert found == pytest.approx(stats.pearsonr(x[drawn], y[drawn]).statistic)


def test_a_resample_of_one_scenario_has_no_correlation():
    statistic = pearson_over(np.array(TRACE), np.array(RESPONSE))
    for unit in range(6):
        counts = np.bincount([unit] * 6, minlength=6)
        assert np.isnan(statistic.combine(counts @ statistic.columns))


def test_the_interval_holds_the_coefficient():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=200)
    y = 0.7 * x + 0.3 * rng.uniform(size=200)
    found = Bootstrap(200).interval(pearson_over(x, y))
    fisher = stats.pearsonr(x, y).confidence_interval()
    assert (found.lower, found.upper) == pytest.approx((fisher.low, fisher.high), abs=0.03)
