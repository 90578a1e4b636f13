"""Every figure of CORDA against a plain recomputation from the definition, on random data."""

import math
from dataclasses import replace

import pytest

from moral_evals.scorers.corda import contrasts
from moral_evals.scorers.corda.net_benefit import net_benefit, p_lex, tier_totals
from moral_evals.scorers.corda.order_scan import order_scan
from moral_evals.scorers.corda.summary import IntervalOptions, summarise
from moral_evals.scorers.corda.table import ChainTable
from moral_evals.scorers.stats.bootstrap import Interval
from tests.scorers.oracles import plain_contrasts as pairs
from tests.scorers.oracles import plain_corda as plain
from tests.scorers.oracles.made_chains import made, order_of, records
from tests.scorers.oracles.plain_bootstrap import Plain, drawn, plain_interval

SEEDS = range(18)
DRAWS = 40
OPTIONS = IntervalOptions(resamples=DRAWS, seed=3)


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, abs=1e-9, nan_ok=True)


def check(found: Interval, expected: Plain, counts, name: str) -> None:
    estimate, lower, upper, n, flag = plain_interval(expected, counts)
    assert (found.n, found.flag) == (n, flag), name
    for end, value in zip(
        (found.estimate, found.lower, found.upper), (estimate, lower, upper), strict=True
    ):
        assert same(end, value), (name, found, (estimate, lower, upper))


@pytest.mark.parametrize("seed", SEEDS)
def test_figures_of_an_arm_with_their_intervals(seed: int) -> None:
    data = made(seed)
    found = summarise(records(data), order_of(data), OPTIONS)
    counts = drawn(len(data.steps), DRAWS, 3)
    for arm in data.picks:
        for name, expected in plain.figures(data, arm).items():
            if name.startswith("agreement") and arm != "unconditioned":
                assert f"{arm}.{name}" not in found
            else:
                check(found[f"{arm}.{name}"], expected, counts, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_biases_and_counts(seed: int) -> None:
    data = made(seed)
    found = summarise(records(data), order_of(data), OPTIONS)
    steps = [options for chain in data.steps for options in chain]
    assert found["steps"].estimate == len(steps)
    assert found["informative_steps"].estimate == sum(map(plain.informative, steps))
    for arm in data.picks:
        expected = plain.biases(data, arm)
        for name, value in expected.items():
            assert same(found[f"{arm}.{name}"].estimate, value), name
        named = {n for n in found if n.startswith((f"{arm}.position_", f"{arm}.label_excess"))}
        assert named == {f"{arm}.{n}" for n in expected if n != "label_bias"}
        best, stated = plain.order_scan(data, arm)
        assert same(found[f"{arm}.order_scan_best"].estimate, best)
        assert found[f"{arm}.order_scan_stated"].estimate == stated


@pytest.mark.parametrize("seed", range(6))
def test_every_order_of_the_scan(seed: int) -> None:
    data = made(seed, tiers=3)
    table = ChainTable.by_condition(records(data), order_of(data))
    for arm, scan in order_scan(table).items():
        assert len(scan.values) == 6
        for order, value in scan.values.items():
            turned = data.reordered([int(name[1:]) for name in order.names])
            assert same(value, plain.figures(turned, arm)["lms"].estimate())


CONTRASTS = {
    "conditioning_effect": ("later", "own", "unconditioned"),
    "aa_check": ("first", "own", "unconditioned"),
    "drift_difference": ("drift", "own", "unconditioned"),
    "hysteresis": ("later", "best", "worst"),
    "bad_history_effect": ("later", "unconditioned", "worst"),
    "good_history_effect": ("later", "best", "unconditioned"),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_contrasts_with_their_intervals(seed: int) -> None:
    data = made(seed, arms=("unconditioned", "own", "best", "worst"))
    found = summarise(records(data), order_of(data), OPTIONS)
    counts = drawn(len(data.steps), DRAWS, 3)
    for name, (which, a, b) in CONTRASTS.items():
        check(found[name], pairs.contrasts(data, a, b)[which], counts, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_chains(seed: int) -> None:
    data = made(seed)
    found = summarise(records(data), order_of(data), OPTIONS)
    counts = drawn(len(data.steps), DRAWS, 3)
    benefit = pairs.net_benefit(data, "own", "unconditioned")
    check(found["net_benefit"], benefit, counts, "net_benefit")
    estimate, lower, upper, *_ = plain_interval(benefit, counts)
    for end, value in zip(("estimate", "lower", "upper"), (estimate, lower, upper), strict=True):
        odds = math.inf if value == 1 else (1 + value) / (1 - value)
        assert same(getattr(found["win_odds"], end), odds)
    shares = pairs.p_lex(data, "own", "unconditioned", counts)
    names = ("p_lex_better", "p_lex_worse", "p_lex_tie", "p_lex_left_out")
    for name, share in zip(names, shares, strict=True):
        assert same(found[name].estimate, share), name


@pytest.mark.parametrize("seed", range(10))
def test_models(seed: int) -> None:
    """The second model was given the first chains only; they alone take part."""
    data = made(seed, arms=("own", "best"), chains=5)
    first = [a for a in records(data) if a.condition == "own"]
    second = [
        replace(a, condition="own")
        for a in records(data)
        if a.condition == "best" and a.chain_id < "c3"
    ]
    table = contrasts.versus(first, second, order_of(data), "own")
    bootstrap, arms = OPTIONS.over(table), (table.arms["first"], table.arms["second"])
    ids = {a.chain_id for a in first} & {a.chain_id for a in second}
    both = data.only([i for i in range(5) if f"c{i}" in ids])
    counts = drawn(len(ids), DRAWS, 3)
    difference = bootstrap.interval(contrasts.mean_difference(*arms))
    check(difference, pairs.contrasts(both, "own", "best")["mean"], counts, "lms")
    benefit = bootstrap.interval(net_benefit(*arms))
    check(benefit, pairs.net_benefit(both, "own", "best"), counts, "net benefit")
    totals, left_out = tier_totals(*arms)
    ahead = p_lex(totals, bootstrap.counts(), left_out).better
    assert same(ahead, pairs.p_lex(both, "own", "best", counts)[0])


@pytest.mark.parametrize("seed", range(4))
def test_strata(seed: int) -> None:
    data = made(seed, chains=8)
    options = IntervalOptions(resamples=DRAWS, seed=3, within_strata=True, level=0.9)
    found = summarise(records(data), order_of(data), options)
    counts = drawn(8, DRAWS, 3, data.strata)
    expected = plain.figures(data, "own")["lms"]
    _, lower, upper, *_ = plain_interval(expected, counts, level=0.9)
    assert same(found["own.lms"].lower, lower)
    assert same(found["own.lms"].upper, upper)


def test_the_data_hold_what_they_should() -> None:
    """Ties at the top of three options, unknown values, uneven chains, gaps, unscored steps."""
    sets = [made(seed) for seed in SEEDS]
    steps = [o for data in sets for chain in data.steps for o in chain]
    tops = [plain.all_u(o) for o in steps if len(o) == 3 and plain.informative(o)]
    assert sum(u.count(max(u)) > 1 for u in tops) > 4
    assert sum(None in option for o in steps for option in o) > 20
    assert sum(not plain.informative(o) for o in steps) > 4
    assert sum(len({len(c) for c in data.steps}) > 1 for data in sets) > 8
    picks = [p for d in sets for arm in d.picks.values() for c in arm for s in c for p in s]
    assert picks.count("absent") > 20
    assert picks.count("unparsed") > 20
