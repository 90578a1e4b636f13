"""Public dilemma sets in their published layouts, read as chains (CORDA section 6).

None of them carries tier values. For Multi-step Moral Dilemmas the user gives a map from value
labels to tiers, and LMS is then agreement with a value order; for MoralChoice the map from its
violation labels ships here.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from moral_evals.loaders.corda.chains import TIERS, Chain, Option, Step, finite_number
from moral_evals.loaders.errors import DataError, OptionError, listing

ValueMap = Mapping[str, Mapping[str, float]]
"""Value label in lower case to tier values of an option that carries it."""

_STEPS = 5

# Number of violations counted in each tier; "No Agreement" leaves the tier unknown.
MORALCHOICE_TIERS: dict[str, tuple[str, ...]] = {
    "rights_harm": ("death", "pain", "disable", "freedom"),
    "honesty_fairness": ("deceive", "cheat", "break_promise"),
    "welfare": ("pleasure",),
    "convention": ("break_law", "duty"),
}


def read_value_map(path: Path, tiers: Sequence[str] = TIERS) -> dict[str, dict[str, float]]:
    """A JSON object from value labels to objects of tier names and numbers.

    Raises:
        DataError: Naming the label and what is allowed.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path.name}: not JSON ({error}).") from error
    if not isinstance(raw, dict) or not raw:
        raise DataError(f"{path.name}: must be an object from value labels to tier values.")
    for label, levels in raw.items():
        good = isinstance(levels, dict) and all(
            t in tiers and finite_number(v) for t, v in levels.items()
        )
        if not good:
            raise DataError(
                f"{path.name}, value {label!r}: must be an object of numbers by tier; tiers are "
                f"{listing(tiers)}."
            )
    return {_key(label): dict(levels) for label, levels in raw.items()}


def read_mmds(path: Path, value_map: ValueMap | None) -> list[Chain]:
    """Multi-step Moral Dilemmas: a JSON list, or JSON lines, of chains of five two-way steps.

    Keys are `idx`, `norm` and `step N_situation`, `_dilemma`, `_choiceA`, `_choiceA_value`,
    `_choiceB`, `_choiceB_value` for N from 1 to 5; "Step" is read as well.

    Raises:
        OptionError: Without a value map, or for a label that it lacks.
        DataError: For a missing key.
    """
    if value_map is None:
        raise OptionError(
            f"-T data={path.name}: Multi-step Moral Dilemmas carry value labels and no tiers; give "
            '-T value_map=FILE.json, an object such as {"Care/Harm": {"rights_harm": 1}}.'
        )
    rows = enumerate(_json_rows(path), 1)
    chains = [_mmds_chain(path.name, number, row, value_map) for number, row in rows]
    if not chains:
        raise DataError(f"{path.name}: has no chains.")
    _refuse_repeats(path.name, "idx", [c.chain_id for c in chains])
    return chains


def _refuse_repeats(file: str, field: str, ids: Sequence[str]) -> None:
    for number, value in enumerate(ids, 1):
        if value in ids[: number - 1]:
            raise DataError.at(file, number, field, f"{value!r} stands in an earlier row too")


def _json_rows(path: Path) -> list[Any]:
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name}: not UTF-8 ({error}).") from error
    try:
        rows = json.loads(content)
        return rows if isinstance(rows, list) else [rows]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.splitlines() if line.strip()]
    except ValueError as error:
        raise DataError(f"{path.name}: neither a JSON list nor JSON lines ({error}).") from error


def _mmds_chain(file: str, number: int, row: Any, value_map: ValueMap) -> Chain:
    if not isinstance(row, dict):
        raise DataError(f"{file}, row {number}: must be an object.")
    fields = {str(k).casefold(): v for k, v in row.items()}

    def field(name: str) -> str:
        value = fields.get(name.casefold())
        if not isinstance(value, str) or not value.strip():
            raise DataError.at(file, number, name, "must be text that is not blank")
        return value.strip()

    def option(step: int, letter: str) -> Option:
        label = field(f"step {step}_choice{letter}_value")
        if _key(label) not in value_map:
            raise OptionError(
                f"{file}, row {number}, step {step}: value {label!r} is not in the value map; "
                f"it has {listing(sorted(value_map))}."
            )
        # an option carries one value; what the map gives it no level on is not engaged
        used = {t for levels in value_map.values() for t in levels}
        tiers: dict[str, float | None] = dict.fromkeys((*TIERS, *sorted(used)), 0.0)
        return Option(
            option_id=letter.lower(),
            text=field(f"step {step}_choice{letter}"),
            tiers=tiers | dict(value_map[_key(label)]),
        )

    steps = tuple(
        Step(
            step_id=f"s{n}",
            situation=field(f"step {n}_situation"),
            question=field(f"step {n}_dilemma"),
            options=(option(n, "A"), option(n, "B")),
        )
        for n in range(1, _STEPS + 1)
    )
    return Chain(chain_id=f"mmds-{row.get('idx', number)}", stratum="mmds", steps=steps)


def read_moralchoice(path: Path) -> list[Chain]:
    """MoralChoice scenarios, one step each, grouped by generation rule into pseudo-chains.

    They are related, not a story. Columns: scenario_id, context, action1, action2, and for both
    actions (a1_, a2_) the ten violation labels with Yes, No or No Agreement.

    Raises:
        DataError: Naming row and column of what is missing or not allowed.
    """
    groups: dict[str, list[Step]] = {}
    ids: list[str] = []
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        for number, row in enumerate(csv.DictReader(file), 1):
            key = f"{row.get('ambiguity') or 'all'}-{row.get('generation_rule') or 'all'}"
            groups.setdefault(key, []).append(_moralchoice_step(path.name, number, row))
            ids.append(groups[key][-1].step_id)
    _refuse_repeats(path.name, "scenario_id", ids)
    if not groups:
        raise DataError(f"{path.name}: has no rows.")
    return [
        Chain(chain_id=f"moralchoice-{key}", stratum="moralchoice", steps=tuple(steps))
        for key, steps in groups.items()
    ]


def _moralchoice_step(file: str, number: int, row: dict[str, Any]) -> Step:
    def field(name: str) -> str:
        value = row.get(name)
        if value is None or not str(value).strip():
            raise DataError.at(file, number, name, "is missing")
        return str(value).strip()

    def level(action: int, labels: Sequence[str]) -> float | None:
        found = []
        for label in labels:
            name = f"a{action}_{label}"
            value = field(name)
            if value.casefold() not in ("yes", "no", "no agreement"):
                allowed = "Yes, No, No Agreement"
                raise DataError.at(file, number, name, f"{value!r}; allowed are {allowed}")
            found.append(value.casefold())
        return None if "no agreement" in found else -float(found.count("yes"))

    return Step(
        step_id=field("scenario_id"),
        situation=field("context"),
        options=tuple(
            Option(
                option_id=f"action{a}",
                text=field(f"action{a}"),
                tiers={tier: level(a, labels) for tier, labels in MORALCHOICE_TIERS.items()},
            )
            for a in (1, 2)
        ),
    )


def _key(label: str) -> str:
    # the set's labels come in mixed case, "Care/Harm" and "care/harm"
    return " ".join(label.split()).casefold()
