"""Shuffles and the p-values made from them."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.scorers.stats.permutation import permutation_p, shuffled


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=12))
def test_values_stay_in_their_stratum(units):
    values = np.array([float(v) for v, _ in units])
    strata = [s for _, s in units]
    found = shuffled(values, strata, shuffles=20)
    for label in set(strata):
        members = [i for i, s in enumerate(strata) if s == label]
        assert (np.sort(found[:, members]) == np.sort(values[members])).all()


def test_all_orders_come_up_alike():
    found = shuffled(np.array([1.0, 2.0, 3.0]), shuffles=6000)
    orders, counts = np.unique(found, axis=0, return_counts=True)
    assert {tuple(o) for o in orders} == set(permutations((1.0, 2.0, 3.0)))
    assert abs(counts - 1000).max() < 150


def test_shuffles_are_seeded_and_leave_the_values_alone():
    values = np.arange(5.0)
    state = np.random.get_state()[1].copy()
    assert (shuffled(values, shuffles=9) == shuffled(values, shuffles=9)).all()
    assert (shuffled(values, shuffles=9) != shuffled(values, shuffles=9, seed=1)).any()
    assert (values == np.arange(5)).all()
    assert (np.random.get_state()[1] == state).all()


def test_p_counts_the_order_of_the_data():
    null = np.array([0.1, 0.2, 0.3, 0.4])
    assert permutation_p(0.35, null) == 2 / 5
    assert permutation_p(1.0, null) == 1 / 5  # never 0
    assert permutation_p(0.0, null) == 1
    assert permutation_p(0.4 + 1e-15, null) == 2 / 5  # the last bits make no difference
