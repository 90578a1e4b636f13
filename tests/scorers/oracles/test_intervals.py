"""Intervals of single statistics against the plain recomputation, on awkward data."""

import math

import numpy as np
import pytest

from moral_evals.scorers.stats.bootstrap import Bootstrap, Statistic, difference, ratio
from tests.scorers.oracles.plain_bootstrap import Plain, drawn, plain_interval, plain_ratio

B = 199


def data(kind: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, n])
    return {
        "ordinary": lambda: rng.random(n),
        "levels": lambda: rng.choice([0, 0.5, 1], n),  # many resamples tie with the estimate
        "ceiling": lambda: np.where(rng.random(n) < 0.15, rng.random(n), 1.0),
        "alike": lambda: np.full(n, 0.3),
        "one differs": lambda: np.r_[np.ones(n - 1), 0.2],
        "gaps": lambda: np.where(rng.random(n) < 0.3, math.nan, rng.random(n)),
        "all missing": lambda: np.full(n, math.nan),
    }[kind]()


KINDS = ("ordinary", "levels", "ceiling", "alike", "one differs", "gaps", "all missing")


def nothing(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(v) else float(v) for v in values]


def agree(bootstrap: Bootstrap, statistic: Statistic, expected: Plain, **how) -> None:
    counts = drawn(bootstrap.n, B, 5, how.pop("strata", None))
    found = bootstrap.interval(statistic)
    estimate, lower, upper, n, flag = plain_interval(expected, counts, **how)
    assert (found.n, found.flag) == (n, flag)
    ends = (found.estimate, found.lower, found.upper)
    assert ends == pytest.approx((estimate, lower, upper), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.9999])
@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 10, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_means(kind: str, n: int, method: str, level: float) -> None:
    values = data(kind, n, 1)
    agree(
        Bootstrap(n, seed=5, resamples=B, method=method, level=level),
        ratio(values),
        plain_ratio(nothing(values)),
        method=method,
        level=level,
    )


@pytest.mark.parametrize("n", [2, 5, 12])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("empty", [0.0, 0.6])
def test_shares_whose_denominator_may_be_empty(kind: str, n: int, empty: float) -> None:
    """Units without weight are none; resamples of nothing else are dropped."""
    rng = np.random.default_rng([7, n])
    bottom = np.where(rng.random(n) < empty, 0.0, rng.integers(1, 5, n))
    top = bottom * data(kind, n, 2)
    agree(Bootstrap(n, seed=5, resamples=B), ratio(top, bottom), plain_ratio(nothing(top), bottom))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 8, 15])
def test_hard_is_a_ratio_without_an_upper_bound(kind: str, n: int) -> None:
    values, length = data(kind, n, 3), np.random.default_rng(n).integers(100, 5000, n)
    agree(
        Bootstrap(n, seed=5, resamples=B),
        ratio(values, length, scale=1000, bounds=(0, math.inf)),
        plain_ratio(nothing(values), length, (0, math.inf), scale=1000),
    )


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("n", [3, 11])
def test_differences_of_two_means(first: str, second: str, n: int) -> None:
    a, b = data(first, n, 4), data(second, n, 5)
    one, two = plain_ratio(nothing(a)), plain_ratio(nothing(b))
    both = Plain(
        [(*x, *y) for x, y in zip(one.units, two.units, strict=True)],
        lambda s: one.of_sums(s[:2]) - two.of_sums(s[2:]),
        (-1, 1),
    )
    agree(Bootstrap(n, seed=5, resamples=B), difference(ratio(a), ratio(b)), both)


@pytest.mark.parametrize("n", [6, 20])
def test_strata_of_unlike_size_and_order(n: int) -> None:
    values = data("ordinary", n, 6)
    strata = [("b", "a", "a")[i % 3] for i in range(n)]
    agree(
        Bootstrap(n, seed=5, resamples=B, strata=strata),
        ratio(values),
        plain_ratio(nothing(values)),
        strata=strata,
    )
