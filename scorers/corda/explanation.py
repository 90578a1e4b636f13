"""A rollout told step by step in Markdown, which `inspect view` renders."""

from collections.abc import Iterator, Mapping, Sequence

from moral_evals.loaders.corda.chains import Step
from moral_evals.loaders.corda.rollouts import RolloutMetadata, ShownOption
from moral_evals.scorers.corda.order import TierOrder, compare_tiers, informative, rank_values
from moral_evals.scorers.corda.records import StepRecord
from moral_evals.scorers.markdown import row, viewer_cell

# texts of the data are shown whole: a step's situation may be a page long
_WHOLE = 20_000


def rollout_story(
    rollout: RolloutMetadata,
    records: Sequence[StepRecord],
    facts: Mapping[str, Mapping[str, object]],
    order: TierOrder,
) -> str:
    """For each step its situation, the options as displayed, the pick, and what decided.

    Args:
        rollout: What was shown.
        records: What came back.
        facts: The solver's notes by step id (reminders, kind of trace).
        order: Tier order.
    """
    tiers = " > ".join(_text(name) for name in order.names)
    parts = [f"Condition **{rollout.condition}**, shuffle {rollout.shuffle}; tier order {tiers}."]
    if rollout.chain.context:
        parts.append(_text(rollout.chain.context))
    for step, shown, record in zip(rollout.chain.steps, rollout.shown, records, strict=True):
        parts += _step(step, shown, record, facts.get(step.step_id, {}), order)
    return "\n\n".join(parts)


def _step(
    step: Step,
    shown: Sequence[ShownOption],
    record: StepRecord,
    facts: Mapping[str, object],
    order: TierOrder,
) -> Iterator[str]:
    yield f"**Step {record.index + 1} ({_text(step.step_id)}).** {_text(step.situation)}"
    if step.question:
        yield f"*{_text(step.question)}*"
    texts = {o.option_id: o.text for o in step.options}
    # the viewer squeezes narrow columns beside a long text until their words break
    lines = [row(["", "option", "rank value", ""]), row(["---", "---", "---:", "---"])]
    ranks = _ranks(record, order)
    for option in shown:
        picked = "✓" if option.option_id == record.chosen else ""
        rank = ranks.get(option.option_id, "–")
        lines.append(row([_text(option.label), _text(texts[option.option_id]), rank, picked]))
    yield "\n".join(lines)
    reminded = " (reminded)" if facts.get("reminders") else ""
    yield _outcome(record, {o.option_id: o.label for o in shown}, reminded, order)


def _ranks(record: StepRecord, order: TierOrder) -> dict[str, str]:
    """Rank value of each option; none where the order decides nothing."""
    tiers = list(record.options.values())
    if not informative(tiers, order):
        return {}
    values = rank_values(tiers, order)
    return {o: f"{float(v.u):.3g}" for o, v in zip(record.options, values, strict=True)}


def _outcome(record: StepRecord, labels: Mapping[str, str], reminded: str, order: TierOrder) -> str:
    """Which tier decided between the option picked and each other one."""
    if record.chosen is None:
        return f"No option picked: {record.status}{reminded}."
    picked = f"Picked {_text(labels[record.chosen])}{reminded}"
    if not informative(list(record.options.values()), order):
        return f"{picked}: no tier decides here, not scored."
    own, found = record.options[record.chosen], []
    for other, tiers in record.options.items():
        if other == record.chosen:
            continue
        pair, against = compare_tiers(own, tiers, order), _text(labels[other])
        if pair.tier is None:
            found.append(f"{pair.outcome} with {against}")
        else:
            conflict = " (conflict)" if pair.conflict else ""
            found.append(f"{pair.outcome} than {against} on {_text(pair.tier)}{conflict}")
    return f"{picked}: {'; '.join(found)}."


def _text(text: str) -> str:
    return viewer_cell(text, _WHOLE)
