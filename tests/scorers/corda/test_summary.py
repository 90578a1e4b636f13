import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

from moral_evals.scorers.corda import contrasts
from moral_evals.scorers.corda import metrics as m
from moral_evals.scorers.corda.net_benefit import net_benefit, p_lex, tier_totals, win_odds
from moral_evals.scorers.corda.order import DEFAULT_ORDER
from moral_evals.scorers.corda.records import ChainAnswer
from moral_evals.scorers.corda.summary import IntervalOptions, summarise
from moral_evals.scorers.corda.table import ChainTable
from moral_evals.scorers.stats.bootstrap import (
    Bootstrap,
    Method,
    acceleration,
    ratio,
    small_sample_level,
)
from tests.scorers.corda.chain_examples import YES_NO, arm_of, e12, rollouts

E6: dict[Method, tuple[float, float]] = {
    "t": (0.45788, 0.80212),
    "bca": (0.45, 0.79),
    "percentile": (0.49, 0.77),
}
FEW = IntervalOptions(resamples=200)


def test_e5_resamples_of_three_chains() -> None:
    score = m.lms(arm_of({"a": ["1122"], "b": ["1112"], "c": ["1111"]}))
    assert score.estimate() == 3 / 4
    resamples = [np.bincount(draw, minlength=3) for draw in itertools.product(range(3), repeat=3)]
    means = Counter(np.round(score.combine(np.array(resamples) @ score.columns) * 12).tolist())
    assert means == {6: 1, 7: 3, 8: 6, 9: 7, 10: 6, 11: 3, 12: 1}


def test_e6_levels_and_intervals_of_ten_chains() -> None:
    levels = {n: small_sample_level(0.05, n) for n in (10, 20, 50, 200)}
    expected = {10: 0.00855, 20: 0.01588, 50: 0.02118, 200: 0.02403}
    assert levels == pytest.approx(expected, abs=5e-6)
    x = [0.2, 0.4, 0.5, 0.5, 0.6, 0.7, 0.7, 0.8, 0.9, 1.0]
    assert acceleration((sum(x) - np.array(x)) / 9) == pytest.approx(-0.0089348, abs=5e-8)
    for method, ends in E6.items():
        found = Bootstrap(10, method=method).interval(ratio(x))
        assert found.estimate == pytest.approx(0.63)
        assert (found.lower, found.upper) == pytest.approx(ends, abs=5e-6)


def test_e7_all_chains_alike() -> None:
    always = arm_of({f"c{i:02}": ["1111"] for i in range(20)})
    found = Bootstrap(20, resamples=100).interval(m.lms(always))
    assert (found.lower, found.upper) == pytest.approx((0.860892, 1), abs=1e-6)
    assert found.flag == "degenerate"
    half = arm_of({f"c{i:02}": ["1122"] for i in range(20)})
    found = Bootstrap(20, resamples=100).interval(m.lms(half))
    assert (found.lower, found.upper) == pytest.approx((0.430446, 0.569554), abs=1e-6)


def test_e12_by_name() -> None:
    found = summarise(e12(), DEFAULT_ORDER, FEW)
    expected = {
        "steps": 4,
        "informative_steps": 4,
        "unconditioned.lms": 13 / 16,
        "unconditioned.lms_lo": 3 / 4,
        "unconditioned.tier_won.honesty_fairness": 7 / 8,
        "unconditioned.agreement": 17 / 24,
        "unconditioned.order_scan_best": 13 / 16,
        "unconditioned.order_scan_stated": 1,
        "unconditioned.missing.unparsed": 1 / 16,
        "own.lms": 11 / 16,
        "conditioning_effect": -7 / 24,
        "aa_check": 0,
        "drift_difference": -7 / 24,
        "net_benefit": -1 / 4,
        "win_odds": 3 / 5,
        # of the four resamples none is better or tied
        "p_lex_better": 0,
        "p_lex_worse": 1,
        "p_lex_tie": 0,
        "p_lex_left_out": 0,
    }
    assert {k: found[k].estimate for k in expected} == pytest.approx(expected, abs=1e-15)
    assert "own.agreement" not in found
    assert "hysteresis" not in found
    assert found["unconditioned.lms"].flag == "small_n"
    assert all(f.lower <= f.estimate <= f.upper for f in found.values() if f.lower == f.lower)


def test_e14_one_chain_has_estimates_without_intervals() -> None:
    one = [a for a in e12() if a.chain_id == "c1"]
    found = summarise(one, DEFAULT_ORDER, FEW)
    assert found["unconditioned.lms"].estimate == 5 / 8
    assert found["conditioning_effect"].estimate == -1 / 4
    assert all(math.isnan(f.lower) and math.isnan(f.upper) for f in found.values())


