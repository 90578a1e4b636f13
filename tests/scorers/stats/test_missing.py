"""How far missing values could move a mean difference, against sums by hand."""

import numpy as np
import pytest

from moral_evals.scorers.stats.missing import Bounds, mean_difference_bounds

NAN = np.nan


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [
        # nothing missing: (.5 - .2 + .9 - .4) / 2
        ([0.5, 0.9], [0.2, 0.4], 0.4, 0.4),
        # the second of a is 0 or 1: (.3 - .4) / 2 and (.3 + .6) / 2
        ([0.5, NAN], [0.2, 0.4], -0.05, 0.45),
        # the second of b is 1 or 0: (.3 - .1) / 2 and (.3 + .9) / 2
        ([0.5, 0.9], [0.2, NAN], 0.1, 0.6),
        # missing on both sides of one unit: (.3 - 1) / 2 and (.3 + 1) / 2
        ([0.5, NAN], [0.2, NAN], -0.35, 0.65),
        ([NAN], [NAN], -1.0, 1.0),
    ],
)
def test_bounds_of_a_difference(a, b, low, high):
    found = mean_difference_bounds(np.array(a), np.array(b))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.open == (low < high)


def test_other_ranges_and_no_units():
    found = mean_difference_bounds(np.array([1.0, NAN]), np.array([0.0, 2.0]), 0.0, 3.0)
    assert (found.low, found.high) == ((1 - 2) / 2, (1 + 1) / 2)
    assert not mean_difference_bounds(np.array([]), np.array([])).open
    assert not Bounds.unknown().open
