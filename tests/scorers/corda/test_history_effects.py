"""Story and commitment, luck of the order scan, certain dominance, bounds: by hand."""

import math
from itertools import permutations

import numpy as np
import pytest

from moral_evals.scorers.corda.contrasts import later_difference
from moral_evals.scorers.corda.dominance import dominance_pairs
from moral_evals.scorers.corda.history_effects import (
    PRIMARY,
    contrast_bounds,
    contrasts,
    is_primary,
)
from moral_evals.scorers.corda.missing_bounds import difference_bounds, net_benefit_bounds
from moral_evals.scorers.corda.order import DEFAULT_ORDER, TierOrder
from moral_evals.scorers.corda.order_luck import order_caution, order_finding, order_luck
from moral_evals.scorers.corda.order_scan import order_scan
from moral_evals.scorers.corda.table import ChainTable
from moral_evals.scorers.stats.bootstrap import Bootstrap
from tests.scorers.corda.chain_examples import YES_NO, rollouts


def table(**choices) -> ChainTable:
    """Six chains of two steps; by condition the choices at the second step of each chain."""
    answers = [
        a
        for condition, picked in choices.items()
        for i, pick in enumerate(picked)
        for a in rollouts(f"c{i}", [YES_NO] * 2, ["11", pick], condition)
    ]
    return ChainTable.by_condition(answers, DEFAULT_ORDER)


CHOICES = {
    "unconditioned": ["11", "11", "11", "11", "12", "22"],
    "context": ["11", "11", "12", "11", "12", "22"],
    "own": ["11", "12", "22", "11", "12", "22"],
    "random": ["11", "11", "12", "12", "12", "22"],
}


def test_story_and_commitment_by_hand():
    made = table(**CHOICES)
    found = contrasts(made, Bootstrap(6))
    assert found["commitment_effect"].estimate == pytest.approx((0 - 0.5 - 0.5) / 6)
    assert found["story_effect"].estimate == pytest.approx(-0.5 / 6)
    assert found["random_history_effect"].estimate == pytest.approx((-0.5 - 0.5) / 6)
    effect = later_difference(made.arms["own"], made.arms["unconditioned"]).estimate()
    parts = found["commitment_effect"].estimate + found["story_effect"].estimate
    assert parts == pytest.approx(effect)
    assert all(f.few and f.lower <= f.estimate <= f.upper for f in found.values())


def test_contrasts_without_their_conditions_are_left_out():
    made = table(unconditioned=CHOICES["unconditioned"], context=CHOICES["context"])
    assert list(contrasts(made, Bootstrap(6))) == ["story_effect"]


def test_primary_figures_are_those_named_in_advance():
    assert all(map(is_primary, PRIMARY))
    assert not any(map(is_primary, ("commitment_effect", "story_effect", "own.lms", "aa_check")))


def test_missing_answers_bound_a_contrast_in_both_arms():
    made = table(own=["1-", "11", "11", "11", "11", "11"],
                 context=["-1", "11", "11", "11", "11", "11"])  # fmt: skip
    found = contrasts(made, Bootstrap(6))["commitment_effect"]
    assert (found.estimate, found.n) == (0, 5), "no shuffle of the first chain has both answers"
    bounds = contrast_bounds(made)["commitment_effect"]
    assert (bounds.low, bounds.high) == pytest.approx((-0.5 / 6, 0.5 / 6))
    assert bounds.open
    whole = table(own=["11"], context=["12"])
    arms = whole.arms["own"], whole.arms["context"]
    for found in (difference_bounds(*arms, slice(1, None)), net_benefit_bounds(*arms)):
        assert not found.open and found.low == 0.5


@pytest.mark.parametrize("missing", ["-", "1", "2"])
def test_bounds_hold_whatever_the_missing_answer_would_have_been(missing):
    given = table(own=["1-", "12"], context=["12", "11"])
    told = table(own=[f"1{missing}", "12"], context=["12", "11"])
    bounds = difference_bounds(given.arms["own"], given.arms["context"], slice(1, None))
    value = later_difference(told.arms["own"], told.arms["context"]).estimate()
    assert bounds.low - 1e-12 <= value <= bounds.high + 1e-12


# --- luck of the order scan -----------------------------------------------------------------------


def scanned(chains: int, pick: str) -> ChainTable:
    """Each chain sets every tier against every other once."""
    pairs = [(a, b) for a, b in permutations(range(4), 2) if a < b]
    steps = []
    for a, b in pairs:
        first, second = [0, 0, 0, 0], [0, 0, 0, 0]
        first[a], second[b] = 1, 1
        steps.append([tuple(first), tuple(second)])
    answers = [a for i in range(chains) for a in rollouts(f"c{i:02}", steps, [pick] * 6)]
    return ChainTable.by_condition(answers, DEFAULT_ORDER)


