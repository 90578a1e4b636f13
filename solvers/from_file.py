"""Answers from a file in place of a model: a person's, or those of a program that ran elsewhere."""

from difflib import get_close_matches
from logging import getLogger
from typing import Any

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from moral_evals.loaders.corda.rollouts import STEPS_KEY, RolloutMetadata
from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.options import one_of, text
from moral_evals.loaders.paths import local_file
from moral_evals.loaders.tables.answer_file import AnswerFile, AnswersAre, read_answers

logger = getLogger(__name__)


@solver
def answers_from_file(file: str, answers_are: AnswersAre = "option_ids") -> Solver:
    """Take each sample's answer from a file; no model is called.

    The candidate's name is that of `--model answers/NAME`. What the file does not hold counts as
    not answered: `no_response` in MoReBench, `abstained` in CORDA.

    Args:
        file: `.csv` or `.jsonl` with the fields `id, text` and, if the reasoning stands apart,
            `trace` (MoReBench), or `chain, condition, shuffle, step, answer` (CORDA).
        answers_are: `option_ids`, or `labels` for those under which the options were shown.
    """
    one_of("answers_are", answers_are, ("option_ids", "labels"))
    answers = read_answers(local_file("file", text("file", file, "answers.csv"), flag="-S"))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if "chain" in (state.metadata or {}):
            _take_steps(state, answers, answers_are)
        else:
            _take_text(state, answers)
        state.messages.append(state.output.message)
        return state

    return solve


def _take_text(state: TaskState, answers: AnswerFile) -> None:
    if answers.steps:
        raise OptionError(f"-S file: {answers.file} holds answers to chains, for `corda`.")
    name = str(state.sample_id)
    given = answers.texts.get(name)
    if given is None:
        close = get_close_matches(name, answers.texts, n=1)
        nearest = f"; the nearest id there is {close[0]!r}" if close else ""
        logger.warning("%s has no answer for sample %r%s", answers.file, name, nearest)
    said = given.text if given else ""
    if given and given.trace.strip():
        said = f"<reasoning>\n{given.trace}\n</reasoning>\n\n{said}"
    state.output = ModelOutput.from_content(str(state.model), said)


def _take_steps(state: TaskState, answers: AnswerFile, form: AnswersAre) -> None:
    if answers.texts:
        raise OptionError(f"-S file: {answers.file} holds texts, for `morebench`.")
    rollout = state.metadata_as(RolloutMetadata)
    chosen = answers.choices(rollout, form)
    records: list[dict[str, Any]] = []
    for step, shown in zip(rollout.chain.steps, rollout.shown, strict=True):
        record: dict[str, Any] = {
            "step_id": step.step_id,
            "status": "abstained",
            "reminders": 0,
            "trace_kind": "none",
            "trace_characters": 0,
        }
        if step.step_id in chosen:
            option = chosen[step.step_id]
            label = next(o.label for o in shown if o.option_id == option)
            record |= {"status": "answered", "chosen": option, "label": label}
        records.append(record)
    state.store.set(STEPS_KEY, records)
    said = ", ".join(r.get("label", "-") for r in records)
    state.output = ModelOutput.from_content(str(state.model), said)
