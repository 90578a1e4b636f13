"""Answers that were not given to this suite: a person's, or another program's, from a CSV or JSONL."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from moral_evals.loaders.corda.rollouts import Condition, RolloutMetadata
from moral_evals.loaders.errors import DataError, SuiteError, listing
from moral_evals.loaders.files import shown
from moral_evals.loaders.formats import json_lines, read_csv_table, unknown_column
from moral_evals.loaders.values import Words

AnswersAre = Literal["option_ids", "labels"]
"""What an answer to a step is: the id of an option, or the label that it was shown under."""

NONE = "NONE"
"""Stands for no answer, as an empty cell does."""


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


_Cell = Annotated[str, BeforeValidator(_plain)]


class TextAnswer(BaseModel):
    """An answer to a dilemma.

    Attributes:
        id: The sample's id.
        text: The answer; empty for none.
        trace: The reasoning, where it was written apart.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Words
    text: str = ""
    trace: str = ""


class StepAnswer(BaseModel):
    """An answer to a step of a chain.

    Attributes:
        chain: Id of the chain.
        condition: What history was shown.
        shuffle: Number of the layout, from 0.
        step: Id of the step.
        answer: As `AnswersAre` says; empty or NONE for none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    chain: Words
    condition: Condition
    shuffle: int = Field(ge=0)
    step: Words
    answer: _Cell = ""

    @property
    def rollout(self) -> tuple[str, str, int]:
        """Chain, condition and shuffle."""
        return self.chain, self.condition, self.shuffle


R = TypeVar("R", TextAnswer, StepAnswer)


@dataclass(frozen=True)
class AnswerFile:
    """The answers of a file, of either kind.

    Attributes:
        file: Its name.
        texts: By the sample's id; empty in a file of steps.
        steps: By rollout and step id, with the row; empty in a file of texts.
    """

    file: str
    texts: Mapping[str, TextAnswer]
    steps: Mapping[tuple[str, str, int], Mapping[str, tuple[int, StepAnswer]]]

    def choices(self, rollout: RolloutMetadata, form: AnswersAre) -> dict[str, str]:
        """Option id by step id; steps without an answer are missing.

        Raises DataError, naming the row, for a step or an answer that the rollout does not have.
        """
        given = self.steps.get((rollout.chain_id, rollout.condition, rollout.shuffle), {})
        layout = dict(zip((s.step_id for s in rollout.chain.steps), rollout.shown, strict=True))
        found = {}
        for step, (row, answer) in given.items():
            if step not in layout:
                problem = f"chain {answer.chain!r} has no step {step!r}; it has {listing(layout)}"
                raise DataError.at(self.file, row, "step", problem)
            if answer.answer in ("", NONE):
                continue
            names = {o.option_id if form == "option_ids" else o.label: o for o in layout[step]}
            if answer.answer not in names:
                what = "the step's option ids are" if form == "option_ids" else "the labels were"
                other = "labels" if form == "option_ids" else "option_ids"
                problem = (
                    f"{answer.answer!r} is none; {what} {listing(names)} "
                    f"(-S answers_are={other} reads the other kind)"
                )
                raise DataError.at(self.file, row, "answer", problem)
            found[step] = names[answer.answer].option_id
        return found


def read_answers(path: Path) -> AnswerFile:
    """Read a `.csv` or `.jsonl` with `id, text[, trace]` or `chain, condition, shuffle, step, answer`.

    Raises:
        SuiteError: If the file cannot be read or is of another kind.
        DataError: For a bad or repeated row; names file, row, field and what is allowed.
    """
    rows = list(_rows(path))
    if not rows:
        raise DataError(f"{path.name}: has no rows.")
    texts: dict[str, TextAnswer] = {}
    steps: dict[tuple[str, str, int], dict[str, tuple[int, StepAnswer]]] = {}
    of_steps = "chain" in rows[0][1]
    for number, fields in rows:
        if of_steps:
            answer = _record(StepAnswer, path.name, number, fields)
            own = steps.setdefault(answer.rollout, {})
            if answer.step in own:
                problem = f"this step of the rollout stands in row {own[answer.step][0]} too"
                raise DataError.at(path.name, number, "step", problem)
            own[answer.step] = number, answer
        else:
            text = _record(TextAnswer, path.name, number, fields)
            if text.id in texts:
                problem = f"{text.id!r} stands in the file twice; allowed: once"
                raise DataError.at(path.name, number, "id", problem)
            texts[text.id] = text
    return AnswerFile(path.name, texts, steps)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    kind = path.suffix.lower()
    if kind == ".jsonl":
        yield from json_lines(path)
    elif kind == ".csv":
        table = read_csv_table(path, also=("id", "text", "trace"))
        model = StepAnswer if "chain" in table.header else TextAnswer
        known = list(model.model_fields)
        read_csv_table(path, [f for f in known if f != "trace"])
        if problem := unknown_column(table, known):
            raise DataError(f"{problem}.")
        for number, row in table.rows:
            yield number, _numbers({k: v for k, v in row.items() if k})
    else:
        raise SuiteError(f"{shown(path)}: the name must end in .csv, .jsonl.")


def _numbers(row: dict[str, str]) -> dict[str, Any]:
    shuffle = row.get("shuffle", "").strip()
    return row | {"shuffle": int(shuffle)} if shuffle.isdecimal() else row


def _record(model: type[R], file: str, row: int, fields: Mapping[str, Any]) -> R:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise DataError.of(file, row, error, model=model) from error
