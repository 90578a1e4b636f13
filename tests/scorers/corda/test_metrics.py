import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moral_evals.scorers.corda import metrics as m
from moral_evals.scorers.corda.metrics import chain_slope
from moral_evals.scorers.corda.order import DEFAULT_ORDER, TierOrder
from moral_evals.scorers.corda.order_scan import order_scan
from moral_evals.scorers.corda.records import ChainAnswer, StepRecord
from moral_evals.scorers.corda.table import ANSWER_KINDS, ChainTable
from moral_evals.scorers.stats.bootstrap import Statistic
from tests.scorers.corda.chain_examples import YES_NO, Vector, arm_of, e12, one_arm, rollouts


def is_exactly(statistic: Statistic, value: Fraction | float) -> bool:
    """Equal up to the last bits of a sum of thirds."""
    return math.isclose(statistic.estimate(), float(value), rel_tol=0, abs_tol=1e-15)


def test_e4_chain_score_and_bounds() -> None:
    arm = arm_of({"c": ["1121", "1-22"]})
    assert is_exactly(m.lms(arm), Fraction(13, 24))
    assert is_exactly(m.lms_lo(arm), Fraction(1, 2))
    assert is_exactly(m.lms_hi(arm), Fraction(5, 8))


@pytest.mark.parametrize(
    ("choices", "raw", "corrected"),
    [("1112", Fraction(1, 2), 0), ("1122", Fraction(1, 3), Fraction(-1, 3)), ("1111", 1, 1)],
)
def test_e8_agreement(choices: str, raw: Fraction, corrected: Fraction) -> None:
    arm = arm_of({"c": [choices]})
    assert is_exactly(m.agreement(arm), raw)
    assert is_exactly(m.agreement_corrected(arm), corrected)


def test_agreement_needs_two_answers_but_no_tiers() -> None:
    same = [(0, 0, 0, 0)] * 2
    arm = arm_of({"c": ["1---", "1-1-"]}, same)
    assert m.agreement(arm).estimate() == 1
    assert math.isnan(m.lms(arm).estimate())


@pytest.mark.parametrize(("x", "slope"), [([0.2, 0.4, 0.6], 0.4), ([1, 1, 0.5, 0.5, 0], -1)])
def test_e9_slope(x: list[float], slope: float) -> None:
    found = chain_slope(np.array([x]), np.array([len(x)]), (0, 1))
    assert found.estimate() == pytest.approx(slope, abs=1e-15)


def test_slope_uses_the_place_in_the_chain_and_its_steepest_value_bounds_it() -> None:
    x = np.array([[0.0, np.nan, 1.0, np.nan, np.nan], [0.5, np.nan, np.nan, np.nan, np.nan]])
    found = chain_slope(x, np.array([5, 5]), (0, 1))
    assert found.estimate() == pytest.approx(2)
    assert found.bounds == pytest.approx((-2, 2))
    assert found.units() == 1


E12_UNCONDITIONED = [
    (m.lms, Fraction(13, 16)),
    (m.lms_lo, Fraction(3, 4)),
    (m.lms_hi, Fraction(13, 16)),
    (m.lms_max, 1),
    (m.conflict_lms, Fraction(3, 4)),
    (m.dominance_lms, 1),
    (m.drift, Fraction(-1, 8)),
    (m.agreement, Fraction(17, 24)),
    (m.agreement_corrected, Fraction(5, 12)),
    (lambda arm: m.tier_won(arm, 0), Fraction(1, 2)),
    (lambda arm: m.tier_weight(arm, 0), Fraction(1, 4)),
    (lambda arm: m.tier_won(arm, 1), Fraction(7, 8)),
    (lambda arm: m.tier_weight(arm, 1), Fraction(1, 2)),
    (lambda arm: m.tier_weight(arm, 2), 0),
    (lambda arm: m.tier_won(arm, 3), 1),
    (lambda arm: m.tier_weight(arm, 3), Fraction(1, 4)),
    (m.undecided_weight, 0),
    (lambda arm: m.missing(arm, "unparsed"), Fraction(1, 16)),
    (lambda arm: m.breach(arm, 1), Fraction(1, 2)),
]


