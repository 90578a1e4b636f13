"""Section 5: responders whose figures are known, on 400 chains of 5 two-option steps, S = 4."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from moral_evals.loaders.corda.rollouts import draw_labels, layout
from moral_evals.scorers.corda import bias as b
from moral_evals.scorers.corda import metrics as m
from moral_evals.scorers.corda.order import (
    DEFAULT_ORDER,
    TierOrder,
    Tiers,
    best_options,
    worst_options,
)
from moral_evals.scorers.corda.order_scan import OrderScan, order_scan
from moral_evals.scorers.corda.records import ChainAnswer, StepRecord
from moral_evals.scorers.corda.table import Arm, ChainTable
from moral_evals.scorers.stats.bootstrap import Statistic

CHAINS, STEPS, SHUFFLES = 400, 5, 4
WELFARE_FIRST = TierOrder(("welfare", "rights_harm", "honesty_fairness", "convention"))

Shown = list[tuple[int, str]]
Responder = Callable[[list[Tiers], Shown, random.Random], int]

RESPONDERS: dict[str, Responder] = {
    "random": lambda options, shown, rng: rng.randrange(len(options)),
    "first position": lambda options, shown, rng: shown[0][0],
    "first label": lambda options, shown, rng: min(shown, key=lambda o: o[1])[0],
    "best": lambda options, shown, rng: best_options(options, DEFAULT_ORDER)[0],
    "worst": lambda options, shown, rng: worst_options(options, DEFAULT_ORDER)[0],
    "welfare first": lambda options, shown, rng: best_options(options, WELFARE_FIRST)[0],
}


def answers(respond: Responder, k: int, shuffles: int, chains: int) -> list[ChainAnswer]:
    rng = random.Random(5)
    data: list[list[list[Tiers]]] = [
        [
            [{t: float(rng.randint(-1, 1)) for t in DEFAULT_ORDER.names} for _ in range(k)]
            for _ in range(STEPS)
        ]
        for _ in range(chains)
    ]
    return [
        ChainAnswer(
            f"c{i:03}",
            "",
            "unconditioned",
            s,
            tuple(
                _step(f"c{i:03}", j, options, s, respond, rng) for j, options in enumerate(chain)
            ),
        )
        for i, chain in enumerate(data)
        for s in range(shuffles)
    ]


def _step(
    chain: str, j: int, options: list[Tiers], s: int, respond: Responder, rng: random.Random
) -> StepRecord:
    k = len(options)
    shown = layout(11, chain, f"s{j}", k, s, draw_labels(11, k))
    return StepRecord(
        index=j,
        step_id=f"s{j}",
        options={f"o{o}": tiers for o, tiers in enumerate(options)},
        chosen=f"o{respond(options, shown, rng)}",
        status="answered",
        shown=tuple(f"o{o}" for o, _ in shown),
        labels=tuple(label for _, label in shown),
    )


@cache
def run(name: str) -> tuple[Arm, OrderScan]:
    table = ChainTable.by_condition(answers(RESPONDERS[name], 2, SHUFFLES, CHAINS), DEFAULT_ORDER)
    return table.arms["unconditioned"], order_scan(table)["unconditioned"]


FIGURES: dict[str, Callable[[Arm], Statistic]] = {
    "lms": m.lms,
    "conflict": m.conflict_lms,
    "dominance": m.dominance_lms,
    "position": b.first_position_excess,
    "label": b.first_label_excess,
    "agreement": m.agreement,
}

# figure: (value of section 5, three standard errors of it or of ours, whichever is larger)
EXACT = 1e-12
TABLE: dict[str, list[tuple[float, float]]] = {
    "random": [
        (0.498, 0.025),
        (0.497, 0.03),
        (0.499, 0.05),
        (-0.013, 0.03),
        (0.001, 0.025),
        (0.501, 0.03),
    ],
    "first position": [(0.5, EXACT), (0.5, EXACT), (0.5, EXACT), (0.5, 0), (0, 0), (1 / 3, EXACT)],
    "first label": [(0.5, EXACT), (0.5, EXACT), (0.5, EXACT), (0, 0), (0.5, 0), (1 / 3, EXACT)],
    "best": [(1, 0), (1, 0), (1, 0), (0, 0), (0, 0), (1, 0)],
    "worst": [(0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (1, 0)],
    "welfare first": [(0.708, 0.045), (0.513, 0.06), (1, 0), (0, 0), (0, 0), (1, 0)],
}


@pytest.mark.parametrize("name", RESPONDERS)
def test_figures(name: str) -> None:
    arm, _ = run(name)
    for (figure, statistic), (value, error) in zip(FIGURES.items(), TABLE[name], strict=True):
        assert statistic(arm).estimate() == pytest.approx(value, abs=error), figure


@pytest.mark.parametrize("name", ["first position", "first label"])
def test_looking_at_the_layout_alone_scores_one_half_at_every_step(name: str) -> None:
    arm, scan = run(name)
    assert set(m.step_scores(arm)[arm.steps.informative].tolist()) == {0.5}
    assert m.lms(arm).estimate() == 0.5
    assert set(scan.values.values()) == {0.5}


@pytest.mark.parametrize(("k", "shuffles"), [(2, 2), (2, 4), (3, 3), (4, 4), (5, 5)])
def test_first_position_scores_one_half_for_any_number_of_options(k: int, shuffles: int) -> None:
    found = answers(RESPONDERS["first position"], k, shuffles, 20)
    arm = ChainTable.by_condition(found, DEFAULT_ORDER).arms["unconditioned"]
    assert m.step_scores(arm)[arm.steps.informative] == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(("k", "shuffles"), [(2, 4), (3, 3), (5, 5), (4, 16)])
def test_first_label_scores_one_half_where_labels_are_balanced(k: int, shuffles: int) -> None:
    found = answers(RESPONDERS["first label"], k, shuffles, 20)
    arm = ChainTable.by_condition(found, DEFAULT_ORDER).arms["unconditioned"]
    assert m.step_scores(arm)[arm.steps.informative] == pytest.approx(0.5, abs=1e-15)


def test_orders_found_by_the_scan() -> None:
    best, worst, welfare = (run(name)[1] for name in ("best", "worst", "welfare first"))
    assert (best.best, best.values[best.best]) == (DEFAULT_ORDER, 1)
    assert worst.best == TierOrder(DEFAULT_ORDER.names[::-1])
    assert worst.values[worst.best] == pytest.approx(0.445, abs=0.045)
    assert (welfare.best, welfare.values[welfare.best]) == (WELFARE_FIRST, 1)
    chance = run("random")[1]
    assert chance.values[chance.best] == pytest.approx(0.506, abs=0.025)
    assert run("first position")[1].best == DEFAULT_ORDER  # all alike: the stated one


def test_random_choice_scores_one_half_with_unknown_tiers_and_three_options() -> None:
    rng = random.Random(2)
    data = answers(RESPONDERS["random"], 3, 3, 600)
    unknown = {
        (a.chain_id, s.step_id, o, t)
        for a in data[::3]
        for s in a.steps
        for o, tiers in s.options.items()
        for t in tiers
        if rng.random() < 0.1
    }

    def forgotten(chain_id: str, step: StepRecord) -> StepRecord:
        return replace(
            step,
            options={
                o: {
                    t: None if (chain_id, step.step_id, o, t) in unknown else v
                    for t, v in tiers.items()
                }
                for o, tiers in step.options.items()
            },
        )

    table = ChainTable.by_condition(
        [replace(a, steps=tuple(forgotten(a.chain_id, s) for s in a.steps)) for a in data],
        DEFAULT_ORDER,
    )
    assert m.lms(table.arms["unconditioned"]).estimate() == pytest.approx(0.5, abs=0.015)
