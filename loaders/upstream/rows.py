"""Upstream's two JSONL files, as its scripts write them: one row a reply, or one a judged criterion.

Every field of a row is kept beside the typed ones, so that a row can be written again as it was.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.formats import json_lines
from moral_evals.loaders.morebench import records
from moral_evals.loaders.morebench.csv_rows import read_rubric
from moral_evals.loaders.morebench.records import NEUTRAL, NO_OWN_NAMES, Criterion
from moral_evals.loaders.values import Words

JUDGEMENT_FIELDS = (
    "criterion_id",
    "criterion",
    "response",
    "criterion_dimension",
    "criterion_weight",
    "model",
    "judgement",
)
"""What every judgement row must have; upstream writes more, and all of it is kept."""

GENERATION_FIELDS = ("DILEMMA", "RUBRIC", "thinking_trace", "model_resp", "model")
"""What every generation row must have."""


_CRITERION = {
    "id": "criterion_id",
    "text": "criterion",
    "weight": "criterion_weight",
    "dimension": "criterion_dimension",
}


def _missing(value: Any) -> bool:
    # a table library writes an empty cell as null or NaN
    return value is None or (isinstance(value, float) and math.isnan(value))


def _label(value: Any) -> Any:
    return "" if _missing(value) else value


def _id(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _id_or_none(value: Any) -> Any:
    return None if _missing(value) else _id(value)


def _count(value: Any) -> int | None:
    # upstream writes -1 for a number that it does not know
    known = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if known else None


def _theory(value: Any) -> Any:
    return NEUTRAL if _missing(value) or value == "" else value


LabelText = Annotated[str, BeforeValidator(_label)]
Count = Annotated[int | None, BeforeValidator(_count)]
Role = Annotated[records.Role, BeforeValidator(_label)]
Theory = Annotated[records.Theory, BeforeValidator(_theory)]
TaskId = Annotated[str | None, BeforeValidator(_id_or_none)]


class _Row(BaseModel):
    """A line of a file: the object as it stands there, and where.

    Attributes:
        line: Line number from 1.
        fields: The object, untouched.
        task_id: Upstream's name of the dilemma; the published files have none.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    fields: dict[str, Any]
    input_tokens: Count = None
    output_tokens: Count = None
    reasoning_tokens: Count = None
    model: str


class JudgementRow(_Row):
    """What upstream's judge said of one criterion.

    Attributes:
        response: The judged text, which may be the thinking trace; None if there was none.
        judgement: The judge's raw reply; None if it sent none.
        epoch: Which repetition of the dilemma, in files that `export-upstream` wrote.
    """

    task_id: TaskId = None
    criterion_id: Annotated[str, BeforeValidator(_id)]
    criterion: str
    response: str | None
    dilemma_source: LabelText = ""
    criterion_dimension: str
    criterion_weight: float
    dilemma_type: LabelText = ""
    role_domain: Role = ""
    theory: Theory = NEUTRAL
    judgement: str | None
    judge_input_tokens: Count = None
    judge_output_tokens: Count = None
    epoch: int = Field(default=1, ge=1)

    def as_criterion(self) -> Criterion:
        """The criterion of the row, under its own id."""
        return Criterion.model_validate(
            {
                "id": self.criterion_id,
                "text": self.criterion,
                "weight": self.fields["criterion_weight"],
                "dimension": self.criterion_dimension,
            },
            context=NO_OWN_NAMES.context(),
        )


class GenerationRow(_Row):
    """One candidate reply: a row of the published CSV with the rubric parsed, and the reply."""

    task_id: TaskId = Field(default=None, alias="TASK_ID")
    dilemma: Words = Field(alias="DILEMMA")
    dilemma_source: LabelText = Field(default="", alias="DILEMMA_SOURCE")
    dilemma_type: LabelText = Field(default="", alias="DILEMMA_TYPE")
    role_domain: Role = Field(default="", alias="ROLE_DOMAIN")
    context: LabelText = Field(default="", alias="CONTEXT")
    theory: Theory = Field(default=NEUTRAL, alias="THEORY")
    thinking_trace: str | None
    model_resp: str | None
    idx: int | None = None
    epoch: int = Field(default=1, ge=1)
    criteria: tuple[Criterion, ...]


def read_judgements(path: Path) -> list[JudgementRow]:
    """All rows of a judgement file, in file order.

    Raises DataError naming file, row and field, and what is allowed there.
    """
    rows = []
    for line, value in _objects(path):
        _require(path.name, line, value, JUDGEMENT_FIELDS, "judgement")
        row = _typed(JudgementRow, path.name, line, value, {})
        try:
            row.as_criterion()
        except ValidationError as error:
            raise DataError.of(path.name, line, error, names=_CRITERION) from error
        rows.append(row)
    return rows


def read_generations(path: Path) -> list[GenerationRow]:
    """All rows of a generation file, in file order; raises DataError like `read_judgements`."""
    rows = []
    for line, value in _objects(path):
        _require(path.name, line, value, GENERATION_FIELDS, "generation")
        criteria = read_rubric(path.name, line, value["RUBRIC"])
        rows.append(_typed(GenerationRow, path.name, line, value, {"criteria": criteria}))
    return rows


R = TypeVar("R", bound=_Row)


def _typed(kind: type[R], file: str, line: int, value: dict[str, Any], more: dict[str, Any]) -> R:
    try:
        return kind.model_validate({**value, **more, "line": line, "fields": value})
    except ValidationError as error:
        raise DataError.of(file, line, error) from error


def _objects(path: Path) -> list[tuple[int, dict[str, Any]]]:
    # a table library writes an empty cell as NaN
    found = list(json_lines(path, nan=True))
    if not found:
        raise DataError(f"{path.name}: has no rows.")
    return found


def _require(
    file: str, line: int, value: Mapping[str, Any], fields: tuple[str, ...], kind: str
) -> None:
    for field in fields:
        if field not in value:
            problem = f"is missing; a row of upstream's {kind} files has {', '.join(fields)}"
            raise DataError.at(file, line, field, problem)
