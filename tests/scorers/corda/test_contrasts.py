import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest

from moral_evals.scorers.corda import contrasts as c
from moral_evals.scorers.corda.net_benefit import (
    lexicographic_sign,
    net_benefit,
    p_lex,
    tier_totals,
    win_odds,
)
from moral_evals.scorers.corda.order import DEFAULT_ORDER, TierOrder
from moral_evals.scorers.corda.records import ChainAnswer
from moral_evals.scorers.corda.table import Arm, ChainTable
from moral_evals.scorers.stats.bootstrap import Bootstrap, Interval, ratio
from moral_evals.scorers.stats.multiplicity import holm, p_value
from tests.scorers.corda.chain_examples import YES_NO, Vector, e12, rollouts

FOUR_RESAMPLES = np.array([[2, 0], [1, 1], [1, 1], [0, 2]])


def arms(answers: list[ChainAnswer], *names: str) -> list[Arm]:
    table = ChainTable.by_condition(answers, DEFAULT_ORDER)
    return [table.arms[name] for name in names]


def two_models(
    steps: Mapping[str, Sequence[Sequence[Vector]]], first: str, second: str
) -> list[Arm]:
    """Two models that choose these options at every step of every chain."""
    one, two = (
        [a for i, s in steps.items() for a in rollouts(i, s, [pick] * len(s))]
        for pick in (first, second)
    )
    return list(c.versus(one, two, DEFAULT_ORDER).arms.values())


def test_e12_own_minus_unconditioned() -> None:
    own, alone = arms(e12(), "own", "unconditioned")
    assert c.paired(own, alone) == pytest.approx(np.array([[1 / 4, -1 / 4], [-1 / 4, -1 / 3]]))
    assert c.later_difference(own, alone).estimate() == pytest.approx(-7 / 24, abs=1e-15)
    assert c.first_difference(own, alone).estimate() == 0
    assert c.drift_difference(own, alone).estimate() == pytest.approx(-7 / 24, abs=1e-15)
    benefit = net_benefit(own, alone)
    assert benefit.columns[:, 0].tolist() == [0, -1 / 2]
    assert benefit.estimate() == -1 / 4
    assert win_odds(Interval(-1 / 4, math.nan, 0, 2)).estimate == float(Fraction(3, 5))


def test_e12_totals() -> None:
    own, alone = arms(e12(), "own", "unconditioned")
    totals, left_out = tier_totals(own, alone)
    assert totals.tolist() == [[-1 / 8, 1 / 8, 1 / 8, 0], [0, -1 / 4, 3 / 8, -1 / 4]]
    assert left_out == 0
    verdict = p_lex(totals, FOUR_RESAMPLES)
    assert (verdict.better, verdict.worse, verdict.tie) == (0, 1, 0)


def test_e13_hysteresis() -> None:
    steps = [YES_NO] * 3
    answers = rollouts("c", steps, ["1111", "1111", "1112"], "best")
    answers += rollouts("c", steps, ["1111", "1122", "1112"], "worst")
    assert c.later_difference(*arms(answers, "best", "worst")).estimate() == 1 / 4


def test_e15_totals_on_the_four_resamples() -> None:
    verdict = p_lex(np.array([[0.0, 1.0], [-1.0, 2.0]]), FOUR_RESAMPLES)
    assert (verdict.better, verdict.worse, verdict.tie) == (1 / 4, 3 / 4, 0)


def test_e15b_net_benefit_and_total_disagree() -> None:
    small_gain: list[Vector] = [(0, 1, 0, 0), (0, 0, 0, 0)]
    grave_loss: list[Vector] = [(-1, 0, 0, 0), (0, 0, 0, 0)]
    steps = {f"c{i}": [small_gain if i else grave_loss] for i in range(10)}
    first, second = two_models(steps, "1", "2")
    assert net_benefit(first, second).estimate() == 0.8
    verdict = p_lex(tier_totals(first, second)[0], Bootstrap(10, resamples=20_000).counts())
    assert verdict.better == pytest.approx(0.9**10, abs=0.014)
    assert verdict.worse == pytest.approx(1 - 0.9**10, abs=0.014)


def test_e16_a_margin_lets_three_models_cycle() -> None:
    a, b, d = np.array([[0.50, 0.9], [0.58, 0.5], [0.66, 0.1]])
    assert [float(lexicographic_sign(x - y, 0.1)) for x, y in ((a, b), (b, d), (d, a))] == [1, 1, 1]


def test_sign_stops_at_an_unknown_tier() -> None:
    values = np.array([[np.nan, 1], [0, np.nan], [1, np.nan], [0, 0], [0, -2]])
    assert lexicographic_sign(values).tolist() == [0, 0, 1, 0, -1]


def test_thirds_and_fifths_that_cancel_are_a_tie() -> None:
    totals = np.array([[0.2], [0.2], [0.2], [-0.6]])
    assert totals.sum() != 0
    assert p_lex(totals, np.ones((1, 4), dtype=int)).tie == 1


