"""Edges of the bootstrap that ordinary data do not reach: rounding, size, defaults, one statistic
after another."""

import math
from dataclasses import replace

import numpy as np
import pytest

from moral_evals.scorers.stats.bootstrap import (
    ROUNDING,
    Bootstrap,
    Interval,
    Statistic,
    acceleration,
    bca_levels,
    difference,
    ratio,
)

NAN = math.nan


def test_the_default_is_ten_thousand_resamples() -> None:
    assert Bootstrap(3).counts().shape == (10_000, 3)


def test_alike_units_of_large_values_are_alike_whatever_the_last_bits_say() -> None:
    # leaving one of the seven out moves the figure by 6e-8, its last bit
    found = Bootstrap(7, resamples=9).interval(
        ratio([0.1] * 7, [3e-7] * 7, scale=1000, bounds=(0, math.inf))
    )
    assert found.flag == "degenerate"
    assert math.isnan(found.lower)


def test_small_differences_are_differences() -> None:
    found = Bootstrap(12, resamples=99).interval(ratio([1e-8 * i for i in range(12)]))
    assert found.flag == ""
    assert found.lower < found.estimate < found.upper


def test_ties_of_large_values_count_half() -> None:
    # the last bit of a large value is no difference: of four, one below, two ties, one above
    values = np.array([1e9, 2e9, 2e9 + 5e-7, 3e9])
    level = bca_levels(values, 2e9, np.array([1.0, 2.0, 3.0]), 0.025)
    assert level == pytest.approx((0.025, 0.975))


def test_jackknife_values_that_are_alike_have_no_acceleration() -> None:
    assert acceleration(np.full(5, 0.25)) == 0


def test_more_units_than_one_product_takes() -> None:
    n = 150_000
    values = np.arange(n) / n
    bootstrap = Bootstrap(n, resamples=3)
    expected = bootstrap.counts() @ values / n
    assert bootstrap.replicates(ratio(values)) == pytest.approx(expected)


def test_one_statistic_after_another() -> None:
    bootstrap = Bootstrap(4, resamples=20)
    one, two = ratio([0, 1, 1, 0]), ratio([0.1, 0.2, 0.9, 0.4])
    first, second = bootstrap.replicates(one), bootstrap.replicates(two)
    assert bootstrap.replicates(one) == pytest.approx(first)
    assert bootstrap.replicates(two) == pytest.approx(second)
    assert bootstrap.replicates(two) is bootstrap.replicates(two)
    assert not np.allclose(first, second)


@pytest.mark.parametrize("values", [[], [0.5], [NAN, 0.5, NAN]])
def test_no_standard_error_of_fewer_than_two_units(values: list[float]) -> None:
    assert math.isnan(Bootstrap(len(values), resamples=9).stderr(ratio(values)))


def test_standard_error_of_two_units_and_of_resamples_without_a_denominator() -> None:
    bootstrap = Bootstrap(3, resamples=400)
    statistic = ratio([1.0, 1.0, 0.0], [1.0, 2.0, 0.0])
    counts = bootstrap.counts().astype(float)
    bottom = counts @ [1.0, 2.0, 0.0]
    values = (counts @ [1.0, 1.0, 0.0])[bottom > 0] / bottom[bottom > 0]
    assert len(values) < 400
    spread = math.sqrt(((values - values.mean()) ** 2).sum() / (len(values) - 1))
    assert bootstrap.stderr(statistic) == pytest.approx(spread, rel=1e-12)


def test_two_units_of_which_one_alone_has_no_value_give_no_interval() -> None:
    # leaving out the first leaves nothing to divide by
    found = Bootstrap(2, resamples=50).interval(ratio([1.0, 0.5], [2.0, 0.0]))
    assert found.estimate == 0.75
    assert (math.isnan(found.lower), math.isnan(found.upper)) == (True, True)


