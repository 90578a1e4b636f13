"""A quick run of the simulation in `benchmarks/`: the bounds, with room for its noise."""

import pytest

from benchmarks import verdict_errors as v

SETS = 300
ROOM = 3 * (0.06 * 0.94 / SETS) ** 0.5


@pytest.mark.parametrize("figure", v.ALIKE)
def test_alike_models_are_rarely_told_apart(figure):
    found = v.errors(lambda rng, n: v.ALIKE[figure](rng, n, 2), 20, SETS, seed=7)
    assert found.any_word <= 0.06 + ROOM
    assert found.higher == 0, "twenty units carry no higher"


def test_five_alike_models_are_rarely_told_apart():
    found = v.errors(lambda rng, n: v.regular(rng, n, 5), 10, 100, seed=7)
    assert found.any_word <= 0.06 + 3 * (0.06 * 0.94 / 100) ** 0.5


@pytest.mark.parametrize("rate", [0.05, 0.15])
def test_a_rare_large_loss_is_rarely_called_higher(rate):
    found = v.errors(lambda rng, n: v.unlike(rng, n, 2, rate), 52, SETS, seed=7)
    assert found.higher <= 0.10 + ROOM


def test_a_net_benefit_of_0_is_rarely_called_anything():
    found = v.errors(lambda rng, n: v.null_benefit(rng, n, 2, 0.35), 30, SETS, seed=7)
    assert found.any_word <= 0.06 + ROOM


def test_a_true_difference_is_found():
    """The simulation can fail: what differs is called higher nearly always."""

    def shifted(rng, n):
        a, b = v._rubric(rng, n, 2)[0]
        return [v.of_sides(v.ratio(a), v.ratio(b - 0.15))]

    assert v.errors(shifted, 52, 50, seed=7).higher > 0.9
