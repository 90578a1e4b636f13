"""The three tests of a paired difference, each against a plain reading of its definition."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from moral_evals.scorers.rubric.scenario_table import hard_score
from moral_evals.scorers.stats.bootstrap import Bootstrap, difference, ratio
from moral_evals.scorers.stats.multiplicity import ALPHA, holm, p_value, verdict_word
from moral_evals.scorers.stats.paired import (
    FLIPS,
    flip_test,
    of_differences,
    of_sides,
    paired_test,
    pseudo_values,
    rare_large_loss,
    t_test,
)
from moral_evals.scorers.stats.permutation import permutation_p
from moral_evals.scorers.stats.pvalue import PValue
from tests.reports import by_hand

SIGNED = (-1.0, 1.0)


def mean(values):
    return of_differences(ratio(values, bounds=SIGNED))


# --- sign flips ---------------------------------------------------------------------------------


def test_flips_of_three_units_by_hand():
    # sums of +-1 +-2 +-4: 7 and -7 reach 7; 5 and more than 5 in size: 5, 7 and their mirror images
    assert flip_test(mean([0.1, 0.2, 0.4])) == 2 / 8
    assert flip_test(mean([-0.1, 0.2, 0.4])) == 4 / 8


def test_units_without_a_difference_need_no_flip():
    assert flip_test(mean([0.1, 0.2, 0.4, *[0.0] * 40])) == 2 / 8
    assert flip_test(mean([0.0] * 20)) == 1


@pytest.mark.parametrize("n", [4, 9, 14])
def test_up_to_14_units_all_signs_are_tried(n):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    sums = [abs(np.dot(s, d)) for s in product([-1, 1], repeat=n)]
    assert flip_test(mean(d)) == np.mean(np.array(sums) >= abs(d.sum()) - 1e-12)


def test_more_units_take_seeded_flips_with_the_data_among_them():
    d = np.random.default_rng(0).normal(0.3, 1, 15)
    rng = np.random.Generator(np.random.PCG64(0))
    signs = 1 - 2.0 * rng.integers(0, 2, size=(FLIPS, 15), dtype=np.uint8)
    reached = np.count_nonzero(np.abs(signs @ d) >= abs(d.sum()) - 1e-12)
    assert flip_test(mean(d)) == (1 + reached) / (1 + FLIPS)
    assert flip_test(mean(np.full(40, 0.5))) == 1 / (1 + FLIPS)
    assert flip_test(mean(d), seed=1) != flip_test(mean(d))


def test_a_ratio_is_computed_anew_after_each_exchange():
    rng = np.random.default_rng(3)
    score, length = rng.random((2, 7)), rng.uniform(500, 3000, (2, 7))
    pair = of_sides(*(hard_score(s, c) for s, c in zip(score, length, strict=True)))
    seen = []
    for turn in product([0, 1], repeat=7):
        a, b = (np.array(turn) ^ side for side in (0, 1))
        at = np.arange(7)
        seen.append(
            score[a, at].sum() / length[a, at].sum() - score[b, at].sum() / length[b, at].sum()
        )
    assert flip_test(pair) == np.mean(np.abs(seen) >= abs(seen[0]) - 1e-15)


# --- t ------------------------------------------------------------------------------------------


def test_t_of_a_mean_is_the_paired_t():
    a, b = np.random.default_rng(1).random((2, 25))
    for pair in (mean(a - b), of_sides(ratio(a), ratio(b))):
        assert pseudo_values(pair.statistic) == pytest.approx(a - b)
        assert paired_test(Bootstrap(25), pair).t == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_t_of_a_ratio_is_on_jackknife_pseudo_values():
    top, bottom = np.random.default_rng(2).random((2, 12))
    statistic = difference(ratio(top, bottom), ratio(bottom))
    whole = top.sum() / bottom.sum() - bottom.mean()
    left = np.array(
        [
            np.delete(top, i).sum() / np.delete(bottom, i).sum() - np.delete(bottom, i).mean()
            for i in range(12)
        ]
    )
    pseudo = 12 * whole - 11 * left
    assert pseudo_values(statistic) == pytest.approx(pseudo)
    assert t_test(pseudo_values(statistic)) == pytest.approx(stats.ttest_1samp(pseudo, 0).pvalue)


def test_t_of_values_that_are_alike():
    assert t_test(np.zeros(9)) == 1
    assert t_test(np.full(9, 0.3)) == 0


# --- the bootstrap's p in closed form -------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 40), st.floats(0, 3), st.booleans())
def test_p_is_where_the_interval_first_leaves_out_zero(seed, n, power, turned):
    values = np.random.default_rng(seed).exponential(size=n) ** power - 0.8
    statistic = ratio(-values if turned else values, bounds=(-math.inf, math.inf))
    bootstrap = Bootstrap(n, resamples=400)
    p, least = p_value(bootstrap, statistic), max(1 / 401, 2.0 ** (1 - n))
    # near p = 1 both ends are the same order statistic
    if least + 1e-9 < p < 0.9:
        within = bootstrap.interval(statistic, 1 - p * 0.9999)
        assert within.flag == "degenerate" or (within.lower <= 1e-9 and within.upper >= -1e-9)
    if p < 1 - 1e-9:
        beyond = bootstrap.interval(statistic, 1 - min(1, p * 1.0001))
        assert beyond.flag == "degenerate" or beyond.leaves_out_zero


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.4])
def test_p_is_that_of_halving_by_hand(shift):
    d = np.random.default_rng(5).exponential(size=24) - 1 + shift
    figure = by_hand.share(d)
    statistic = ratio(d, bounds=(-math.inf, math.inf))
    expected = by_hand.p_value(figure, 24)
    assert p_value(Bootstrap(24), statistic) == pytest.approx(expected, abs=by_hand.RESOLUTION)


# --- together -------------------------------------------------------------------------------------


def test_p_is_the_largest_and_its_test_is_named():
    d = np.random.default_rng(4).normal(0.4, 1, 20)
    found = paired_test(Bootstrap(20), mean(d))
    parts = {"bootstrap": found.bootstrap, "sign flips": found.flips, "paired t": found.t}
    assert found.p == max(parts.values()) == parts[found.strictest]
    assert len(set(parts.values())) == 3


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.floats(-1, 1))
def test_stopping_early_changes_no_word(seed, n, shift):
    d = np.clip(np.random.default_rng(seed).normal(shift, 0.6, n), -1, 1)
    whole, quick = (
        paired_test(Bootstrap(n, resamples=500), mean(d), enough=e) for e in (math.inf, ALPHA)
    )
    assert (quick.p >= ALPHA) == (whole.p >= ALPHA)
    assert quick.p <= whole.p
    if whole.p < ALPHA:
        assert quick == whole


def test_one_unit_is_not_tested():
    found = paired_test(Bootstrap(1), mean([0.5]))
    assert math.isnan(found.p) and found.n == 1
    assert verdict_word(1, found.p) == "not tested"


@pytest.mark.parametrize("n", [6, 12, 40])
def test_data_alike_go_by_one_rule_whatever_the_figure(n):
    """Two logs with the same scores: Regular and Hard say the same (A 10)."""
    scores, lengths = np.linspace(0.2, 0.9, n), np.linspace(500, 3000, n)
    regular = of_sides(ratio(scores), ratio(scores))
    hard = of_sides(*[hard_score(scores, lengths)] * 2)
    bootstrap = Bootstrap(n)
    assert paired_test(bootstrap, regular).p == paired_test(bootstrap, hard).p == 1
    a, b = (bootstrap.interval(pair.statistic) for pair in (regular, hard))
    assert a.flag == b.flag == "degenerate"
    reach = 1 - 0.05 ** (1 / n)
    assert (a.lower, a.upper) == pytest.approx((-reach, reach))
    most = 1000 / lengths.mean()
    assert (b.lower, b.upper) == pytest.approx((-reach * most, reach * most))
    if n == 6:
        assert reach == pytest.approx(0.393, abs=5e-4)


def test_equal_differences_are_as_sure_as_so_many_signs():
    found = paired_test(Bootstrap(12), mean(np.ones(12)))
    assert found.p == 2 / 2**12
    assert verdict_word(12, found.p) == "leans"
    # a twentieth in all of twelve chains could still be -1 in a few others
    small = paired_test(Bootstrap(12), mean(np.full(12, 0.05)))
    assert small.p == pytest.approx((1 / 1.05) ** 12)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "p", "word"),
    [(2, 0.001, "too few units"), (9, 0.001, "too few units"), (10, 0.001, "leans"),
     (29, 0.001, "leans"), (30, 0.001, "higher"), (30, 0.049, "higher"),
     (30, 0.05, "no difference shown"), (30, math.nan, "not tested")],
)  # fmt: skip
def test_words_go_by_units(n, p, word):
    assert verdict_word(n, p) == word


def test_a_rare_large_loss_leaves_a_leaning():
    wins = np.linspace(0.02, 0.04, 60)
    for losses, rare in (
        ([-0.8], True),
        ([-0.8, -0.05], True),
        ([-0.8, -0.03], False),  # one is no larger than every win
        ([-0.8] * 3, False),
        ([], False),
    ):
        values = np.array([*wins, *[0.0] * 200, *losses])
        assert (
            rare_large_loss(values)
            == rare_large_loss(-values)
            == (rare if values.mean() > 0 else False)
        )
    assert verdict_word(60, 0.001, rare_loss=True) == "leans"


def test_498_small_wins_against_two_losses_no_larger_are_higher():
    values = np.array([0.05] * 498 + [-0.05] * 2)
    found = paired_test(Bootstrap(500), mean(values))
    assert not found.rare_loss
    assert verdict_word(found.n, found.p, rare_loss=found.rare_loss) == "higher"
    values[-2:] = -0.06
    found = paired_test(Bootstrap(500), mean(values))
    assert verdict_word(found.n, found.p, rare_loss=found.rare_loss) == "leans"


# --- p-values print themselves ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "<0.001"), (0.00099, "<0.001"), (0.001, "0.001"), (0.0421, "0.042"), (1.0, "1.000"),
     (math.nan, "–")],
)  # fmt: skip
def test_a_p_value_as_text(p, text):
    assert str(PValue(p)) == f"{PValue(p)}" == text


def test_all_that_make_p_values_return_the_type_that_prints_itself():
    found = paired_test(Bootstrap(20), mean(np.linspace(-0.1, 0.5, 20)))
    made = [found.p, found.t, found.flips, found.bootstrap, *holm([0.01, math.nan, 0.2])]
    made.append(permutation_p(1.0, np.zeros(9)))
    assert {type(p) for p in made} == {PValue}