def test_studentized_of_a_ratio_by_its_definition() -> None:
    top, bottom = np.array([1.0, 0.0, 2.0, 3.0, 1.0, 4.0]), np.array([2.0, 1.0, 2.0, 5.0, 4.0, 4.0])
    bootstrap = Bootstrap(6, resamples=200, method="studentized")
    found = bootstrap.interval(ratio(top, bottom))
    estimate = top.sum() / bottom.sum()
    influence = [
        5 * (estimate - (top.sum() - t) / (bottom.sum() - b))
        for t, b in zip(top, bottom, strict=True)
    ]
    ts = []
    for row in bootstrap.counts().astype(int):
        drawn = np.repeat(influence, row)
        value = (row @ top) / (row @ bottom)
        spread = drawn.std() / math.sqrt(6)
        if spread > 0:
            ts.append((value - estimate) / spread)
    error = np.std(influence) / math.sqrt(6)
    expected = (estimate - np.quantile(ts, (0.975, 0.025)) * error).clip(0, 1)
    assert (found.lower, found.upper) == pytest.approx(tuple(expected), abs=1e-9)


def test_a_difference_reaches_from_low_minus_high_to_high_minus_low() -> None:
    first = ratio([0.5, 0.5], bounds=(-1, 1))
    second = ratio([0.5, 0.5], bounds=(-0.5, 2))
    assert difference(first, second).bounds == (-3, 1.5)


def test_a_statistic_without_bounds_is_not_clipped() -> None:
    columns = np.array([[-30.0, 1.0], [7.0, 1.0], [9.0, 1.0], [8.0, 1.0], [9.0, 1.0]])
    statistic = Statistic(columns, lambda s: s[..., 0] / s[..., 1])
    assert statistic.bounds == (-math.inf, math.inf)
    found = Bootstrap(5, resamples=99).interval(statistic)
    assert found.lower < 0 < 1 < found.upper


def test_names_of_the_ends() -> None:
    found = Interval(0.5, 0.25, 0.75, 12).named("hard")
    assert found == {"hard": 0.5, "hard_lower": 0.25, "hard_upper": 0.75}


def test_something_over_nothing_is_not_measured() -> None:
    assert math.isnan(ratio([1.0, 2.0], [0.0, 0.0]).estimate())


@pytest.mark.parametrize(
    ("lower", "upper", "out"),
    [
        (ROUNDING, 1.0, False),  # what is left of equal numbers is 0
        (2 * ROUNDING, 1.0, True),
        (-1.0, -ROUNDING, False),
        (-1.0, -2 * ROUNDING, True),
        (-1.0, 1.0, False),
    ],
)
def test_an_end_that_is_a_rounding_error_is_zero(lower, upper, out):
    assert Interval(0.0, lower, upper, 20).leaves_out_zero == out


def test_what_is_not_measured_rests_on_no_unit():
    assert Interval.unmeasured().n == 0
    assert Interval.unmeasured(3).n == 3


@pytest.mark.parametrize(
    ("lower", "n", "flag", "few"),
    [
        (0.1, 9, "small_n", True),
        (0.1, 20, "", False),
        (NAN, 4, "small_n", False),  # no interval, so none to be marked
        (0.1, 9, "degenerate", True),
        (0.1, 10, "degenerate", False),  # alike, and enough of them
        (NAN, 9, "degenerate", False),
    ],
)
def test_an_interval_of_few_units_is_marked(lower, n, flag, few):
    assert Interval(0.5, lower, 0.9, n, flag).few is few


def test_the_ends_of_a_difference_are_those_of_its_sides():
    first = ratio(np.array([0.2, 0.4]), bounds=(0.0, 1.0))
    second = ratio(np.array([1.0, 3.0]), bounds=(0.5, 4.0))
    # the least is 0 - 4, the most 1 - 0.5
    assert difference(first, second).bounds == (-4.0, 0.5)
    # where all units are alike the possible range counts, (0, 2) here and (1, 3)
    first, second = (replace(s, possible=p) for s, p in ((first, (0.0, 2.0)), (second, (1.0, 3.0))))
    assert difference(first, second).span == (-3.0, 1.0)
