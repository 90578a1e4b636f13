"""Dilemmas in the project's own schema `dilemma-1`, one JSON object a line (datasets/README.md)."""

from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.formats import json_lines, without_version
from moral_evals.loaders.morebench.csv_rows import weighted
from moral_evals.loaders.morebench.records import NO_OWN_NAMES, Criterion, OwnNames, Scenario

SCHEMA = "dilemma-1"


class _CriterionLine(Criterion):
    """A criterion as the schema has it: a field that it does not know is a slip."""

    model_config = ConfigDict(extra="forbid")


def read_jsonl(path: Path, own: OwnNames = NO_OWN_NAMES) -> list[Scenario]:
    """All dilemmas of a JSONL file in schema `dilemma-1`, in file order.

    `own` are names of the user's own, which rows may hold beside the benchmark's.

    Raises DataError naming file, row and field, and what is allowed there.
    """
    scenarios: list[Scenario] = []
    lines: dict[str, int] = {}
    for number, value in json_lines(path):
        scenario = _scenario(path.name, number, value, own)
        if scenario.id in lines:
            problem = f"{scenario.id!r} stands in row {lines[scenario.id]} too; ids are unique"
            raise DataError.at(path.name, number, "id", problem)
        lines[scenario.id] = number
        scenarios.append(scenario)
    return scenarios


def _scenario(file: str, number: int, value: dict[str, Any], own: OwnNames) -> Scenario:
    fields = without_version(file, number, value, SCHEMA)
    if "criteria" in fields:
        listed = fields["criteria"]
        fields["criteria"] = weighted(file, number, "criteria", listed, own, _CriterionLine)
    try:
        return Scenario.model_validate(fields, context=own.context())
    except ValidationError as error:
        raise DataError.of(file, number, error, model=Scenario) from error
