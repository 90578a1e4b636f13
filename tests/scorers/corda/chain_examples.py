"""Small data sets for the tests of CORDA's arithmetic."""

from collections.abc import Mapping, Sequence

from moral_evals.loaders.corda.rollouts import draw_labels, layout
from moral_evals.scorers.corda.order import DEFAULT_ORDER, TierOrder, Tiers
from moral_evals.scorers.corda.records import ChainAnswer, Condition, StepRecord
from moral_evals.scorers.corda.table import Arm, ChainTable

Vector = Sequence[float | None]

YES_NO = [(1, 0, 0, 0), (0, 0, 0, 0)]
"""A step whose option 1 is better than its option 2."""


def tiers(values: Vector, order: TierOrder = DEFAULT_ORDER) -> Tiers:
    return dict(zip(order.names, values, strict=True))


def step_record(
    chain_id: str, index: int, options: Sequence[Vector], choice: str, shuffle: int = 0
) -> StepRecord:
    """`choice` is the number of the option, from 1, or "-" for an unparsed reply."""
    ids = [f"o{k + 1}" for k in range(len(options))]
    shown = layout(0, chain_id, f"s{index}", len(ids), shuffle, draw_labels(0, len(ids)))
    return StepRecord(
        index=index,
        step_id=f"s{index}",
        options={o: tiers(v) for o, v in zip(ids, options, strict=True)},
        chosen=f"o{choice}" if choice.isdigit() else None,
        status="answered" if choice.isdigit() else "unparsed",
        shown=tuple(ids[o] for o, _ in shown),
        labels=tuple(label for _, label in shown),
    )


def rollouts(
    chain_id: str,
    steps: Sequence[Sequence[Vector]],
    choices: Sequence[str],
    condition: Condition = "unconditioned",
    stratum: str = "",
) -> list[ChainAnswer]:
    """One rollout a shuffle; `choices` has one string a step, one character a shuffle."""
    return [
        ChainAnswer(
            chain_id,
            stratum,
            condition,
            s,
            tuple(
                step_record(chain_id, j, options, choices[j][s], s)
                for j, options in enumerate(steps)
            ),
        )
        for s in range(len(choices[0]))
    ]


def one_arm(answers: Sequence[ChainAnswer], order: TierOrder = DEFAULT_ORDER) -> Arm:
    (arm,) = ChainTable.by_condition(answers, order).arms.values()
    return arm


def arm_of(chains: Mapping[str, Sequence[str]], options: Sequence[Vector] = YES_NO) -> Arm:
    """An arm of chains whose steps all have the same options."""
    return one_arm(
        [a for c, choices in chains.items() for a in rollouts(c, [options] * len(choices), choices)]
    )


E12_STEPS = {
    "c1": [[(0, 0, 1, 0), (0, -1, 2, 0)], [(-1, 0, 1, 0), (0, 0, -1, 0)]],
    "c2": [[(0, 0, 0, -1), (0, 0, 0, 0)], [(0, -2, 1, 0), (0, 0, -2, 0)]],
}
E12_CHOICES: dict[Condition, dict[str, list[str]]] = {
    "unconditioned": {"c1": ["1121", "2112"], "c2": ["2222", "222-"]},
    "own": {"c1": ["1111", "1112"], "c2": ["2221", "2122"]},
}


def e12(*conditions: Condition) -> list[ChainAnswer]:
    return [
        answer
        for condition in conditions or E12_CHOICES
        for chain, choices in E12_CHOICES[condition].items()
        for answer in rollouts(chain, E12_STEPS[chain], choices, condition)
    ]
