"""Public dilemma sets in their published layouts, read as chains (CORDA section 6).

None of them carries tier values. For Multi-step Moral Dilemmas the user gives a map from value
labels to tiers, and LMS is then agreement with a value order; for MoralChoice the map from its
violation labels ships here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from moral_evals.loaders.corda.chains import TIERS, Chain, Option, Step
from moral_evals.loaders.errors import DataError, OptionError, listing, printable
from moral_evals.loaders.files import TABLE_LIMIT, read_text
from moral_evals.loaders.formats import parse_json, read_csv_table
from moral_evals.loaders.values import distinct, json_number, short

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
_MORALCHOICE_COLUMNS = (
    "scenario_id", "context", "action1", "action2",
    *(f"a{a}_{label}" for a in (1, 2) for tier in MORALCHOICE_TIERS.values() for label in tier),
)  # fmt: skip


def read_value_map(path: Path, tiers: Sequence[str] = TIERS) -> dict[str, dict[str, float]]:
    """A JSON object from value labels to objects of tier names and numbers.

    Raises:
        DataError: Naming the label and what is allowed.
    """
    raw = parse_json(read_text(path, TABLE_LIMIT), path.name)
    if not isinstance(raw, dict) or not raw:
        raise DataError(f"{path.name}: must be an object from value labels to tier values.")
    found: dict[str, dict[str, float]] = {}
    for label, levels in raw.items():
        if _key(label) in found or not _key(label):
            problem = "a label is blank, or stands twice but for its case; allowed: once"
            raise DataError.at(path.name, printable(label), "value", problem)
        found[_key(label)] = _levels(path.name, label, levels, tiers)
    return found


def _levels(file: str, label: str, levels: Any, tiers: Sequence[str]) -> dict[str, float]:
    allowed = f"must be an object of numbers by tier; tiers are {listing(tiers)}"
    if not isinstance(levels, dict):
        raise DataError.at(file, printable(label), "value", allowed)
    found = {}
    for tier, level in levels.items():
        try:
            found[tier] = json_number(level)
        except ValueError as error:
            raise DataError.at(
                file, printable(label), printable(tier), f"{error}; {allowed}"
            ) from error
        if tier not in tiers:
            raise DataError.at(file, printable(label), printable(tier), f"no such tier; {allowed}")
    return found


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
    rows = list(_json_rows(path))
    chains = [_mmds_chain(path.name, number, row, value_map) for number, row in rows]
    if not chains:
        raise DataError(f"{path.name}: has no chains.")
    numbers = (number for number, _ in rows)
    _refuse_repeats(path.name, "idx", zip(numbers, (c.chain_id for c in chains), strict=True))
    return chains


def _refuse_repeats(file: str, field: str, ids: Iterable[tuple[int, str]]) -> None:
    seen: set[str] = set()
    for number, value in ids:
        if value in seen:
            raise DataError.at(file, number, field, f"{value!r} stands in an earlier row too")
        seen.add(value)


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Rows of a JSON list by their place in it, or of JSON lines by their line."""
    text = read_text(path)
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") for _, line in lines):
        yield from ((n, parse_json(line, path.name, n)) for n, line in lines)
        return
    value = parse_json(text, path.name)
    rows = value if isinstance(value, list) else [value]
    yield from enumerate(rows, 1)


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
    idx = fields.get("idx", number)
    if not isinstance(idx, int | str) or isinstance(idx, bool) or not str(idx).strip():
        raise DataError.at(file, number, "idx", f"{short(idx)}; must be a number or text")
    return Chain(chain_id=f"mmds-{idx}", stratum="mmds", steps=steps)


def read_moralchoice(path: Path) -> list[Chain]:
    """MoralChoice scenarios, one step each, grouped by generation rule into pseudo-chains.

    They are related, not a story. Columns: scenario_id, context, action1, action2, and for both
    actions (a1_, a2_) the ten violation labels with Yes, No or No Agreement.

    Raises:
        DataError: Naming row and column of what is missing or not allowed.
    """
    groups: dict[tuple[str, str], list[Step]] = {}
    ids: list[tuple[int, str]] = []
    table = read_csv_table(path, _MORALCHOICE_COLUMNS, ("ambiguity", "generation_rule"))
    for number, row in table.rows:
        step = _moralchoice_step(path.name, number, row)
        key = (row.get("ambiguity") or "all", row.get("generation_rule") or "all")
        groups.setdefault(key, []).append(step)
        ids.append((number, step.step_id))
    _refuse_repeats(path.name, "scenario_id", ids)
    if not groups:
        raise DataError(f"{path.name}: has no rows.")
    names = distinct([f"moralchoice-{'-'.join(key)}" for key in groups])
    return [
        Chain(chain_id=name, stratum="moralchoice", steps=tuple(steps))
        for name, steps in zip(names, groups.values(), strict=True)
    ]


def _moralchoice_step(file: str, number: int, row: dict[str, str]) -> Step:
    def field(name: str) -> str:
        if not row[name].strip():
            raise DataError.at(file, number, name, "is missing")
        return row[name].strip()

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
