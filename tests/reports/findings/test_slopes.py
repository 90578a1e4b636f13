"""Slopes over size against ordinary regressions made in another way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress

from moral_evals.reports.findings import slopes
from moral_evals.scorers.stats.bootstrap import Bootstrap

X = np.log10([1.0, 8.0, 30.0, 235.0])


def data(seed=0, models=4, scenarios=12):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.2, 0.9, (models, scenarios))
    lengths = rng.uniform(300, 5000, (models, scenarios))
    return scores, lengths


def two_way_effect(scores, lengths):
    """Score on log10 length with a dummy for each model and each scenario, by least squares."""
    models, scenarios = scores.shape
    row, place = np.indices(scores.shape)
    dummies = np.hstack([np.eye(models)[row.ravel()], np.eye(scenarios)[place.ravel()]])
    design = np.column_stack([np.log10(lengths).ravel(), dummies])
    return np.linalg.lstsq(design, scores.ravel(), rcond=None)[0][0]


def test_worked_example():
    # sizes 1, 10, 100: the slope is half of last minus first
    x = np.array([0.0, 1.0, 2.0])
    scores = np.array([[0.2, 0.4], [0.9, 0.1], [0.4, 0.8]])
    lengths = np.array([[1000.0, 1000.0], [10.0, 10.0], [2000.0, 4000.0]])
    assert slopes.mean_slope(scores, x).estimate() == pytest.approx((0.6 - 0.3) / 2)
    # Hard: 0.3 per 1,000 characters, then 0.6 per 3,000
    assert slopes.hard_slope(scores, lengths, x).estimate() == pytest.approx((0.2 - 0.3) / 2)


@given(st.integers(0, 10_000))
def test_slopes_are_those_of_ordinary_regressions(seed):
    scores, lengths = data(seed)
    effect = two_way_effect(scores, lengths)
    hard = 1000 * scores.mean(axis=1) / lengths.mean(axis=1)
    level = (scores - effect * np.log10(lengths)).mean(axis=1)
    expected = [
        (slopes.mean_slope(scores, X), linregress(X, scores.mean(axis=1)).slope),
        (slopes.mean_slope(lengths, X), linregress(X, lengths.mean(axis=1)).slope),
        (slopes.hard_slope(scores, lengths, X), linregress(X, hard).slope),
        (slopes.length_effect(scores, lengths), effect),
        (slopes.adjusted_slope(scores, lengths, X), linregress(X, level).slope),
    ]
    for statistic, slope in expected:
        assert statistic.estimate() == pytest.approx(slope, rel=1e-7, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(-0.5, 0.5), st.floats(-0.3, 0.3))
def test_a_known_length_effect_is_found_and_taken_away(seed, effect, growth):
    _, lengths = data(seed)
    rng = np.random.default_rng(seed)
    scores = effect * np.log10(lengths) + growth * X[:, None] + rng.uniform(size=12)
    assert slopes.length_effect(scores, lengths).estimate() == pytest.approx(effect, abs=1e-7)
    adjusted = slopes.adjusted_slope(scores, lengths, X).estimate()
    assert adjusted == pytest.approx(growth, abs=1e-7)


def test_inverse_scaling_that_is_length_alone():
    scores = np.tile(np.linspace(0.3, 0.8, 10), (4, 1))
    lengths = np.outer([1000, 2000, 4000, 8000], np.linspace(1, 2, 10))
    hard = Bootstrap(10).interval(slopes.hard_slope(scores, lengths, X))
    assert hard.upper < 0
    assert slopes.mean_slope(scores, X).estimate() == pytest.approx(0)


def test_equal_lengths_say_nothing_of_their_effect():
    scores, _ = data()
    for lengths in (np.full((4, 12), 800.0), np.outer([1, 2, 3, 4], np.full(12, 100.0))):
        assert np.isnan(slopes.length_effect(scores, lengths).estimate())
        assert np.isnan(slopes.adjusted_slope(scores, lengths, X).estimate())


def test_no_shared_scenario_measures_nothing():
    nothing = np.empty((4, 0))
    for statistic in (
        slopes.mean_slope(nothing, X),
        slopes.hard_slope(nothing, nothing, X),
        slopes.length_effect(nothing, nothing),
        slopes.adjusted_slope(nothing, nothing, X),
    ):
        assert np.isnan(Bootstrap(0).interval(statistic).estimate)


def test_the_interval_is_that_of_resampled_scenarios():
    scores, lengths = data(scenarios=40)
    statistic = slopes.adjusted_slope(scores, lengths, X)
    rng = np.random.default_rng(1)
    values = []
    for _ in range(400):
        drawn = rng.integers(0, 40, 40)
        values.append(slopes.adjusted_slope(scores[:, drawn], lengths[:, drawn], X).estimate())
    found = Bootstrap(40, method="percentile").interval(statistic)
    spread = np.std(values)
    low, high = np.quantile(values, [0.025, 0.975])
    assert abs(found.lower - low) < 0.6 * spread
    assert abs(found.upper - high) < 0.6 * spread


def test_the_range_of_a_slope_of_shares():
    scores = np.array([[0.0] * 5, [0.0] * 5, [1.0] * 5, [1.0] * 5])
    found = Bootstrap(5).interval(slopes.mean_slope(scores, X, span=1.0))
    assert found.flag == "degenerate"
    assert found.lower < found.estimate <= found.upper + 1e-12
