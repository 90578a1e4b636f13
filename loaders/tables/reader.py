"""Small tables that a user writes by hand: CSV with a header, or a YAML or JSON list of mappings."""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from moral_evals.loaders.errors import DataError, SuiteError, first_line, listing

Row = dict[str, Any]


def read_table(path: Path) -> list[Row]:
    """The rows of a `.csv`, `.yaml`, `.yml` or `.json` file, in file order; at least one.

    Row numbers in errors start at 1, a CSV's header not counted. A column or key stands in the
    row of a CSV even where its cell is empty, with "" for its value.

    Raises SuiteError for a file that is missing or of another kind, DataError for a bad one.
    """
    readers = {".csv": _csv, ".yaml": _yaml, ".yml": _yaml, ".json": _json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SuiteError(f"{path}: the name must end in {', '.join(readers)}.")
    try:
        rows = reader(path, path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name}: not UTF-8 text ({error}).") from error
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
            raise DataError.at(file, row, name, f"no such field; {allowed}")


def text_of(file: str, row: int, field: str, value: Any) -> str:
    """A cell that must hold text, without blanks around it."""
    # YAML reads a bare 4.1 or yes as something else than text
    if not isinstance(value, str) or not value.strip():
        raise DataError.at(file, row, field, f"{value!r} is not text; allowed: text, in quotes")
    return value.strip()


def number_of(file: str, row: int, field: str, value: Any) -> float:
    """A cell that holds a finite number; nan if it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        problem = f"{value!r} is not a number; allowed: a number without unit, or nothing"
        raise DataError.at(file, row, field, problem)
    return found


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


def _csv(path: Path, text: str) -> list[Row]:
    try:
        lines = [line for line in csv.reader(io.StringIO(text), strict=True) if any(line)]
    except csv.Error as error:
        raise DataError(f"{path.name}: not a CSV file ({error}).") from error
    header = [cell.strip() for cell in lines[0]] if lines else []
    for name in header:
        if not name or header.count(name) > 1:
            problem = "a column without a name" if not name else "the column stands there twice"
            raise DataError.at(path.name, "header", name or "(empty)", problem)
    for row, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            problem = f"{len(line)} cells for {len(header)} columns ({listing(header)})"
            raise DataError.at(path.name, row, "(all)", problem)
    return [dict(zip(header, line, strict=True)) for line in lines[1:]]


def _yaml(path: Path, text: str) -> list[Row]:
    try:
        return _mappings(path, yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise DataError(f"{path.name}: not YAML ({first_line(error)}).") from error


def _json(path: Path, text: str) -> list[Row]:
    try:
        return _mappings(path, json.loads(text))
    except json.JSONDecodeError as error:
        raise DataError(f"{path.name}: not JSON ({error}).") from error


def _mappings(path: Path, found: Any) -> list[Row]:
    if found is not None and not isinstance(found, list):
        raise DataError(f"{path.name}: must be a list with one mapping for each model.")
    for row, item in enumerate(found or [], 1):
        if not isinstance(item, dict) or not all(isinstance(key, str) for key in item):
            raise DataError.at(path.name, row, "(all)", "must be a mapping of field to value")
    return found or []