@pytest.mark.parametrize(("figure", "value"), E12_UNCONDITIONED)
def test_e12_unconditioned(figure, value) -> None:  # type: ignore[no-untyped-def]
    assert is_exactly(figure(one_arm(e12("unconditioned"))), value)


def test_e12_chain_scores() -> None:
    assert m.chain_scores(one_arm(e12("unconditioned"))).tolist() == [5 / 8, 1]
    assert m.chain_scores(one_arm(e12("own"))).tolist() == [5 / 8, 3 / 4]


def test_e12_own() -> None:
    arm = one_arm(e12("own"))
    assert is_exactly(m.lms(arm), Fraction(11, 16))
    assert is_exactly(m.drift(arm), Fraction(-3, 8))


def test_e12_order_scan() -> None:
    scan = order_scan(ChainTable.by_condition(e12(), DEFAULT_ORDER))["unconditioned"]
    values = list(scan.values.values())
    assert (values.count(13 / 16), values.count(7 / 16), len(values)) == (12, 12, 24)
    assert scan.best == scan.stated == DEFAULT_ORDER


def test_order_scan_is_for_five_tiers_at_most() -> None:
    order = TierOrder(tuple("abcdef"))
    with pytest.raises(ValueError, match="at most 5"):
        order_scan(ChainTable.by_condition(e12_renamed(order), order))


def e12_renamed(order: TierOrder) -> list[ChainAnswer]:
    def renamed(step: StepRecord) -> StepRecord:
        return replace(step, options={o: dict.fromkeys(order.names, 0.0) for o in step.options})

    return [replace(a, steps=tuple(map(renamed, a.steps))) for a in e12("own")]


def test_breach_counts_only_steps_where_the_top_tier_decides() -> None:
    arm = one_arm(
        rollouts("a", [YES_NO], ["1222"])
        + rollouts("b", [YES_NO], ["11--"])
        + rollouts("c", [[(0, 0, 1, 0), (0, 0, 0, 0)]], ["2222"])
    )
    assert is_exactly(m.breach(arm, 0), Fraction(3, 6))
    assert m.breach(arm, 0).units() == 2


def test_breach_with_three_options_is_losing_any_pair_of_the_top_tier() -> None:
    step = [(1, 0, 0, 0), (0, 0, 0, 0), (-1, 0, 0, 0)]
    assert is_exactly(m.breach(arm_of({"c": ["112233"]}, step), 0), Fraction(4, 6))


def test_ceiling_is_below_one_where_three_options_tie_at_the_top() -> None:
    step = [(1, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 0)]
    arm = arm_of({"c": ["112"]}, step)
    assert m.lms(arm).estimate() == m.lms_max(arm).estimate() == 3 / 4


def test_an_invalid_step_leaves_the_chain_score_and_shows_in_the_rates() -> None:
    (answer,) = rollouts("c", [YES_NO] * 3, ["1", "-", "1"])
    first, second, third = answer.steps
    arm = one_arm([replace(answer, steps=(first, replace(second, status="refused"), third))])
    assert m.lms(arm).estimate() == 1
    assert is_exactly(m.lms_lo(arm), Fraction(2, 3))
    rates = {kind: m.missing(arm, kind).estimate() for kind in ANSWER_KINDS}
    assert rates == {k: {"answered": 2 / 3, "refused": 1 / 3}.get(k, 0) for k in ANSWER_KINDS}


def test_a_lost_rollout_is_a_missing_answer() -> None:
    answers = rollouts("a", [YES_NO], ["1111"]) + rollouts("b", [YES_NO], ["1111"])[:3]
    arm = one_arm(answers)
    assert is_exactly(m.missing(arm, "absent"), Fraction(1, 8))
    assert is_exactly(m.lms_lo(arm), Fraction(7, 8))


def test_a_shorter_chain_has_no_missing_steps() -> None:
    arm = one_arm(rollouts("a", [YES_NO] * 3, ["1"] * 3) + rollouts("b", [YES_NO], ["2"]))
    assert m.lms(arm).estimate() == 1 / 2
    assert m.missing(arm, "absent").estimate() == 0
    assert m.drift(arm).units() == 1


def test_all_answers_missing() -> None:
    arm = arm_of({"a": ["----"], "b": ["----"]})
    assert math.isnan(m.lms(arm).estimate())
    assert (m.lms_lo(arm).estimate(), m.lms_hi(arm).estimate()) == (0, 1)
    assert m.missing(arm, "unparsed").estimate() == 1


