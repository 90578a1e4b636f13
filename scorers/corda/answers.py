"""From what a rollout left in the log to the records that the arithmetic takes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from moral_evals.loaders.corda.rollouts import RolloutMetadata
from moral_evals.scorers.corda.order import TierOrder, informative, rank_values
from moral_evals.scorers.corda.records import STATUSES, ChainAnswer, StepRecord


def step_records(
    rollout: RolloutMetadata, facts: Mapping[str, Mapping[str, Any]], order: TierOrder
) -> list[StepRecord]:
    """The steps as shown and answered; a step that the solver never finished is an error."""
    records = []
    for index, (step, shown) in enumerate(zip(rollout.chain.steps, rollout.shown, strict=True)):
        fact = facts.get(step.step_id, {})
        status = fact.get("status")
        records.append(
            StepRecord(
                index=index,
                step_id=step.step_id,
                options={
                    o.option_id: {t: v for t, v in o.tiers.items() if t in order.names}
                    for o in step.options
                },
                chosen=fact.get("chosen"),
                status=status if status in STATUSES else "error",
                shown=tuple(o.option_id for o in shown),
                labels=tuple(o.label for o in shown),
            )
        )
    return records


def step_value(record: StepRecord, order: TierOrder) -> float:
    """u of the option chosen; nan if the step is not informative or not answered."""
    tiers = list(record.options.values())
    if record.chosen is None or not informative(tiers, order):
        return math.nan
    return float(rank_values(tiers, order)[list(record.options).index(record.chosen)].u)


def chain_answer(
    rollout: RolloutMetadata, logged: Sequence[Mapping[str, Any]], order: TierOrder
) -> ChainAnswer:
    """A rollout from the sample's metadata and the step records in a score's metadata."""
    facts = {r["step_id"]: r for r in logged}
    return ChainAnswer(
        chain_id=rollout.chain_id,
        stratum=rollout.stratum,
        condition=rollout.condition,
        shuffle=rollout.shuffle,
        steps=tuple(step_records(rollout, facts, order)),
    )


def logged_step(record: StepRecord, fact: Mapping[str, Any], order: TierOrder) -> dict[str, Any]:
    """A step's row in a score's metadata, plain JSON."""
    # tiers and layout are in the sample's metadata already
    value = step_value(record, order)
    row = {"step_id": record.step_id, "status": record.status}
    row |= {k: fact[k] for k in ("chosen", "label", "reminders", "trace_kind") if k in fact}
    return row if math.isnan(value) else row | {"u": value}
