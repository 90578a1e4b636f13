"""A rollout as a Markdown table, which `inspect view` renders: what was shown, chosen, and worth."""

from collections.abc import Mapping, Sequence

from moral_evals.loaders.corda.chains import Step
from moral_evals.loaders.corda.rollouts import RolloutMetadata, ShownOption
from moral_evals.scorers.corda.order import TierOrder, compare_tiers, informative, rank_values
from moral_evals.scorers.corda.records import StepRecord
from moral_evals.scorers.markdown import cell

_SHOWN = 160


def rollout_table(
    rollout: RolloutMetadata,
    records: Sequence[StepRecord],
    facts: Mapping[str, Mapping[str, object]],
    order: TierOrder,
) -> str:
    """One row a step: options as displayed, the choice, its rank value, the tiers that decided.

    Args:
        rollout: What was shown.
        records: What came back.
        facts: The solver's notes by step id (reminders, kind of trace).
        order: Tier order.
    """
    head = (
        f"Condition **{rollout.condition}**, shuffle {rollout.shuffle}; tier order "
        f"{' > '.join(order.names)}.\n\n"
        "| step | shown | chosen | rank value | deciding tier |\n|---|---|---|---:|---|\n"
    )
    rows = []
    for step, shown, record in zip(rollout.chain.steps, rollout.shown, records, strict=True):
        rows.append(_row(step, shown, record, facts.get(step.step_id, {}), order))
    return head + "\n".join(rows)


def _row(
    step: Step,
    shown: Sequence[ShownOption],
    record: StepRecord,
    facts: Mapping[str, object],
    order: TierOrder,
) -> str:
    texts = {o.option_id: o.text for o in step.options}
    displayed = " / ".join(f"[{o.label}] {cell(texts[o.option_id], _SHOWN)}" for o in shown)
    chosen = next((o.label for o in shown if o.option_id == record.chosen), record.status)
    if facts.get("reminders"):
        chosen += " (reminded)"
    return (
        f"| {cell(step.step_id)} | {displayed} | {chosen} | {' | '.join(_worth(record, order))} |"
    )


def _worth(record: StepRecord, order: TierOrder) -> tuple[str, str]:
    tiers = list(record.options.values())
    if not informative(tiers, order):
        return "–", "none: not scored"
    if record.chosen is None:
        return "–", "–"
    place = list(record.options).index(record.chosen)
    own = record.options[record.chosen]
    found = [
        compare_tiers(own, other, order)
        for key, other in record.options.items()
        if key != record.chosen
    ]
    decided = [
        f"{c.tier}{' (conflict)' if c.conflict else ''}: {c.outcome}" for c in found if c.tier
    ]
    return f"{float(rank_values(tiers, order)[place].u):g}", "; ".join(decided) or "undecided"
