"""The user's file of models: families and sizes, which no log records."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.tables.reader import (
    Row,
    check_fields,
    fitting,
    number_of,
    once,
    read_table,
    text_of,
)

REQUIRED = ("model", "family", "size_b")
OPTIONAL = ("active_b", "name")


@dataclass(frozen=True)
class ModelFacts:
    """What a user says of one model.

    Attributes:
        model: Name as in the logs (`openrouter/openai/gpt-oss-120b`), or its end after a `/`.
        family: Models of one maker and recipe that differ in size; free text.
        size_b: Billions of parameters in all; nan if not published.
        active_b: Billions of parameters that work on each token, where fewer; nan if not given.
        name: Name in tables; empty for the one in the logs.
    """

    model: str
    family: str
    size_b: float
    active_b: float = math.nan
    name: str = ""


def read_models(path: Path) -> dict[str, ModelFacts]:
    """The models of a CSV, YAML or JSON file by their name in it, in file order.

    Fields: `model`, `family`, `size_b` (may be empty: not published), and if wanted `active_b`
    and `name`.

    Raises:
        SuiteError: If there is no such file.
        DataError: If a row is not as it must be; names file, row, field and what is allowed.
    """
    seen: set[str] = set()
    facts = [_facts(path.name, row, item, seen) for row, item in read_table(path, REQUIRED)]
    return {f.model: f for f in facts}


def facts_of(models: Mapping[str, ModelFacts], model: str) -> ModelFacts | None:
    """What the file says of a model of a log, None if it is not there."""
    name = fitting(models, model)
    return None if name is None else models[name]


def _facts(file: str, row: int, item: Row, seen: set[str]) -> ModelFacts:
    check_fields(file, row, item, REQUIRED, OPTIONAL)
    size = _billions(file, row, "size_b", item["size_b"])
    active = _billions(file, row, "active_b", item.get("active_b"))
    if active > size:
        problem = f"{active:g} of {size:g} billions; allowed: at most size_b"
        raise DataError.at(file, row, "active_b", problem)
    name = item.get("name")
    return ModelFacts(
        model=once(file, row, "model", text_of(file, row, "model", item["model"]), seen),
        family=text_of(file, row, "family", item["family"]),
        size_b=size,
        active_b=active,
        name="" if name in (None, "") else text_of(file, row, "name", name),
    )


def _billions(file: str, row: int, field: str, value: object) -> float:
    found = number_of(file, row, field, value)
    if found <= 0:
        problem = f"{found:g} is no size; allowed: billions of parameters above 0, or nothing"
        raise DataError.at(file, row, field, problem)
    return found
