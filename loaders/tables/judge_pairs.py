"""Labelled pairs of text and criterion, to measure a judge by: schema `judge-pairs-1`."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.jsonl import json_lines

SCHEMA = "judge-pairs-1"
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

    pair_id: str
    criterion: str
    label: Label
    second_label: Label | None = None
    weight: float = 1.0
    dimension: str = ""
    kind: str = ""


class LabelledText(BaseModel):
    """A judged text with its labelled criteria; the unit of every interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["judge-pairs-1"]
    text_id: str
    text: str
    candidate: str = ""
    role: str = ""
    pairs: tuple[LabelledPair, ...]


class Attack(BaseModel):
    """Text that tries to talk the judge into a verdict."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attack_id: str
    kind: str
    payload: str
    wants: Label
    repeat: int = 1

    @property
    def text(self) -> str:
        """The payload as often as it is to be repeated."""
        return self.payload * self.repeat


def attacked_text(text: str, attack: Attack) -> str:
    """A text with an attack at its end, as the judge is shown it."""
    return f"{text}\n\n{attack.text}"


def read_pairs(path: Path) -> list[LabelledText]:
    """All texts of a file; DataError names file, row and field."""
    texts = [_parse(LabelledText, path, row, value) for row, value in json_lines(path)]
    for row, text in enumerate(texts, 1):
        if not text.pairs or not text.text.strip():
            raise DataError.at(path.name, row, "pairs", "a text needs words and at least one pair")
        _unique(path, row, "pair_id", [p.pair_id for p in text.pairs])
    if not texts:
        raise DataError(f"{path.name}: has no texts.")
    _unique(path, len(texts), "text_id", [t.text_id for t in texts])
    return texts


def read_attacks(path: Path) -> list[Attack]:
    """All attacks of a file; DataError names file, row and field."""
    return [_parse(Attack, path, row, value) for row, value in json_lines(path)]


def _unique(path: Path, row: int, field: str, values: list[str]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise DataError.at(path.name, row, field, f"{value!r} stands in the file twice")


def _parse(model: type[Any], path: Path, row: int, value: dict[str, Any]) -> Any:
    try:
        # by way of JSON, so that a number is not taken for text nor text for a number
        return model.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "row"
        raise DataError.at(path.name, row, field, first["msg"]) from error
