"""Dilemmas in the project's own schema `dilemma-1`, one JSON object a line (datasets/README.md)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.csv_rows import weighted
from moral_evals.loaders.morebench.records import NEUTRAL, ROLES, THEORIES, Scenario, theory_name

SCHEMA = "dilemma-1"
_REQUIRED = ("schema_version", "id", "dilemma", "criteria")
_CRITERION = ("id", "text", "weight", "dimension")
_OPTIONAL = ("theory", "role", "source", "type", "context")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers from 1 and the objects on them; blank lines are passed over.

    Raises DataError naming the file and line of anything that is not a JSON object.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name}: not UTF-8 ({error}).") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path.name}, row {number}: not JSON ({error}).") from error
        if not isinstance(value, dict):
            raise DataError(f"{path.name}, row {number}: must be a JSON object.")
        yield number, value


def read_jsonl(path: Path) -> list[Scenario]:
    """All dilemmas of a JSONL file in schema `dilemma-1`, in file order.

    Raises DataError naming file, row and field, and what is allowed there.
    """
    scenarios: list[Scenario] = []
    lines: dict[str, int] = {}
    for number, value in json_lines(path):
        scenario = _scenario(path.name, number, value)
        if scenario.id in lines:
            problem = f"{scenario.id!r} stands in row {lines[scenario.id]} too; ids are unique"
            raise DataError.at(path.name, number, "id", problem)
        lines[scenario.id] = number
        scenarios.append(scenario)
    return scenarios


def _scenario(file: str, number: int, value: dict[str, Any]) -> Scenario:
    for field in _REQUIRED:
        if field not in value:
            raise DataError.at(file, number, field, "is missing")
    unknown = sorted(set(value) - {*_REQUIRED, *_OPTIONAL})
    if unknown:
        allowed = ", ".join((*_REQUIRED, *_OPTIONAL))
        raise DataError.at(file, number, unknown[0], f"is not in the schema; allowed: {allowed}")
    if value["schema_version"] != SCHEMA:
        raise DataError.at(file, number, "schema_version", f"must be {SCHEMA!r}")
    for field in ("id", "dilemma"):
        if not isinstance(value[field], str) or not value[field].strip():
            raise DataError.at(file, number, field, "must be text that is not blank")
    for field in _OPTIONAL:
        if not isinstance(value.get(field, ""), str):
            raise DataError.at(file, number, field, "must be text")
    theory = theory_name(value.get("theory", NEUTRAL))
    if theory is None:
        allowed = ", ".join((*THEORIES, NEUTRAL))
        raise DataError.at(file, number, "theory", f"{value['theory']!r}; allowed: {allowed}")
    role = value.get("role", "")
    if role not in ("", *ROLES):  # the role chooses the prompt, so a slip must not pass
        raise DataError.at(file, number, "role", f"{role!r}; allowed: {', '.join(ROLES)}")
    items = value["criteria"]
    if not isinstance(items, list) or not items or not all(isinstance(i, dict) for i in items):
        raise DataError.at(file, number, "criteria", "must be a non-empty list of objects")
    for position, item in enumerate(items, 1):
        extra = sorted(set(item) - set(_CRITERION))
        if extra:
            field = f"criteria[{position}].{extra[0]}"
            allowed = ", ".join(_CRITERION)
            raise DataError.at(file, number, field, f"is not in the schema; allowed: {allowed}")
    return Scenario(
        id=value["id"],
        dilemma=value["dilemma"],
        theory=theory,
        criteria=weighted(file, number, "criteria", items),
        **{k: value.get(k, "") for k in ("role", "source", "type", "context")},
    )
