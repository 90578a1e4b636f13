"""Small tables that a user writes by hand: CSV with a header, or a YAML or JSON list of mappings."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from moral_evals.loaders.errors import DataError, SuiteError, listing, printable
from moral_evals.loaders.files import TABLE_LIMIT, shown
from moral_evals.loaders.formats import read_csv_table, read_yaml
from moral_evals.loaders.values import number, short

Row = dict[str, Any]


def read_table(path: Path, required: Sequence[str]) -> list[tuple[int, Row]]:
    """The rows of a `.csv`, `.yaml`, `.yml` or `.json` file with their numbers; at least one.

    `required` are columns that a CSV must have. Row numbers start at 1, a CSV's header not counted. A column or key stands in the
    row of a CSV even where its cell is empty, with "" for its value.

    Raises SuiteError for a file that is missing or of another kind, DataError for a bad one.
    """
    readers = {".csv": _csv, ".yaml": _listed, ".yml": _listed, ".json": _listed}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SuiteError(f"{shown(path)}: the name must end in {', '.join(readers)}.")
    rows = reader(path, required)
    if not rows:
        raise DataError(f"{path.name}: has no rows.")
    return rows


def check_fields(
    file: str, row: int, fields: Iterable[str], required: Sequence[str], optional: Sequence[str]
) -> None:
    """Raise DataError for a field that is missing or that the schema does not have."""
    fields = list(fields)
    allowed = f"allowed are {listing(required)}, and if you have them {listing(optional)}"
    for name in required:
        if name not in fields:
            raise DataError.at(file, row, name, f"is missing; {allowed}")
    for name in fields:
        if name not in (*required, *optional):
            raise DataError.at(file, row, printable(name), f"no such field; {allowed}")


def text_of(file: str, row: int, field: str, value: Any) -> str:
    """A cell that must hold text, without blanks around it."""
    # YAML reads a bare 4.1 or yes as something else than text
    if not isinstance(value, str) or not value.strip():
        raise DataError.at(
            file, row, field, f"{short(value)} is not text; allowed: text, in quotes"
        )
    return value.strip()


def number_of(file: str, row: int, field: str, value: Any) -> float:
    """A cell that holds a finite number; nan if it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        return number(value)
    except ValueError as error:
        problem = f"{error}; allowed: a number without unit, or nothing"
        raise DataError.at(file, row, field, problem) from error


def once(file: str, row: int, field: str, value: str, seen: set[str]) -> str:
    """The value, which no earlier row may have; it joins those seen."""
    if value in seen:
        raise DataError.at(file, row, field, f"{value!r} stands in the file twice; allowed: once")
    seen.add(value)
    return value


def fitting(names: Iterable[str], model: str) -> str | None:
    """The name that means a model of a log: the model's own, or the longest that ends it.

    `gpt-oss-120b` means `openrouter/openai/gpt-oss-120b`; a name ends a model after a `/` only.
    """
    return max((n for n in names if f"/{model}".endswith(f"/{n}")), key=len, default=None)


def _csv(path: Path, required: Sequence[str]) -> list[tuple[int, Row]]:
    return [(n, dict(row)) for n, row in read_csv_table(path, required, limit=TABLE_LIMIT).rows]


def _listed(path: Path, _: Sequence[str]) -> list[tuple[int, Row]]:
    found = read_yaml(path)
    if found is not None and not isinstance(found, list):
        raise DataError(f"{path.name}: must be a list with one mapping for each model.")
    for row, item in enumerate(found or [], 1):
        if not isinstance(item, dict) or not all(isinstance(key, str) for key in item):
            raise DataError.at(path.name, row, "(all)", "must be a mapping of field to value")
    return list(enumerate(found or [], 1))
