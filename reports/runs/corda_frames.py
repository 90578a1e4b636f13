"""Rows of the CORDA frames: one for each step, or for each rollout, of each CORDA score."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from moral_evals.loaders.corda.rollouts import RolloutMetadata
from moral_evals.scorers.corda.order import TierOrder, informative
from moral_evals.scorers.corda.records import LoggedRollout, StepRecord, step_value

INDEX = ("scorer", "tier_order", "condition")
LABELS = ("chain_id", "stratum", "shuffle")
NAN = math.nan

Row = dict[str, Any]


def logged_rollout(metadata: Mapping[str, Any], score: Mapping[str, Any]) -> LoggedRollout | None:
    """The rollout behind a score as Inspect's frames have it; None for another's score."""
    if "shown" not in metadata:
        return None
    rollout = RolloutMetadata.model_validate(metadata)
    return LoggedRollout.within(rollout, score.get("metadata") or {})


def base(scorer: str, found: LoggedRollout) -> Row:
    """What all rows of a rollout have in common."""
    answer = found.answer
    levels = (scorer, " > ".join(found.order.names), answer.condition)
    return dict(zip(INDEX, levels, strict=True)) | {n: getattr(answer, n) for n in LABELS}


def steps(found: LoggedRollout) -> Iterator[Row]:
    """The steps in their order."""
    for record, facts in zip(found.answer.steps, found.facts, strict=True):
        place = record.shown.index(record.chosen) + 1 if record.chosen else NAN
        yield {
            "step": record.index + 1,
            "step_id": record.step_id,
            "options": len(record.options),
            "informative": _scored(record, found.order),
            "status": record.status,
            "chosen": record.chosen,
            "label": record.labels[int(place) - 1] if record.chosen else None,
            "position": place,
            "u": step_value(record, found.order),
            "reminders": facts.get("reminders", NAN),
            "trace_kind": facts.get("trace_kind"),
        }


def rollout(found: LoggedRollout, score: Mapping[str, Any]) -> Iterator[Row]:
    """The rollout itself."""
    records = found.answer.steps
    values = [v for v in (step_value(r, found.order) for r in records) if not math.isnan(v)]
    yield {
        "steps": len(records),
        "informative": sum(_scored(r, found.order) for r in records),
        "answered": sum(r.status == "answered" for r in records),
        "score": math.fsum(values) / len(values) if values else NAN,
        "reason": score.get("reason"),
    }


def _scored(record: StepRecord, order: TierOrder) -> bool:
    return informative(list(record.options.values()), order)
