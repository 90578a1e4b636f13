"""Tests and intervals agree with each other on few and skewed units."""

import math

import numpy as np
import pytest

from moral_evals.scorers.stats.bootstrap import Bootstrap, ratio
from moral_evals.scorers.stats.multiplicity import p_value


@pytest.mark.parametrize("n", [6, 8, 12])
@pytest.mark.parametrize("power", [1, 2])
def test_p_below_5_per_cent_exactly_if_the_interval_leaves_out_0(n: int, power: int):
    rng = np.random.default_rng(n)
    for _ in range(15):
        draws = rng.exponential(size=n) ** power - 1
        statistic = ratio(draws, bounds=(-math.inf, math.inf))
        bootstrap = Bootstrap(n, resamples=500)
        found = bootstrap.interval(statistic)
        leaves_out = found.lower > 0 or found.upper < 0
        assert (p_value(bootstrap, statistic) < 0.05) == leaves_out


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9])
def test_few_units_that_all_point_one_way_show_no_more_than_an_exact_test(n: int):
    statistic = ratio(0.2 + 0.01 * np.arange(n), bounds=(-math.inf, math.inf))
    assert p_value(Bootstrap(n, resamples=500), statistic) >= 2.0 ** (1 - n)


@pytest.mark.parametrize("n", [5, 6, 8])
def test_an_interval_at_a_finer_level_holds_the_coarser_one(n: int):
    rng = np.random.default_rng(n)
    for _ in range(15):
        statistic = ratio(rng.exponential(size=n) ** 2, bounds=(-math.inf, math.inf))
        bootstrap = Bootstrap(n, resamples=500)
        levels = [bootstrap.interval(statistic, level) for level in (0.5, 0.9, 0.99, 0.9999)]
        lowers, uppers = [i.lower for i in levels], [i.upper for i in levels]
        assert lowers == sorted(lowers, reverse=True)
        assert uppers == sorted(uppers)
        assert all(low <= high for low, high in zip(lowers, uppers, strict=True))


@pytest.mark.parametrize("values", [[0.1, 0.4, 0.3, 0.9], [0.5] * 4])
def test_fewer_than_five_units_have_an_estimate_and_no_interval(values: list[float]):
    found = Bootstrap(4).interval(ratio(values))
    assert found.estimate == pytest.approx(np.mean(values))
    assert math.isnan(found.lower) and math.isnan(found.upper)
    five = Bootstrap(5).interval(ratio([*values, values[0]]))
    assert five.lower < five.estimate < five.upper