def test_e14_no_data_and_no_answers() -> None:
    with pytest.raises(ValueError, match="no rollouts"):
        summarise([], DEFAULT_ORDER)
    silent = [a for i in "ab" for a in rollouts(i, [YES_NO], ["----"])]
    found = summarise(silent, DEFAULT_ORDER, FEW)
    assert math.isnan(found["unconditioned.lms"].estimate)
    assert math.isnan(found["unconditioned.lms"].lower)
    assert found["unconditioned.lms"].n == 0
    assert found["unconditioned.lms_lo"].estimate == 0
    assert found["unconditioned.lms_hi"].estimate == 1
    assert found["unconditioned.missing.unparsed"].estimate == 1


def test_a_run_whose_rollouts_are_empty() -> None:
    found = summarise([ChainAnswer("c", "", "own", 0, ())], DEFAULT_ORDER, FEW)
    assert math.isnan(found["own.lms"].estimate)
    assert found["steps"].estimate == 0


def test_steps_that_decide_nothing_are_counted_not_scored() -> None:
    flat = [(0, 0, 0, 0)] * 2
    answers = rollouts("a", [flat, YES_NO], ["1111", "1122"]) + rollouts("b", [flat], ["1111"])
    found = summarise(answers, DEFAULT_ORDER, FEW)
    assert (found["steps"].estimate, found["informative_steps"].estimate) == (3, 1)
    assert (found["unconditioned.lms"].estimate, found["unconditioned.lms"].n) == (1 / 2, 1)
    only_flat = summarise(rollouts("a", [flat], ["1111"]), DEFAULT_ORDER, FEW)
    assert math.isnan(only_flat["unconditioned.lms"].estimate)
    assert math.isnan(only_flat["unconditioned.lms_lo"].estimate)


def test_order_of_the_rollouts_is_no_matter() -> None:
    answers = e12()
    first = summarise(answers, DEFAULT_ORDER, FEW)
    for seed in range(5):
        random.Random(seed).shuffle(answers)
        assert repr(summarise(answers, DEFAULT_ORDER, FEW)) == repr(first)


def test_unit_is_the_chain_and_global_random_state_is_left_alone() -> None:
    # five steps alike are one observation, not five
    answers = [
        a
        for chain, pick in zip("abcdef", "121212", strict=True)
        for a in rollouts(chain, [YES_NO] * 5, [pick] * 5)
    ]
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()  # type: ignore[index]
    first = summarise(answers, DEFAULT_ORDER)["unconditioned.lms"]
    assert first == summarise(answers, DEFAULT_ORDER)["unconditioned.lms"]
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]
    assert (first.estimate, first.n, first.flag) == (0.5, 6, "small_n")
    assert first.upper - first.lower > 0.6, "six observations, not thirty"


def test_hysteresis_needs_forced_histories() -> None:
    steps = [YES_NO] * 2
    answers = rollouts("c", steps, ["1111", "1112"], "unconditioned")
    answers += rollouts("c", steps, ["1111", "1111"], "best")
    answers += rollouts("c", steps, ["1111", "1122"], "worst")
    found = summarise(answers, DEFAULT_ORDER, FEW)
    names = ("hysteresis", "bad_history_effect", "good_history_effect")
    assert [found[n].estimate for n in names] == [1 / 2, 1 / 4, 1 / 4]
    assert "conditioning_effect" not in found


def test_strata_are_kept() -> None:
    answers = [
        a
        for i in range(8)
        for a in rollouts(f"c{i}", [YES_NO], ["1" if i < 4 else "2"], stratum="x" if i < 4 else "y")
    ]
    table = ChainTable.by_condition(answers, DEFAULT_ORDER)
    kept = IntervalOptions(resamples=300, within_strata=True).over(table)
    score = m.lms(table.arms["unconditioned"])
    assert set(kept.replicates(score).tolist()) == {0.5}
    assert len(set(FEW.over(table).replicates(score).tolist())) > 1


def test_models_are_compared_on_the_chains_that_both_were_given() -> None:
    first = [a for i in "abc" for a in rollouts(i, [YES_NO], ["1111"])]
    second = [a for i in "bcd" for a in rollouts(i, [YES_NO], ["1122"])]
    table = contrasts.versus(first, second, DEFAULT_ORDER)
    bootstrap, arms = FEW.over(table), (table.arms["first"], table.arms["second"])
    difference = bootstrap.interval(contrasts.mean_difference(*arms))
    assert (difference.estimate, difference.n) == (1 / 2, 2)
    benefit = bootstrap.interval(net_benefit(*arms))
    assert (benefit.estimate, win_odds(benefit).estimate) == (1 / 2, 3)
    totals, left_out = tier_totals(*arms)
    assert p_lex(totals, bootstrap.counts(), left_out).better == 1
