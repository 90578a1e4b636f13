"""CORDA's records and their file: chains of related dilemmas, schema `corda-1`, one a line."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.jsonl import json_lines

SCHEMA = "corda-1"
TIERS = ("rights_harm", "honesty_fairness", "welfare", "convention")
"""Default tier order, highest first (CORDA section 3.2)."""


class Option(BaseModel):
    """One course of action; its tier values, where None or an absent tier is unknown."""

    model_config = ConfigDict(frozen=True)

    option_id: str
    text: str
    tiers: dict[str, float | None] = {}


class Step(BaseModel):
    """A dilemma that can be read alone, and its options."""

    model_config = ConfigDict(frozen=True)

    step_id: str
    situation: str
    question: str = ""
    options: tuple[Option, ...]


class Chain(BaseModel):
    """A story in steps; `context` is shown at every step."""

    model_config = ConfigDict(frozen=True)

    chain_id: str
    stratum: str = ""
    role: str = ""
    context: str = ""
    steps: tuple[Step, ...]


_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "chain": (("schema_version", "chain_id", "steps"), ("stratum", "role", "context")),
    "step": (("step_id", "situation", "options"), ("question",)),
    "option": (("option_id", "text"), ("tiers",)),
}


def read_chains(path: Path, tier_order: Sequence[str] = TIERS) -> list[Chain]:
    """All chains of a file, in file order.

    Args:
        path: JSONL in schema `corda-1`.
        tier_order: The tier names that options may carry.

    Raises:
        DataError: Naming file, row, chain, step and field, and what is allowed.
    """
    chains: list[Chain] = []
    rows: dict[str, int] = {}
    for row, value in json_lines(path):
        chain = _Reader(path.name, row, tuple(tier_order)).chain(value)
        if chain.chain_id in rows:
            raise DataError.at(
                path.name,
                row,
                "chain_id",
                f"{chain.chain_id!r} stands in row {rows[chain.chain_id]} too; ids are unique",
            )
        rows[chain.chain_id] = row
        chains.append(chain)
    if not chains:
        raise DataError(f"{path.name}: has no chains.")
    return chains


def finite_number(value: Any) -> bool:
    """Whether a JSON value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


class _Reader:
    """Checks one line and names the place of what is wrong."""

    def __init__(self, file: str, row: int, tier_order: tuple[str, ...]) -> None:
        self.file, self.row, self.tier_order = file, row, tier_order
        self.where = ""

    def chain(self, value: dict[str, Any]) -> Chain:
        self._fields("chain", value)
        if value["schema_version"] != SCHEMA:
            self._fail("schema_version", f"must be {SCHEMA!r}")
        chain_id = self._text(value, "chain_id")
        self.where = f"chain {chain_id!r}"
        steps = [self._step(s, chain_id) for s in self._list(value, "steps", 1)]
        self.where = f"chain {chain_id!r}"
        self._unique("step_id", [s.step_id for s in steps])
        texts = {k: self._text(value, k, "") for k in ("stratum", "role", "context")}
        return Chain(chain_id=chain_id, steps=tuple(steps), **texts)

    def _step(self, value: Any, chain_id: str) -> Step:
        self.where = f"chain {chain_id!r}"
        self._fields("step", value)
        step_id = self._text(value, "step_id")
        self.where = f"chain {chain_id!r}, step {step_id!r}"
        options = [self._option(o) for o in self._list(value, "options", 2)]
        self._unique("option_id", [o.option_id for o in options])
        self._unique("text", [" ".join(o.text.split()).casefold() for o in options])
        return Step(
            step_id=step_id,
            situation=self._text(value, "situation"),
            question=self._text(value, "question", ""),
            options=tuple(options),
        )

    def _option(self, value: Any) -> Option:
        self._fields("option", value)
        tiers = {} if value.get("tiers") is None else value["tiers"]
        if not isinstance(tiers, dict):
            self._fail("tiers", "must be an object of tier names and numbers")
        for name, level in tiers.items():
            if name not in self.tier_order:
                self._fail(f"tiers.{name}", f"allowed are {', '.join(self.tier_order)}")
            if level is not None and not finite_number(level):
                self._fail(f"tiers.{name}", f"{level!r}; allowed are finite numbers and null")
        option_id = self._text(value, "option_id")
        return Option(option_id=option_id, text=self._text(value, "text"), tiers=tiers)

    def _fields(self, kind: str, value: Any) -> None:
        required, optional = _FIELDS[kind]
        if not isinstance(value, dict):
            self._fail(kind, "must be an object")
        for field in required:
            if field not in value:
                self._fail(field, "is missing")
        unknown = sorted(set(value) - {*required, *optional})
        if unknown:
            self._fail(
                unknown[0], f"is not in the schema; allowed: {', '.join(required + optional)}"
            )

    def _text(self, value: dict[str, Any], field: str, default: str | None = None) -> str:
        found = value.get(field, default)
        if not isinstance(found, str) or (default is None and not found.strip()):
            self._fail(field, "must be text" + ("" if default == "" else " that is not blank"))
        return str(found)

    def _list(self, value: dict[str, Any], field: str, least: int) -> list[Any]:
        found = value[field]
        if not isinstance(found, list) or len(found) < least:
            self._fail(field, f"must be a list of at least {least}")
        return list(found)

    def _unique(self, field: str, values: list[str]) -> None:
        for value in values:
            if values.count(value) > 1:
                self._fail(field, f"{value!r} stands here twice")

    def _fail(self, field: str, problem: str) -> None:
        place = f"{self.where}, {field}" if self.where else field
        raise DataError.at(self.file, self.row, place, problem)
