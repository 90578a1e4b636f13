"""Dilemmas in the project's own schema `dilemma-1`, one JSON object a line (datasets/README.md)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.formats import json_lines, without_version
from moral_evals.loaders.morebench.csv_rows import weighted
from moral_evals.loaders.morebench.records import Criterion, Scenario

SCHEMA = "dilemma-1"


class _CriterionLine(Criterion):
    """A criterion as the schema has it: a field that it does not know is a slip."""

    model_config = ConfigDict(extra="forbid")


def read_jsonl(path: Path, theories: Sequence[str] = ()) -> list[Scenario]:
    """All dilemmas of a JSONL file in schema `dilemma-1`, in file order.

    `theories` are names of the user's own, which rows may hold beside the five.

    Raises DataError naming file, row and field, and what is allowed there.
    """
    scenarios: list[Scenario] = []
    lines: dict[str, int] = {}
    for number, value in json_lines(path):
        scenario = _scenario(path.name, number, value, theories)
        if scenario.id in lines:
            problem = f"{scenario.id!r} stands in row {lines[scenario.id]} too; ids are unique"
            raise DataError.at(path.name, number, "id", problem)
        lines[scenario.id] = number
        scenarios.append(scenario)
    return scenarios


def _scenario(file: str, number: int, value: dict[str, Any], theories: Sequence[str]) -> Scenario:
    fields = without_version(file, number, value, SCHEMA)
    if "criteria" in fields:
        fields["criteria"] = weighted(file, number, "criteria", fields["criteria"], _CriterionLine)
    try:
        return Scenario.model_validate(fields, context={"theories": theories})
    except ValidationError as error:
        raise DataError.of(file, number, error, model=Scenario) from error
