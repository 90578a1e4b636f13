"""Labelled pairs of text and criterion, to measure a judge by: schema `judge-pairs-1`."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.formats import json_lines
from moral_evals.loaders.values import JsonNumber, Words, at_least, repeated

Label = Literal["yes", "no"]


class LabelledPair(BaseModel):
    """A criterion with its label: whether the text meets it, as a reader sees it.

    Attributes:
        pair_id: Unique within the text.
        criterion: A statement about the text.
        label: `yes` or `no`.
        second_label: A second reader's label, made without sight of the first; None for none.
        weight: Weight of the criterion; the sign groups the tables.
        dimension: Rubric dimension; free text.
        kind: What makes the pair hard; free text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair_id: Words
    criterion: Words
    label: Label
    second_label: Label | None = None
    weight: JsonNumber = 1.0
    dimension: str = ""
    kind: str = ""


class LabelledText(BaseModel):
    """A judged text with its labelled criteria; the unit of every interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["judge-pairs-1"]
    text_id: Words
    text: Words
    candidate: str = ""
    role: str = ""
    pairs: Annotated[tuple[LabelledPair, ...], at_least(1)]


class Attack(BaseModel):
    """Text that tries to talk the judge into a verdict."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attack_id: Words
    kind: str
    payload: Words
    wants: Label
    repeat: int = Field(default=1, ge=1, le=10_000, strict=True)

    @property
    def text(self) -> str:
        """The payload as often as it is to be repeated."""
        return self.payload * self.repeat


def attacked_text(text: str, attack: Attack) -> str:
    """A text with an attack at its end, as the judge is shown it."""
    return f"{text}\n\n{attack.text}"


def read_pairs(path: Path) -> list[LabelledText]:
    """All texts of a file; DataError names file, row and field."""
    texts = _read(LabelledText, path, "text_id")
    for row, text in texts.items():
        twice = repeated(p.pair_id for p in text.pairs)
        if twice is not None:
            problem = f"{twice!r} stands twice in one text; allowed: once"
            raise DataError.at(path.name, row, "pair_id", problem)
    return list(texts.values())


def read_attacks(path: Path) -> list[Attack]:
    """All attacks of a file; DataError names file, row and field."""
    return list(_read(Attack, path, "attack_id").values())


R = TypeVar("R", bound=BaseModel)


def _read(model: type[R], path: Path, key: str) -> dict[int, R]:
    """Records by their line; the values of `key` are all different."""
    found: dict[int, R] = {}
    lines: dict[str, int] = {}
    for row, value in json_lines(path):
        record = _parse(model, path, row, value)
        name = getattr(record, key)
        if name in lines:
            problem = f"{name!r} stands in row {lines[name]} too; allowed: once"
            raise DataError.at(path.name, row, key, problem)
        lines[name] = row
        found[row] = record
    if not found:
        raise DataError(f"{path.name}: has no rows.")
    return found


def _parse(model: type[R], path: Path, row: int, value: dict[str, Any]) -> R:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise DataError.of(path.name, row, error, model=model) from error