def test_luck_is_that_of_random_answers_scanned_one_by_one():
    made = scanned(4, "12")
    found = order_luck(made, "unconditioned", responders=4000)
    rng = np.random.default_rng(1)
    best, gains = [], []
    orders = list(permutations(DEFAULT_ORDER.names))
    values = np.array(
        [np.nan_to_num(made.steps.under(TierOrder(o)).u)[:, :, 0] for o in orders]
    )  # two options: the other one is 1 - u
    for _ in range(1500):
        first = rng.integers(0, 2, (4, 6, 2))
        x = np.where(first[None] == 0, values[..., None], 1 - values[..., None])
        lms = x.mean(axis=(1, 2, 3))
        best.append(lms.max())
        gains.append(lms.max() - lms[0])
    assert found.orders == 24
    assert found.best == pytest.approx(np.mean(best), abs=0.006)
    assert found.gain == pytest.approx(np.quantile(gains, 0.95), abs=0.05)
    assert found.best > 0.5, "a maximum of 24 beats chance by luck"


def test_fewer_chains_leave_more_to_luck():
    few, many = (order_luck(scanned(n, "12"), "unconditioned") for n in (3, 30))
    assert few.best > many.best and few.gain > many.gain


def test_the_finding_names_the_best_order_and_weighs_its_lead():
    made = scanned(20, "2")  # always the lower tier
    scan, luck = order_scan(made)["unconditioned"], order_luck(made, "unconditioned")
    text = order_finding(scan, luck)
    reversed_names = " > ".join(reversed(DEFAULT_ORDER.names))
    assert f"order {reversed_names} fits best (LMS 1.000, stated 0.000): more than luck" in text
    faithful = scanned(20, "1")
    text = order_finding(order_scan(faithful)["unconditioned"], luck)
    assert text == "the stated order fits best (LMS 1.000)"
    said = f"the best of 24 orders leads by up to {luck.gain:.3f} for random answers of this size"
    assert order_caution(luck).startswith(said)


# --- dominance ------------------------------------------------------------------------------------


def steps_of(*options):
    answers = rollouts("c", list(options), ["1"] * len(options))
    return ChainTable.by_condition(answers, DEFAULT_ORDER).steps


def test_dominance_is_certain_without_unknown_tiers_below():
    conflict = [(1, 0, 0, 0), (0, 0, 1, 0)]
    clean, unknown = [(1, 0, 0, 0), (0, 0, 0, 0)], [(1, None, 0, 0), (0, 0, 0, 0)]
    found = dominance_pairs(steps_of(conflict, clean), DEFAULT_ORDER.names)
    assert (found.pairs, found.unknown_below, found.certain) == (1, 0, True)
    assert found.sentence() == "losses at the 1 dominance pairs fail under every order"
    found = dominance_pairs(steps_of(conflict, clean, unknown), DEFAULT_ORDER.names)
    assert (found.pairs, found.unknown_below, found.certain) == (2, 1, False)
    assert "1 of 2 pairs have an unknown tier below the deciding one" in found.sentence()


def test_a_tier_that_the_order_leaves_out_makes_dominance_uncertain():
    found = dominance_pairs(steps_of(YES_NO), [*DEFAULT_ORDER.names, "care"])
    assert found.left_out == ("care",) and not found.certain
    assert found.sentence().endswith("the order leaves out care")


def test_three_options_make_three_pairs():
    options = [(1, 0, 0, 0), (0, 0, 0, 0), (0, None, 0, 0)]
    found = dominance_pairs(steps_of(options))
    # 1 over 2, 1 over 3 (unknown below); 2 and 3 cannot be compared
    assert (found.pairs, found.unknown_below) == (2, 1)
    assert not math.isnan(found.pairs)


def test_the_order_of_the_rollouts_changes_no_digit():
    answers = [
        a
        for i, pick in enumerate(["11", "12", "22", "21", "11", "12", "22"])
        for c in ("own", "context")
        for a in rollouts(f"c{i}", [YES_NO] * 2, ["11", pick if c == "own" else "12"], c)
    ]
    found = [
        contrasts(ChainTable.by_condition(order, DEFAULT_ORDER), Bootstrap(7))
        for order in (answers, answers[::-1], sorted(answers, key=lambda a: hash(a.chain_id)))
    ]
    assert found[0] == found[1] == found[2]
