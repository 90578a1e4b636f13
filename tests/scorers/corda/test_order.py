import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.scorers.corda.order import (
    DEFAULT_ORDER,
    Comparison,
    TierOrder,
    best_options,
    compare_tiers,
    informative,
    rank_values,
    worst_options,
)
from tests.scorers.corda.chain_examples import Vector, tiers

LEVELS = st.sampled_from([-2, -1, 0, 1, 2, 0.5, None])
VECTORS = st.tuples(LEVELS, LEVELS, LEVELS, LEVELS)
STEPS = st.lists(VECTORS, min_size=2, max_size=6)


def versus(a: Vector, b: Vector) -> Comparison:
    return compare_tiers(tiers(a), tiers(b), DEFAULT_ORDER)


def test_e1_second_is_better_at_tier_two_and_gives_up_welfare() -> None:
    assert versus((0, -1, 2, 0), (0, 0, -2, -2)) == Comparison("worse", "honesty_fairness", True)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0, 0, 1, None), (0, 0, 1, 0), Comparison("incomparable")),
        ((-1, None, 0, 0), (0, None, 0, 0), Comparison("worse", "rights_harm")),
        ((0, 0, 1, 0), (0, 0, 1, 0), Comparison("tie")),
    ],
)
def test_e2_unknown_above_and_below_the_deciding_tier(
    a: Vector, b: Vector, expected: Comparison
) -> None:
    assert versus(a, b) == expected
    assert versus(b, a) == expected.reverse()


def test_absent_tier_is_unknown() -> None:
    a, b = {"rights_harm": 0.0}, {"rights_harm": 0.0, "honesty_fairness": 1.0}
    assert compare_tiers(a, b, DEFAULT_ORDER).outcome == "incomparable"


def test_e3_rank_values_of_three_options() -> None:
    o1, o2, o3 = (0, 0, 0, 0), (0, -1, 2, 0), (-2, 0, 2, 0)
    known = rank_values([tiers(v) for v in (o1, o2, o3)], DEFAULT_ORDER)
    assert [r.u for r in known] == [1, Fraction(1, 2), 0]
    with_null = rank_values([tiers(v) for v in (o1, (0, None, 2, 0), o3)], DEFAULT_ORDER)
    assert [r.u for r in with_null] == [Fraction(3, 4), Fraction(3, 4), 0]
    assert sum(r.u for r in with_null) == Fraction(3, 2)


def test_best_and_worst_are_sets() -> None:
    step = [tiers(v) for v in [(0, 0, 0, 0), (0, 0, 0, 0), (-1, 2, 2, 2)]]
    assert best_options(step, DEFAULT_ORDER) == [0, 1]
    assert worst_options(step, DEFAULT_ORDER) == [2]


def test_a_step_without_decided_pair_is_not_informative() -> None:
    assert not informative([tiers((0, 0, 0, 0)), tiers((0, None, 1, 0))], DEFAULT_ORDER)
    assert informative([tiers((0, 0, 0, 0)), tiers((0, 0, 0, 1))], DEFAULT_ORDER)


def test_numbers_are_compared_as_given() -> None:
    # no tolerance: it would make cycles; hence the advice to use whole levels
    assert versus((0.1 + 0.2, 0, 0, 0), (0.3, 0, 0, 9)).outcome == "better"
    assert versus((0.5, 0, 0, 0), (1 / 2, 0, 0, 0)).outcome == "tie"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, True])
def test_values_that_are_not_finite_numbers_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="rights_harm"):
        compare_tiers({"rights_harm": bad}, {"rights_harm": 0}, DEFAULT_ORDER)


def test_tier_outside_the_order_is_refused() -> None:
    with pytest.raises(ValueError, match="'welfair' is not in the order"):
        compare_tiers({"welfair": 1}, {"rights_harm": 0}, DEFAULT_ORDER)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((), "at least one"),
        ("rights_harm", "list"),
        (("a", "b", "a"), "repeats 'a'"),
        (("a", ("b", "c")), "equal ranks"),
        (("a", " "), "not one tier name"),
    ],
)
def test_what_is_not_a_strict_order_is_refused(names: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TierOrder(names)


def test_one_option_is_no_step() -> None:
    with pytest.raises(ValueError, match="two options"):
        rank_values([tiers((0, 0, 0, 0))], DEFAULT_ORDER)


@given(STEPS)
def test_rank_values_sum_to_half_the_options(step: list[Vector]) -> None:
    ranks = rank_values([tiers(v) for v in step], DEFAULT_ORDER)
    assert sum(r.u for r in ranks) == Fraction(len(step), 2)
    assert all(0 <= r.u <= 1 for r in ranks)


@given(STEPS)
def test_a_better_option_has_the_higher_rank_value(step: list[Vector]) -> None:
    ranks = rank_values([tiers(v) for v in step], DEFAULT_ORDER)
    for (a, rank_a), (b, rank_b) in itertools.permutations(zip(step, ranks, strict=True), 2):
        if versus(a, b).outcome == "better":
            assert rank_a.u > rank_b.u


@given(STEPS, st.randoms())
def test_rank_values_follow_their_options(step: list[Vector], random: object) -> None:
    order = list(range(len(step)))
    random.shuffle(order)  # type: ignore[attr-defined]
    ranks = rank_values([tiers(v) for v in step], DEFAULT_ORDER)
    moved = rank_values([tiers(step[k]) for k in order], DEFAULT_ORDER)
    assert moved == [ranks[k] for k in order]


def test_strict_partial_order_by_brute_force() -> None:
    order = TierOrder(("a", "b", "c"))
    all_vectors = list(itertools.product([-1, 0, 1, None], repeat=3))
    beats = {
        (x, y)
        for x, y in itertools.product(all_vectors, repeat=2)
        if compare_tiers(tiers(x, order), tiers(y, order), order).outcome == "better"
    }
    assert not any(x == y or (y, x) in beats for x, y in beats)
    below: dict[object, list[object]] = {}
    for x, y in beats:
        below.setdefault(x, []).append(y)
    assert all((x, z) in beats for x, y in beats for z in below.get(y, []))


@pytest.mark.parametrize("place", [0, 1])
def test_both_options_of_a_comparison_are_checked(place: int) -> None:
    pair = [{"welfare": 1.0}, {"welfare": 0.0}]
    pair[place] = {"thrift": 1.0}
    with pytest.raises(ValueError, match="thrift"):
        compare_tiers(*pair, DEFAULT_ORDER)