def test_unknown_tiers_in_net_benefit_and_totals() -> None:
    steps: dict[str, list[list[Vector]]] = {
        # the same option twice is no difference, even where it is unknown
        "a": [[(0, None, 0, 0), (1, None, 0, 0)]],
        "b": [[(0, 0, 0, 0), (1, None, 0, 0)]],
    }
    first, second = two_models(steps, "2", "1")
    assert net_benefit(first, second).estimate() == 1
    totals, left_out = tier_totals(first, second)
    assert np.isnan(totals).all()
    assert left_out == 2
    assert math.isnan(p_lex(totals, FOUR_RESAMPLES, left_out).tie)
    same = two_models(steps, "2", "2")
    assert net_benefit(*same).estimate() == 0
    assert tier_totals(*same)[1] == 0


def test_only_answers_that_both_have_count() -> None:
    answers = rollouts("c", [YES_NO] * 2, ["1111", "11-2"], "own")
    answers += rollouts("c", [YES_NO] * 2, ["1111", "-222"], "unconditioned")
    answers += rollouts("d", [YES_NO] * 2, ["1111", "----"], "own")
    answers += rollouts("d", [YES_NO] * 2, ["2222", "1111"], "unconditioned")
    own, alone = arms(answers, "own", "unconditioned")
    effect = c.later_difference(own, alone)
    assert effect.estimate() == 1 / 2
    assert effect.units() == 1
    assert c.mean_difference(own, alone).estimate() == (1 / 4 + 1) / 2


def test_models_are_compared_on_shared_chains_in_one_condition() -> None:
    first = rollouts("a", [YES_NO], ["11"]) + rollouts("b", [YES_NO], ["11"])
    second = rollouts("a", [YES_NO], ["22"]) + rollouts("a", [YES_NO], ["11"], "own")
    table = c.versus(first, second, DEFAULT_ORDER)
    assert table.ids == ("a",)
    assert c.mean_difference(*table.arms.values()).estimate() == 1
    with pytest.raises(ValueError, match="no rollouts"):
        c.versus(first, [], DEFAULT_ORDER)


def test_win_odds_follow_the_interval() -> None:
    found = win_odds(Interval(0.5, -1, 1, 30))
    assert (found.estimate, found.lower, found.upper, found.n) == (3, 0, math.inf, 30)


def test_bounds_of_contrasts_serve_degenerate_data() -> None:
    steps = {f"c{i:02}": [YES_NO, YES_NO] for i in range(20)}
    same = two_models(steps, "1", "1")
    found = Bootstrap(20, resamples=100).interval(c.later_difference(*same))
    assert found.flag == "degenerate"
    assert (found.lower, found.upper) == pytest.approx((-0.139108, 0.139108), abs=1e-6)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    adjusted = holm([0.01, math.nan, 0.02])
    assert adjusted[::2] == pytest.approx([0.02, 0.02])
    assert math.isnan(adjusted[1])


@pytest.mark.parametrize("method", ["bca", "percentile", "t", "studentized"])
@pytest.mark.parametrize("shift", [0.0, 0.25, 0.35, 0.6])
def test_p_value_agrees_with_the_interval(method: str, shift: float) -> None:
    x = np.random.default_rng(1).normal(shift, 1, 40)
    statistic = ratio(x, bounds=(-math.inf, math.inf))
    bootstrap = Bootstrap(40, resamples=2_000, method=method)  # type: ignore[arg-type]
    found = bootstrap.interval(statistic)
    p = p_value(bootstrap, statistic)
    assert (p < 0.05) == (found.lower > 0 or found.upper < 0)
    assert bootstrap.interval(statistic) == found


def test_p_value_of_certain_data() -> None:
    bootstrap = Bootstrap(20, resamples=1_000)
    assert p_value(bootstrap, ratio(np.ones(20), bounds=(-1, 1))) == 1 / 1_001
    assert p_value(bootstrap, ratio(np.zeros(20), bounds=(-1, 1))) == 1
    assert math.isnan(p_value(Bootstrap(1), ratio(np.ones(1), bounds=(-1, 1))))


def test_another_order_turns_the_verdict() -> None:
    first = rollouts("c", [[(0, 0, 1, 0), (0, 0, 0, 1)]], ["1"])
    second = rollouts("c", [[(0, 0, 1, 0), (0, 0, 0, 1)]], ["2"])
    reverse = TierOrder(DEFAULT_ORDER.names[::-1])
    for order, sign in ((DEFAULT_ORDER, 1), (reverse, -1)):
        assert net_benefit(*c.versus(first, second, order).arms.values()).estimate() == sign


def test_net_benefit_is_bounded_by_one_on_either_side() -> None:
    steps = {f"c{i:02}": [YES_NO] for i in range(20)}
    benefit = net_benefit(*two_models(steps, "1", "1"))
    assert benefit.bounds == (-1, 1)


def test_the_margin_is_one_of_means_and_not_of_sums() -> None:
    totals, counts = np.array([[0.3], [0.3]]), np.array([[1, 1], [2, 0]])
    assert p_lex(totals, counts, margin=0.4).tie == 1
    assert p_lex(totals, counts, margin=0.2).better == 1
