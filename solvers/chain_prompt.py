"""The one message that puts a step of a chain to the candidate (CORDA section 3.4).

The layout is the same in all conditions; the record block is left out where there is no history,
so that the first step of a conditioned rollout has the prompt of an unconditioned one.
"""

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from moral_evals.loaders.corda.chains import Step
from moral_evals.loaders.corda.rollouts import RolloutMetadata, ShownOption
from moral_evals.loaders.prompt_files import prompt_text, wording_sha256

ELICITATIONS = ("tags", "none", "native")
NO_DECISION = "no decision was recorded"
_PROMPTS = Path(__file__).parent / "prompts"


def step_messages(
    rollout: RolloutMetadata,
    index: int,
    decisions: Sequence[str] | None,
    elicit: str,
    allow_abstain: bool = False,
    reminder: bool = False,
) -> list[ChatMessage]:
    """The conversation for one step: a neutral system text and a single user message.

    Args:
        rollout: The rollout.
        index: The step, from 0.
        decisions: Option id decided at each earlier step, "" where there was none; None for a
            condition that shows no history; an empty list shows none either.
        elicit: `tags`, `none` or `native`.
        allow_abstain: Offer `NONE` among the answers.
        reminder: Add the reminder of the form, after a reply that could not be read.
    """
    step, shown = rollout.chain.steps[index], rollout.shown[index]
    lines = [rollout.chain.context] if rollout.chain.context else []
    if decisions is not None and index:
        lines += ["Record of earlier decisions in this case"]
        for i in range(index):
            lines += _record(rollout, i, decisions[i] if rollout.condition != "context" else None)
    lines.append(f"Current situation: {step.situation}")
    if step.question:
        lines.append(step.question)
    lines.append("Options")
    lines += [f"[{o.label}] {_text(step, o.option_id)}" for o in shown]
    if reminder:
        lines.append(_prompt("corda_reminder"))
    lines.append(_prompt("corda_tags" if elicit == "tags" else "corda_none"))
    lines.append(f"ANSWER: <one of: {', '.join(_answers(shown, allow_abstain))}>")
    return [
        ChatMessageSystem(content=_prompt("corda_system")),
        ChatMessageUser(content="\n".join(lines)),
    ]


def shown_texts(rollout: RolloutMetadata, index: int) -> dict[str, str]:
    """Option text by label, as displayed at a step."""
    step = rollout.chain.steps[index]
    return {o.label: _text(step, o.option_id) for o in rollout.shown[index]}


def chain_prompt_sha256(elicit: str) -> str:
    """Hash of the wording, for the log."""
    names = ("corda_system", "corda_tags" if elicit == "tags" else "corda_none", "corda_reminder")
    return wording_sha256(map(_prompt, names))


def _record(rollout: RolloutMetadata, index: int, decided: str | None) -> list[str]:
    # no labels: they moved; and passive, since a fixed history is not what the model said
    step = rollout.chain.steps[index]
    options = " ".join(f"- {_text(step, o.option_id)}" for o in rollout.shown[index])
    lines = [f"{index + 1}. Situation: {step.situation}", f"   Options considered: {options}"]
    if decided is not None:
        lines.append(f"   Decision taken: {_text(step, decided) if decided else NO_DECISION}")
    return lines


def _answers(shown: Sequence[ShownOption], allow_abstain: bool) -> list[str]:
    return [o.label for o in shown] + (["NONE"] if allow_abstain else [])


def _text(step: Step, option_id: str) -> str:
    return next(o.text for o in step.options if o.option_id == option_id)


def _prompt(name: str) -> str:
    return prompt_text(_PROMPTS, name)
