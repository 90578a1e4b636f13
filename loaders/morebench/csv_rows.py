"""MoReBench rows as upstream publishes them: one CSV line a dilemma, the rubric in one cell."""

import ast
import csv
import hashlib
import json
import logging
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.records import (
    NEUTRAL,
    THEORIES,
    Criterion,
    Scenario,
    slug,
    theory_name,
)

logger = logging.getLogger(__name__)

REQUIRED = ("DILEMMA", "RUBRIC")
OPTIONAL = ("DILEMMA_SOURCE", "DILEMMA_TYPE", "THEORY", "ROLE_DOMAIN", "CONTEXT")


def read_csv(path: Path) -> list[Scenario]:
    """All rows of a CSV file in the upstream format, in file order.

    Raises DataError naming file, row (the first after the header is 1) and field.
    Every row is kept: a repeated row gets its own id and is reported in the log.
    """
    csv.field_size_limit(sys.maxsize)  # a rubric cell can pass the default of 128 KiB
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            header = reader.fieldnames or []
            missing = [name for name in REQUIRED if name not in header]
            if missing:
                raise DataError(
                    f"{path.name}: column {', '.join(missing)} is missing; required are "
                    f"{', '.join(REQUIRED)}, read if present: {', '.join(OPTIONAL)}."
                )
            rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name}: not a UTF-8 CSV file ({error}).") from error
    seen: Counter[str] = Counter()
    return [_scenario(path, number, row, seen) for number, row in enumerate(rows, 1)]


def _scenario(path: Path, number: int, row: dict[str, Any], seen: Counter[str]) -> Scenario:
    dilemma = row["DILEMMA"] or ""
    if not dilemma.strip():
        raise DataError.at(path.name, number, "DILEMMA", "is empty")
    theory = _theory(path.name, number, row.get("THEORY"))
    stable = stable_id(path.stem, dilemma, theory)
    seen[stable] += 1
    if seen[stable] > 1:
        logger.warning("%s, row %d: the same dilemma and theory again, kept", path.name, number)
        stable = f"{stable}-{seen[stable]}"
    return Scenario(
        id=stable,
        dilemma=dilemma,
        theory=theory,
        role=row.get("ROLE_DOMAIN") or "",
        source=row.get("DILEMMA_SOURCE") or "",
        type=row.get("DILEMMA_TYPE") or "",
        context=(row.get("CONTEXT") or "").strip(),
        criteria=read_rubric(path.name, number, row["RUBRIC"]),
    )


def stable_id(stem: str, dilemma: str, theory: str) -> str:
    """A scenario's id from its file's name, theory and text.

    The dilemma alone is no key: it recurs under several theories and across files.
    """
    digest = hashlib.sha256(dilemma.encode()).hexdigest()[:10]
    return f"{slug(stem.removeprefix('morebench_'))}-{slug(theory)}-{digest}"


def _theory(file: str, number: int, cell: str | None) -> str:
    if cell is None or not cell.strip():
        return NEUTRAL
    name = theory_name(cell)
    if name is None:
        allowed = ", ".join((*THEORIES, NEUTRAL))
        raise DataError.at(file, number, "THEORY", f"{cell!r} is unknown; allowed: {allowed}")
    return name


def parse_rubric_cell(cell: str) -> Any:
    """The value of a RUBRIC cell: JSON or a Python literal, never evaluated as code.

    Raises ValueError if the cell is neither.
    """
    try:
        return json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(
            f"neither JSON nor a Python literal ({type(error).__name__}); "
            "a cell cut off in the middle looks like this too"
        ) from error


def read_rubric(file: str, number: int, cell: Any) -> tuple[Criterion, ...]:
    """The criteria of a RUBRIC cell, as text or parsed already; DataError for a bad one."""
    try:
        items = parse_rubric_cell(cell or "") if isinstance(cell, str | None) else cell
    except ValueError as error:
        raise DataError.at(file, number, "RUBRIC", str(error)) from error
    if not isinstance(items, list) or not items:
        raise DataError.at(file, number, "RUBRIC", "must be a non-empty list of criteria")
    return weighted(
        file, number, "RUBRIC", [_upstream_item(file, number, k, i) for k, i in enumerate(items, 1)]
    )


def _upstream_item(file: str, number: int, position: int, item: Any) -> dict[str, Any]:
    field = f"RUBRIC[{position}]"
    if not isinstance(item, dict):
        raise DataError.at(file, number, field, f"must be an object, not {type(item).__name__}")
    annotations = item.get("annotations")
    return {
        "id": item.get("id"),
        "text": item.get("title"),
        "weight": item.get("weight"),
        # `other_specify` beside it holds annotators' remarks and is left behind.
        "dimension": annotations.get("rubric_dimension") if isinstance(annotations, dict) else None,
    }


def weighted(
    file: str, number: int, field: str, items: list[dict[str, Any]]
) -> tuple[Criterion, ...]:
    """Validated criteria with distinct ids; those of weight 0 count for nothing and are left out."""
    criteria: list[Criterion] = []
    ids: Counter[str] = Counter()
    for position, item in enumerate(items, 1):
        item = {**item, "id": str(item.get("id") or f"c{position:02d}")}
        try:
            criterion = Criterion.model_validate(item)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            problem = first["msg"].removeprefix("Value error, ")
            raise DataError.at(file, number, f"{field}[{position}].{name}", problem) from error
        ids[criterion.id] += 1
        if ids[criterion.id] > 1:
            criterion = criterion.model_copy(update={"id": f"{criterion.id}-{ids[criterion.id]}"})
        if criterion.weight != 0:
            criteria.append(criterion)
    if not criteria:
        raise DataError.at(file, number, field, "no criterion has a weight other than 0")
    return tuple(criteria)
