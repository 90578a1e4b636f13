import math
from fractions import Fraction

import numpy as np
import pytest

from moral_evals.scorers.corda import bias as b
from moral_evals.scorers.corda.records import ChainAnswer, StepRecord
from moral_evals.scorers.corda.table import Arm
from moral_evals.scorers.stats.bootstrap import Bootstrap
from tests.scorers.corda.chain_examples import one_arm, tiers

IDS = ["o1", "o2", "o3", "o4"]
LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1)]
"""(first option shown first?, has the first label?), shuffle by shuffle, as in E11."""


def two_options(y: str, layouts: list[tuple[int, int]] = LAYOUTS) -> Arm:
    """One step; y is "1" where the first option is chosen, "-" where nothing is."""
    answers = []
    for s, (first, has_l1) in enumerate(layouts):
        shown = ("o1", "o2") if first else ("o2", "o1")
        named = {"o1": "G" if has_l1 else "Z", "o2": "Z" if has_l1 else "G"}
        chosen = {"1": "o1", "0": "o2", "-": None}[y[s]]
        answers.append(_answer(s, shown, tuple(named[o] for o in shown), chosen))
    return one_arm(answers)


def _answer(
    shuffle: int, shown: tuple[str, ...], labels: tuple[str, ...], chosen: str | None
) -> ChainAnswer:
    step = StepRecord(
        index=0,
        step_id="s",
        options={o: tiers((0, 0, 0, 0)) for o in sorted(shown)},
        chosen=chosen,
        status="answered" if chosen else "error",
        shown=shown,
        labels=labels,
    )
    return ChainAnswer("c", "", "unconditioned", shuffle, (step,))


@pytest.mark.parametrize(
    ("shares", "summary"),
    [((1, 0), 1), ((0.5, 0.5), 0), ((0.75, 0.25), 0.5), ((0.5, 0.25, 0.25), 0.25)],
)
def test_e10_summary(shares: tuple[float, ...], summary: float) -> None:
    k = len(shares)
    assert b.bias_summary(np.array(shares) - 1 / k, k) == pytest.approx(summary, abs=1e-15)
    assert b.position_bias(picks(shares)) == pytest.approx(summary, abs=1e-15)


def picks(shares: tuple[float, ...]) -> Arm:
    """Four answers, spread over positions as the shares say."""
    positions = [p for p, share in enumerate(shares) for _ in range(round(share * 4))]
    ids = tuple(IDS[: len(shares)])
    return one_arm(
        [_answer(s, ids, tuple("GHJK"[: len(ids)]), ids[p]) for s, p in enumerate(positions)]
    )


@pytest.mark.parametrize(
    ("y", "content", "order", "label"),
    [("0101", 0, 1, 0), ("0011", 0, 0, 1), ("0111", 0.25, 0.5, 0.5)],
)
def test_e11_effects(y: str, content: float, order: float, label: float) -> None:
    effects = b.choice_effects(two_options(y))
    assert (effects.content[0, 0], effects.order[0, 0], effects.label[0, 0]) == (
        content,
        order,
        label,
    )


def test_effects_need_an_answer_in_each_of_the_four_layouts() -> None:
    effects = b.choice_effects(two_options("01-1"))
    assert math.isnan(effects.order[0, 0])
    assert math.isnan(effects.mean_order().estimate())


def test_a_missing_repeat_does_not_tilt_the_effects() -> None:
    effects = b.choice_effects(two_options("0101010-", LAYOUTS * 2))
    assert (effects.order[0, 0], effects.label[0, 0]) == (1, 0)


def test_effects_are_for_two_options() -> None:
    assert np.isnan(b.choice_effects(picks((0.5, 0.25, 0.25))).content).all()


def test_signed_excess_of_first_position_and_first_label() -> None:
    always_first, always_l1 = two_options("0101"), two_options("0011")
    assert b.first_position_excess(always_first).estimate() == 0.5
    assert b.first_label_excess(always_first).estimate() == 0
    assert b.first_position_excess(always_l1).estimate() == 0
    assert b.first_label_excess(always_l1).estimate() == 0.5
    assert b.label_excess(always_l1, 2, "Z").estimate() == -0.5
    assert (b.position_bias(always_first), b.label_bias(always_first)) == (1, 0)
    assert (b.position_bias(always_l1), b.label_bias(always_l1)) == (0, 1)


def test_excess_is_bounded_by_the_widths_that_occur() -> None:
    assert b.first_position_excess(two_options("0101")).bounds == (-0.5, 0.5)
    three = b.first_position_excess(picks((0.5, 0.25, 0.25)))
    assert three.bounds == pytest.approx((-1 / 3, 2 / 3))
    assert three.estimate() == pytest.approx(float(Fraction(1, 6)))


def test_steps_of_unlike_width_are_summarised_by_width() -> None:
    answers = [
        ChainAnswer(
            chain,
            "",
            "unconditioned",
            s,
            (
                StepRecord(
                    0, "s", {o: {} for o in ids}, ids[0], "answered", ids, tuple("GHJ"[: len(ids)])
                ),
            ),
        )
        for chain, ids in (("a", ("o1", "o2")), ("b", ("o1", "o2", "o3")))
        for s in range(2)
    ]
    arm = one_arm(answers)
    assert b.widths(arm) == [2, 3]
    assert b.position_bias(arm) == pytest.approx(1)
    assert b.position_excess(arm, 2, 0).estimate() == 1 / 2
    assert b.first_position_excess(arm).estimate() == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert b.labels_shown(arm, 2) == ["G", "H"]


def test_no_answer_no_bias() -> None:
    arm = two_options("----")
    assert math.isnan(b.position_bias(arm))
    assert math.isnan(b.label_bias(arm))
    found = Bootstrap(1, resamples=50).interval(b.first_position_excess(arm))
    assert math.isnan(found.estimate)
    assert found.n == 0
