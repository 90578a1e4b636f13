"""CORDA's records and their file: chains of related dilemmas, schema `corda-1`, one a line."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from moral_evals.loaders.errors import DataError, field_name, validation_problem
from moral_evals.loaders.formats import json_lines, without_version
from moral_evals.loaders.values import Words, at_least, json_number, repeated, short

SCHEMA = "corda-1"
TIERS = ("rights_harm", "honesty_fairness", "welfare", "convention")
"""Default tier order, highest first (CORDA section 3.2)."""


def _level(value: Any) -> float | None:
    try:
        return None if value is None else json_number(value)
    except ValueError:
        raise ValueError(f"{short(value)}; allowed are finite numbers and null") from None


Tiers = Annotated[
    dict[str, Annotated[float | None, BeforeValidator(_level)]],
    BeforeValidator(lambda value: {} if value is None else value),
]


class Option(BaseModel):
    """One course of action; its tier values, where None or an absent tier is unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    option_id: Words
    text: Words
    tiers: Tiers = {}


class Step(BaseModel):
    """A dilemma that can be read alone, and its options."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    step_id: Words
    situation: Words
    question: str = ""
    options: Annotated[tuple[Option, ...], at_least(2)]


class Chain(BaseModel):
    """A story in steps; `context` is shown at every step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chain_id: Words
    stratum: str = ""
    role: str = ""
    context: str = ""
    steps: Annotated[tuple[Step, ...], at_least(1)]


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
        chain = _chain(path.name, row, without_version(path.name, row, value, SCHEMA))
        for place, problem in _conflicts(chain, tier_order):
            raise DataError.at(path.name, row, place, problem)
        if chain.chain_id in rows:
            problem = f"{chain.chain_id!r} stands in row {rows[chain.chain_id]} too; ids are unique"
            raise DataError.at(path.name, row, "chain_id", problem)
        rows[chain.chain_id] = row
        chains.append(chain)
    if not chains:
        raise DataError(f"{path.name}: has no chains.")
    return chains


def _chain(file: str, row: int, value: dict[str, Any]) -> Chain:
    try:
        return Chain.model_validate(value)
    except ValidationError as error:
        place, problem = validation_problem(error, Chain)
        raise DataError.at(file, row, _place(value, place), problem) from error


def _place(value: dict[str, Any], path: Sequence[int | str]) -> str:
    """A place by the names of chain and step, as far as they can be read."""
    chain, names = value.get("chain_id"), []
    if isinstance(chain, str) and chain.strip() and path[:1] != ("chain_id",):
        names.append(f"chain {chain!r}")
    if len(path) > 1 and path[0] == "steps":
        step = value["steps"][int(path[1]) - 1]
        name = step.get("step_id") if isinstance(step, dict) else None
        if isinstance(name, str) and name.strip():
            names.append(f"step {name!r}")
            path = path[2:]
    return ", ".join([*names, field_name(path)])


def _conflicts(chain: Chain, tier_order: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What no field shows alone: names that stand twice, and tiers outside the order."""
    where = f"chain {chain.chain_id!r}"
    if twice := repeated(s.step_id for s in chain.steps):
        yield f"{where}, step_id", f"{twice!r} stands here twice"
    for step in chain.steps:
        place = f"{where}, step {step.step_id!r}"
        if twice := repeated(o.option_id for o in step.options):
            yield f"{place}, option_id", f"{twice!r} stands here twice"
        if twice := repeated(" ".join(o.text.split()).casefold() for o in step.options):
            yield f"{place}, text", f"{twice!r} stands here twice"
        for name in (n for o in step.options for n in o.tiers if n not in tier_order):
            yield (
                f"{place}, tiers.{name}",
                (
                    f"allowed are {', '.join(tier_order)}; tiers of your own are named by "
                    "-T tier_order=HIGHEST,...,LOWEST"
                ),
            )
