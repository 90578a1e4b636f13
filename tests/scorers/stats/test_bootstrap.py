"""Intervals: worked examples E5 to E7 of the CORDA design, edge cases, and what must hold always."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from moral_evals.scorers.stats.bootstrap import (
    Bootstrap,
    Interval,
    acceleration,
    bca_levels,
    difference,
    ratio,
    resample_counts,
    small_sample_level,
)

E6 = [0.2, 0.4, 0.5, 0.5, 0.6, 0.7, 0.7, 0.8, 0.9, 1.0]
METHODS = ("bca", "percentile", "t", "studentized")


def interval(values, method: str = "bca", bounds=(0.0, 1.0), **options) -> Interval:
    return Bootstrap(len(values), method=method, **options).interval(ratio(values, bounds=bounds))


def ends(found: Interval) -> tuple[float, float]:
    return found.lower, found.upper


def jackknife(values: list[float]) -> np.ndarray:
    x = np.array(values)
    return (x.sum() - x) / (len(x) - 1)


# --- E5 ----------------------------------------------------------------------------------------


def test_e5_the_27_resamples_of_three_chains_have_the_stated_means():
    scores = ratio([0.5, 0.75, 1.0])
    draws = list(itertools.product(range(3), repeat=3))
    counts = np.array([[draw.count(unit) for unit in range(3)] for draw in draws], dtype=float)
    means = scores.combine(counts @ scores.columns)
    found = Counter(Fraction(m).limit_denominator(12) for m in means)
    steps = [Fraction(k, 12) for k in range(6, 13)]
    assert found == dict(zip(steps, [1, 3, 6, 7, 6, 3, 1], strict=True))
    assert scores.estimate() == 0.75


def test_e5_resamples_are_drawn_with_these_frequencies():
    """Within four standard errors of 10,000 draws."""
    replicates = Bootstrap(3).replicates(ratio([0.5, 0.75, 1.0]))
    found = Counter(round(m * 12) for m in replicates)
    for step, count in zip(range(6, 13), [1, 3, 6, 7, 6, 3, 1], strict=True):
        p = count / 27
        assert abs(found[step] / 10_000 - p) < 4 * math.sqrt(p * (1 - p) / 10_000)


# --- E6 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "level"), [(10, 0.00855), (20, 0.01588), (50, 0.02118), (200, 0.02403)]
)
def test_e6_small_sample_level(n: int, level: float):
    assert small_sample_level(0.05, n) == pytest.approx(level, abs=5e-6)


def test_e6_acceleration():
    assert acceleration(jackknife(E6)) == pytest.approx(-0.0089348, abs=5e-8)


def test_e6_mean_and_t_interval():
    found = interval(E6, "t")
    assert found.estimate == pytest.approx(0.63)
    assert ends(found) == pytest.approx((0.45788, 0.80212), abs=5e-6)
    assert found.n == 10


@pytest.mark.parametrize(
    ("method", "stated"), [("bca", (0.45, 0.79)), ("percentile", (0.49, 0.77))]
)
def test_e6_bootstrap_intervals_with_seed_0_and_10_000_resamples(method: str, stated):
    assert ends(interval(E6, method)) == pytest.approx(stated, abs=1e-9)


# --- E7 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "bounds", "stated"),
    [
        ([1.0] * 20, (0, 1), (0.860892, 1)),
        ([0.5] * 20, (0, 1), (0.430446, 0.569554)),
        ([1.0] * 5, (0, 1), (0.549280, 1)),
        ([0.0] * 20, (-1, 1), (-0.139108, 0.139108)),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_e7_units_that_are_all_alike_do_not_give_a_zero_width(values, bounds, stated, method: str):
    found = interval(values, method, bounds)
    assert ends(found) == pytest.approx(stated, abs=5e-7)
    assert found.flag == "degenerate"
    assert found.estimate == values[0]


def test_e7_paired_differences_that_are_all_zero():
    values = [0.2, 0.9, 0.4, 0.6] * 5
    found = Bootstrap(20).interval(difference(ratio(values), ratio(values)))
    assert ends(found) == pytest.approx((-0.139108, 0.139108), abs=5e-7)
    assert (found.estimate, found.flag) == (0, "degenerate")


def test_degenerate_without_a_finite_range_has_no_interval():
    found = interval([2.0] * 20, bounds=(0, math.inf))
    assert found.estimate == 2
    assert all(map(math.isnan, ends(found)))


# --- edge sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_one_unit_has_an_estimate_and_no_interval(method: str):
    found = interval([0.4], method)
    assert (found.estimate, found.n) == (0.4, 1)
    assert all(map(math.isnan, ends(found)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("values", [[], [math.nan], [math.nan] * 3])
def test_nothing_measured_is_nan_throughout_and_never_zero(values, method: str):
    found = interval(values, method)
    assert found.n == 0
    assert all(map(math.isnan, (found.estimate, *ends(found))))


def test_one_measured_among_missing_ones_has_no_interval():
    found = interval([0.4, math.nan, math.nan])
    assert (found.estimate, found.n) == (0.4, 1)
    assert all(map(math.isnan, ends(found)))


@pytest.mark.parametrize(("n", "flag"), [(2, "small_n"), (9, "small_n"), (10, ""), (30, "")])
def test_few_units_are_flagged(n: int, flag: str):
    values = [(i % 5) / 5 for i in range(n)]
    assert interval(values).flag == flag


def test_the_flag_counts_measured_units_only():
    values = [(i % 5) / 5 for i in range(9)] + [math.nan] * 20
    found = interval(values)
    assert (found.n, found.flag) == (9, "small_n")


def test_units_without_a_value_leave_both_sums():
    assert ratio([0.2, math.nan, 0.6]).estimate() == pytest.approx(0.4)


def test_a_statistic_over_other_units_is_refused():
    with pytest.raises(ValueError, match="3 rows for 2 units"):
        Bootstrap(2).interval(ratio([0.1, 0.2, 0.3]))


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="jackknife"):
        Bootstrap(3, method="jackknife")


# --- seed --------------------------------------------------------------------------------------


def fresh(values, **options) -> Interval:
    resample_counts.cache_clear()  # so that the draw itself is repeated, not remembered
    return interval(values, **options)


@pytest.mark.parametrize("method", ["bca", "percentile", "studentized"])
def test_the_same_seed_gives_the_same_interval_and_another_another(method: str):
    values = np.random.default_rng(5).uniform(size=30)
    first, again = (fresh(values, method=method, seed=3) for _ in range(2))
    other = fresh(values, method=method, seed=4)
    assert first == again
    assert ends(other) != ends(first)
    assert ends(other) == pytest.approx(ends(first), abs=0.03)


def test_seed_0_is_a_seed_and_the_default():
    values = np.random.default_rng(5).uniform(size=30)
    assert fresh(values, seed=0) == fresh(values)


def test_global_random_state_is_neither_read_nor_moved():
    values = np.random.default_rng(5).uniform(size=30)
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state(legacy=False)["state"], random.getstate()
    first = fresh(values)
    after = np.random.get_state(legacy=False)["state"], random.getstate()
    assert np.array_equal(before[0]["key"], after[0]["key"])
    assert before[0]["pos"] == after[0]["pos"]
    assert before[1] == after[1]
    np.random.seed(2)
    random.seed(2)
    assert fresh(values) == first


def test_the_shared_counts_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        resample_counts(5, 10, 0)[0, 0] = 1


# --- strata ------------------------------------------------------------------------------------


def test_every_resample_draws_as_many_units_as_there_are():
    counts = Bootstrap(7, resamples=500).counts()
    assert counts.shape == (500, 7)
    assert set(counts.sum(axis=1)) == {7}


def test_strata_keep_their_sizes_in_every_resample():
    strata = ["a", "b", "a", "c", "b", "a"]
    counts = Bootstrap(6, resamples=500, strata=strata).counts()
    for label, size in Counter(strata).items():
        members = [i for i, s in enumerate(strata) if s == label]
        assert set(counts[:, members].sum(axis=1)) == {size}


def test_strata_take_the_difference_between_them_out_of_the_interval():
    values = [0.1, 0.2, 0.15] * 4 + [0.9, 0.8, 0.85] * 4
    strata = ["low"] * 12 + ["high"] * 12
    plain = interval(values, "percentile")
    within = interval(values, "percentile", strata=strata)
    assert within.estimate == plain.estimate
    assert within.upper - within.lower < (plain.upper - plain.lower) / 3


# --- ratios ------------------------------------------------------------------------------------


def test_hard_is_a_ratio_of_means_and_not_a_mean_of_ratios():
    """Case D43: scores 80 and 40 with lengths 400 and 4,000 give 27.27, not 105."""
    hard = ratio([0.8, 0.4], [400, 4000], scale=1000, bounds=(0, math.inf))
    assert hard.estimate() * 100 == pytest.approx(27.2727, abs=1e-4)


def test_a_missing_denominator_takes_its_unit_out():
    assert ratio([0.8, 0.4], [400, math.nan], scale=1000).estimate() == pytest.approx(2)


def test_resamples_with_an_empty_denominator_are_dropped():
    won, decided = [2.0, 1, 3, 1, 2] + [0.0] * 15, [2.0, 4, 3, 1, 3] + [0.0] * 15
    bootstrap = Bootstrap(20, method="percentile")
    share = ratio(won, decided)
    replicates = bootstrap.replicates(share)
    undefined = np.isnan(replicates)
    # all twenty draws miss the five units with probability (15/20)^20 = 0.3%
    assert 0 < np.mean(undefined) == pytest.approx(0.75**20, abs=0.002)
    found = bootstrap.interval(share)
    assert found.estimate == pytest.approx(9 / 13)
    expected = np.quantile(replicates[~undefined], [0.025, 0.975])
    assert ends(found) == pytest.approx(tuple(expected))
    assert found.n == 5


def test_a_ratio_over_nothing_is_nan_without_a_crash():
    found = Bootstrap(3).interval(ratio([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
    assert math.isnan(found.estimate)


# --- differences -------------------------------------------------------------------------------


def test_a_difference_is_first_minus_second():
    found = Bootstrap(4).interval(difference(ratio([1, 1, 0, 1]), ratio([0, 1, 0, 0])))
    assert found.estimate == pytest.approx(0.5)


def test_a_difference_is_paired():
    """B = A - 0.1 plus a little: the spread of A itself must not widen the interval."""
    rng = np.random.default_rng(1)
    a = rng.uniform(0.2, 1, 50)
    b = a - 0.1 + rng.normal(0, 0.01, 50)
    found = Bootstrap(50).interval(difference(ratio(a), ratio(b)))
    assert 0.09 < found.lower < found.estimate < found.upper < 0.11


def test_a_difference_is_clipped_to_minus_one_and_one():
    diff = difference(ratio([1, 1, 1, 1, 0.9]), ratio([0, 0, 0, 0.1, 0]))
    assert diff.bounds == (-1, 1)
    assert Bootstrap(5, method="t").interval(diff).upper == 1


# --- methods against a plain reading of their definitions --------------------------------------


def resampled_columns(values, resamples: int, seed: int = 0) -> list[np.ndarray]:
    counts = resample_counts(len(values), resamples, seed)
    return [np.repeat(values, row) for row in counts]


def test_studentized_follows_its_definition():
    x, resamples = np.array(E6), 400
    error = x.std() / math.sqrt(len(x))
    t = []
    for draw in resampled_columns(x, resamples):
        if draw.std() > 0:
            t.append((draw.mean() - x.mean()) / (draw.std() / math.sqrt(len(x))))
    low, high = np.quantile(t, [0.025, 0.975])
    found = interval(E6, "studentized", bounds=(-9, 9), resamples=resamples)
    assert ends(found) == pytest.approx((x.mean() - high * error, x.mean() - low * error))


def test_bca_follows_its_definition():
    values, n, resamples = [0.0, 0.0, 0.1, 0.2, 0.2, 0.3, 0.5, 0.5, 0.8, 0.9, 1.0], 11, 1000
    x = np.array(values)
    means = np.array([d.mean() for d in resampled_columns(x, resamples)])
    level = stats.norm.cdf(stats.t.ppf(0.025, n - 1) * math.sqrt(n / (n - 1)))
    ties = np.isclose(means, x.mean(), rtol=0, atol=1e-12)
    z0 = stats.norm.ppf(np.mean((means < x.mean()) & ~ties) + np.mean(ties) / 2)
    d = jackknife(values).mean() - jackknife(values)
    a = np.sum(d**3) / (6 * np.sum(d**2) ** 1.5)
    z = stats.norm.ppf(level) * np.array([1, -1])
    levels = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
    found = interval(values, "bca", resamples=resamples)
    assert ends(found) == pytest.approx(tuple(np.quantile(means, levels)))


def test_bca_with_an_infinite_bias_uses_the_plain_levels():
    above = np.full(100, 0.7)
    assert bca_levels(above, 0.5, np.array([0.5, 0.6]), 0.01) == (0.01, 0.99)


def test_t_follows_its_definition_for_a_mean():
    x = np.random.default_rng(2).uniform(size=25)
    stated = stats.t.interval(0.9, 24, loc=x.mean(), scale=stats.sem(x))
    assert ends(interval(x, "t", level=0.9)) == pytest.approx(stated)


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_gives_a_wider_interval(method: str):
    x = np.random.default_rng(2).uniform(size=25)
    narrow, wide = (interval(x, method, level=level) for level in (0.8, 0.99))
    assert wide.lower < narrow.lower < narrow.upper < wide.upper


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_stays_in_the_statistics_range(method: str):
    values = [1.0] * 9 + [0.6, 0.0]
    found = interval(values, method)
    assert 0 <= found.lower <= found.upper <= 1


# --- properties --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 40), a=st.floats(0.8, 5), b=st.floats(0.8, 5))
def test_the_estimate_lies_inside_its_interval_on_ordinary_data(
    method: str, seed: int, n: int, a: float, b: float
):
    values = np.random.default_rng(seed).beta(a, b, n)
    found = interval(values, method, resamples=500)
    assert found.lower < found.estimate < found.upper


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12))
def test_an_interval_is_ordered_in_range_or_absent(values: list[float]):
    found = interval(values, resamples=200)
    known = [v for v in values if math.isfinite(v)]
    assert found.n <= len(known)
    if not known:
        assert math.isnan(found.estimate)
        return
    assert found.estimate == pytest.approx(math.fsum(known) / len(known))
    assert all(map(math.isnan, ends(found))) or 0 <= found.lower <= found.upper <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(2, 4))
def test_a_unit_that_contributes_zero_still_counts(values: list[float], zeros: int):
    """A score of 0 is a measurement: it is in n and in the mean."""
    found = interval([*values, *[0.0] * zeros], resamples=200)
    assert found.n == len(values) + zeros


def test_what_was_not_measured_is_alike_on_every_python():
    nothing = Interval.unmeasured(3)
    assert nothing == Interval(float("nan"), float("nan"), float("nan"), 3)
    assert len({nothing, Interval.unmeasured(3), Interval.unmeasured()}) == 2
    assert Interval(0.5, math.nan, math.nan, 3) != nothing
    assert nothing != "nothing"
