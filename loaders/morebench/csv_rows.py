"""MoReBench rows as upstream publishes them: one CSV line a dilemma, the rubric in one cell."""

import ast
import hashlib
import json
import logging
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.formats import checked, read_csv_table, strict_json, unknown_column
from moral_evals.loaders.morebench.records import (
    NEUTRAL,
    NO_OWN_NAMES,
    Criterion,
    OwnNames,
    Scenario,
    slug,
    theory_name,
)
from moral_evals.loaders.values import distinct

logger = logging.getLogger(__name__)

REQUIRED = ("DILEMMA", "RUBRIC")
OPTIONAL = ("ID", "DILEMMA_SOURCE", "DILEMMA_TYPE", "THEORY", "ROLE_DOMAIN", "CONTEXT")

UnknownColumns = Literal["refuse", "warn", "allow"]
"""What to do about a column that is not read."""


_COLUMNS = {"id": "ID", "dilemma": "DILEMMA", "theory": "THEORY", "role": "ROLE_DOMAIN"}


def read_csv(
    path: Path, unknown: UnknownColumns = "refuse", own: OwnNames = NO_OWN_NAMES
) -> list[Scenario]:
    """All rows of a CSV file in the upstream format, in file order.

    Every row is kept: a repeated row gets its own id and is reported in the log. With a column ID
    its cells are the ids, and none may stand there twice.

    Args:
        path: The file.
        unknown: What to do about a column that is not read.
        own: Names of the user's own that the rows may hold.

    Raises:
        DataError: Naming file, row (the first after the header is 1) and field.
    """
    table = read_csv_table(path, REQUIRED, OPTIONAL)
    if unknown != "allow" and (problem := unknown_column(table, (*REQUIRED, *OPTIONAL))):
        if unknown == "refuse":
            raise DataError(f"{problem}; -T allow_columns=true passes over columns not known.")
        logger.warning("%s; it is passed over", problem)
    scenarios = [_scenario(path, number, row, own) for number, row in table.rows]
    if "ID" in table.header:
        _refuse_repeated(
            table.file, [(n, s.id) for (n, _), s in zip(table.rows, scenarios, strict=True)]
        )
    ids = distinct([s.id for s in scenarios])
    for (number, _), scenario, name in zip(table.rows, scenarios, ids, strict=True):
        if name != scenario.id:
            logger.warning("%s, row %d: the same dilemma and theory again, kept", path.name, number)
    return [s.model_copy(update={"id": n}) for s, n in zip(scenarios, ids, strict=True)]


def _refuse_repeated(file: str, ids: list[tuple[int, str]]) -> None:
    rows: dict[str, int] = {}
    for number, name in ids:
        if name in rows:
            problem = f"{name!r} stands in row {rows[name]} too; ids are unique"
            raise DataError.at(file, number, "ID", problem)
        rows[name] = number


def _scenario(path: Path, number: int, row: dict[str, str], own: OwnNames) -> Scenario:
    theory = row.get("THEORY", "").strip() or NEUTRAL
    # the id has the theory's exact name; one that is unknown is refused below
    name = stable_id(path.stem, row["DILEMMA"], theory_name(theory, own.theories) or theory)
    try:
        return Scenario.model_validate(
            {
                "id": row["ID"].strip() if "ID" in row else name,
                "dilemma": row["DILEMMA"],
                "theory": theory,
                "role": row.get("ROLE_DOMAIN", ""),
                "source": row.get("DILEMMA_SOURCE", ""),
                "type": row.get("DILEMMA_TYPE", ""),
                "context": row.get("CONTEXT", "").strip(),
                "criteria": read_rubric(path.name, number, row["RUBRIC"], own),
            },
            context=own.context(),
        )
    except ValidationError as error:
        raise DataError.of(path.name, number, error, names=_COLUMNS) from error


def stable_id(stem: str, dilemma: str, theory: str) -> str:
    """A scenario's id from its file's name, theory and text.

    The dilemma alone is no key: it recurs under several theories and across files.
    """
    digest = hashlib.sha256(dilemma.encode()).hexdigest()[:10]
    return f"{slug(stem.removeprefix('morebench_'))}-{slug(theory)}-{digest}"


def parse_rubric_cell(cell: str) -> Any:
    """The value of a RUBRIC cell: JSON or a Python literal, never evaluated as code.

    Raises ValueError if the cell is neither, or has a key twice in one object.
    """
    try:
        return strict_json(cell)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        tree = ast.parse(cell.lstrip(" \t"), mode="eval")
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(
            f"neither JSON nor a Python literal ({type(error).__name__}); "
            "a cell cut off in the middle looks like this too"
        ) from error
    for node in ast.walk(tree):
        keys = [k.value for k in getattr(node, "keys", []) if isinstance(k, ast.Constant)]
        if len(set(keys)) < len(keys):
            raise ValueError("a key stands twice in one object; allowed: once")
    return value


def read_rubric(
    file: str, number: int, cell: Any, own: OwnNames = NO_OWN_NAMES
) -> tuple[Criterion, ...]:
    """The criteria of a RUBRIC cell, as text or parsed already; DataError for a bad one."""
    try:
        items = parse_rubric_cell(cell or "") if isinstance(cell, str | None) else cell
    except ValueError as error:
        raise DataError.at(file, number, "RUBRIC", str(error)) from error
    if not isinstance(items, list) or not items:
        raise DataError.at(file, number, "RUBRIC", "must be a non-empty list of criteria")
    checked({"RUBRIC": items}, file, number, nan=True)
    found = [_upstream_item(file, number, k, i) for k, i in enumerate(items, 1)]
    return weighted(file, number, "RUBRIC", found, own)


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
    file: str,
    number: int,
    field: str,
    items: Any,
    own: OwnNames = NO_OWN_NAMES,
    model: type[Criterion] = Criterion,
) -> tuple[Criterion, ...]:
    """Validated criteria with distinct ids; those of weight 0 count for nothing and are left out.

    Raises DataError for what is not a list of criteria.
    """
    if not isinstance(items, list) or not items or not all(isinstance(i, dict) for i in items):
        raise DataError.at(file, number, field, "must be a non-empty list of objects")
    found = []
    for position, item in enumerate(items, 1):
        item = {**item, "id": str(item.get("id") or f"c{position:02d}")}
        try:
            found.append(model.model_validate(item, context=own.context()))
        except ValidationError as error:
            raise DataError.of(
                file, number, error, model=model, prefix=(field, position)
            ) from error
    ids = distinct([c.id for c in found])
    kept = [
        Criterion(id=name, text=c.text, weight=c.weight, dimension=c.dimension)
        for c, name in zip(found, ids, strict=True)
        if c.weight != 0
    ]
    if not kept:
        raise DataError.at(file, number, field, "no criterion has a weight other than 0")
    return tuple(kept)
