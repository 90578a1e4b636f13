"""Agreement figures against numbers worked out by hand, and against scikit-style formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.scorers.stats import agreement as a
from moral_evals.scorers.stats.agreement import JudgedPair
from moral_evals.scorers.stats.bootstrap import Bootstrap


def table(*rows: tuple[int, int, int, int]) -> np.ndarray:
    """Counts by unit: (yes, yes), (yes, no), (no, yes), (no, no) as (label, verdict)."""
    return np.array(rows, dtype=float)


def test_a_confusion_worked_out_by_hand():
    # 20 pairs: 8 right yes, 2 missed, 3 false alarms, 7 right no, in two texts
    found = table((5, 1, 1, 3), (3, 1, 2, 4))
    yes = 2 * 8 / (2 * 8 + 5)
    no = 2 * 7 / (2 * 7 + 5)
    assert a.macro_f1(found).estimate() == pytest.approx((yes + no) / 2)
    assert a.accuracy(found).estimate() == pytest.approx(15 / 20)
    chance = (10 / 20) * (11 / 20) + (10 / 20) * (9 / 20)
    assert a.kappa(found).estimate() == pytest.approx((0.75 - chance) / (1 - chance))
    assert a.yes_bias(found).estimate() == pytest.approx(1 / 20)
    assert a.base_rate(found).estimate() == pytest.approx(1 / 2)


def test_the_minimum_is_that_of_the_worst_category():
    good, bad = table((4, 0, 0, 4), (0, 0, 0, 0)), table((0, 0, 0, 0), (2, 2, 2, 2))
    assert a.minimum_macro_f1([good, bad]).estimate() == pytest.approx(0.5)
    assert a.macro_f1(good).estimate() == 1


def test_ungraded_pairs_are_in_no_cell():
    pairs = [
        JudgedPair(0, "yes", "yes"),
        JudgedPair(0, "yes", "ungraded"),
        JudgedPair(1, "no", "yes"),
    ]
    assert a.counts(pairs, 2).tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]


def test_intervals_resample_texts():
    found = table(*[(3, 1, 1, 3)] * 6, *[(1, 3, 3, 1)] * 6)
    interval = Bootstrap(12).interval(a.macro_f1(found))
    assert interval.n == 12
    assert interval.lower < interval.estimate < interval.upper


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=8))
def test_figures_stay_in_their_ranges(rows):
    found = table(*rows)
    for figure in (a.macro_f1, a.kappa, a.accuracy, a.yes_bias, a.base_rate):
        statistic = figure(found)
        value = statistic.estimate()
        assert np.isnan(value) or statistic.bounds[0] <= value <= statistic.bounds[1]