LEVELS = st.sampled_from([-1, 0, 1, None])


@st.composite
def data_sets(draw: st.DrawFn) -> list[ChainAnswer]:
    answers: list[ChainAnswer] = []
    for i in range(draw(st.integers(1, 4))):
        steps: list[list[Vector]] = draw(
            st.lists(
                st.lists(st.tuples(*[LEVELS] * 4), min_size=2, max_size=4), min_size=1, max_size=3
            )
        )
        choices = [
            "".join(draw(st.sampled_from([*map(str, range(1, len(s) + 1)), "-"])) for _ in range(3))
            for s in steps
        ]
        answers += rollouts(f"c{i}", steps, choices)
    return answers


@settings(deadline=None, max_examples=60)
@given(data_sets())
def test_lms_is_the_sum_of_its_tier_profile(answers: list[ChainAnswer]) -> None:
    arm = one_arm(answers)
    score = m.lms(arm).estimate()
    if math.isnan(score):
        return
    parts = [
        m.tier_weight(arm, t).estimate() * np.nan_to_num(m.tier_won(arm, t).estimate())
        for t in range(4)
    ]
    undecided = m.undecided_weight(arm).estimate()
    assert score == pytest.approx(sum(parts) + undecided / 2, abs=1e-12)
    weights = sum(m.tier_weight(arm, t).estimate() for t in range(4)) + undecided
    assert weights == pytest.approx(1, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(data_sets())
def test_scores_stay_in_their_bounds(answers: list[ChainAnswer]) -> None:
    arm = one_arm(answers)
    score, top = m.lms(arm).estimate(), m.lms_max(arm).estimate()
    lo, hi = m.lms_lo(arm).estimate(), m.lms_hi(arm).estimate()
    if not math.isnan(score):
        assert -1e-12 <= score <= top + 1e-12 <= 1 + 2e-12
    if not math.isnan(lo):
        assert 0 <= lo <= hi <= 1
    for figure in (m.conflict_lms, m.dominance_lms):
        share = figure(arm).estimate()
        assert math.isnan(share) or 0 <= share <= 1 + 1e-12


def test_order_of_the_rollouts_is_no_matter() -> None:
    answers = e12("own")[:5]
    scores = {m.lms(one_arm(p)).estimate() for p in permutations(answers)}
    assert len(scores) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"chosen": None}, "status 'answered' with chosen option None"),
        ({"chosen": "o9"}, "not among o1, o2"),
        ({"status": "lost"}, "unknown status"),
        ({"shown": ("o1", "o1")}, "not the options"),
        ({"labels": ("G", "G")}, "distinct"),
        ({"index": -1}, "index"),
    ],
)
def test_contradictory_records_are_refused(change: dict[str, Any], words: str) -> None:
    step = e12("own")[0].steps[0]
    with pytest.raises(ValueError, match=words):
        replace(step, **change)


def test_rollouts_that_do_not_fit_together_are_refused() -> None:
    first, *rest = e12("own")
    with pytest.raises(ValueError, match="given twice"):
        one_arm([first, first, *rest])
    other = rollouts("c1", [YES_NO, YES_NO], ["11", "11"], "own")[1]
    with pytest.raises(ValueError, match="disagree on step 0"):
        one_arm([first, other])
    with pytest.raises(ValueError, match="different strata"):
        one_arm(
            rollouts("c", [YES_NO], ["11"], stratum="a")[:1]
            + rollouts("c", [YES_NO], ["11"], stratum="b")[1:]
        )
    with pytest.raises(ValueError, match="no rollouts"):
        ChainTable.by_condition([], DEFAULT_ORDER)


def test_share_of_places_without_an_answer_over_several_arms() -> None:
    # three of eight places, and one of four
    arms = [arm_of({"a": ["1--2"], "b": ["12-1"]}), arm_of({"a": ["121-"]})]
    assert m.missing_share(arms) == 4 / 12
    assert m.missing_share(arms[1:]) == 1 / 4
    no_place = one_arm([ChainAnswer("a", "", "own", 0, ())])
    assert math.isnan(m.missing_share([no_place]))
