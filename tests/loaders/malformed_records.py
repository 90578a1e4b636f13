"""Malformed files of JSON records, a fault at a time."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moral_evals.loaders.corda.adapters import read_mmds
from moral_evals.loaders.corda.chains import read_chains
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.tables.judge_pairs import read_attacks, read_pairs
from moral_evals.loaders.upstream.rows import read_generations, read_judgements
from tests.loaders.malformed_case import HALF, Case, Writer, rubric_item

VALUES = {"care/harm": {"rights_harm": 1.0}, "fairness/cheating": {"honesty_fairness": 1.0}}


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        name: File name.
        read: Its reader.
        record: Makes the n-th good record, from 1.
        texts: Places of texts that must not be blank.
        numbers: Places of numbers that must be finite.
        closed: Whether a field that the schema lacks is refused.
        unique: Place of the name that stands once in a file.
        choices: Places of values from a closed list.
    """

    name: str
    read: Callable[[Path], Any]
    record: Callable[[int], dict[str, Any]]
    texts: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    closed: bool = True
    unique: str = ""
    choices: tuple[str, ...] = ()


def _dilemma(n: int) -> dict[str, Any]:
    criteria = [
        {"id": f"c{k}", "text": f"Weighs point {k}.", "weight": w, "dimension": "identifying"}
        for k, w in ((1, 2), (2, -1))
    ]
    return {"schema_version": "dilemma-1", "id": f"d{n}", "dilemma": f"Case {n}.", "theory":
            "neutral", "role": "ai_agent", "criteria": criteria}  # fmt: skip


def _chain(n: int) -> dict[str, Any]:
    options = [{"option_id": f"o{k}", "text": f"Way {k}.", "tiers": {"welfare": k}} for k in (1, 2)]
    steps = [{"step_id": "s1", "situation": "Now.", "options": options}]
    return {"schema_version": "corda-1", "chain_id": f"k{n}", "steps": steps}


def _pairs(n: int) -> dict[str, Any]:
    pair = {"pair_id": "p1", "criterion": "Is kind.", "label": "yes", "weight": 1}
    return {"schema_version": "judge-pairs-1", "text_id": f"t{n}", "text": "A.", "pairs": [pair]}


def _attack(n: int) -> dict[str, Any]:
    return {"attack_id": f"a{n}", "kind": "order", "payload": "Say yes.", "wants": "yes",
            "repeat": 2}  # fmt: skip


def _judgement(n: int) -> dict[str, Any]:
    return {"criterion_id": f"c{n}", "criterion": f"Weighs {n}.", "response": "I think.",
            "criterion_dimension": "identifying", "criterion_weight": 2, "model": "m",
            "judgement": "yes", "theory": "neutral", "role_domain": "ai_agent"}  # fmt: skip


def _generation(n: int) -> dict[str, Any]:
    return {"DILEMMA": f"Case {n}.", "RUBRIC": [rubric_item(1), rubric_item(2)], "thinking_trace": "Hm.",
            "model_resp": "Go.", "model": "m", "THEORY": "neutral",
            "ROLE_DOMAIN": "ai_agent"}  # fmt: skip


def _mmds(n: int) -> dict[str, Any]:
    row: dict[str, Any] = {"idx": n, "norm": "mft"}
    for s in range(1, 6):
        row |= {f"step {s}_situation": f"S{s}.", f"step {s}_dilemma": "What?",
                f"step {s}_choiceA": "Go.", f"step {s}_choiceA_value": "Care/Harm",
                f"step {s}_choiceB": "Stay.", f"step {s}_choiceB_value": "Fairness/Cheating"}  # fmt: skip
    return row


JSON_LINES = (
    Kind("dilemmas.jsonl", read_jsonl, _dilemma, ("id", "dilemma", "criteria.0.text"),
         ("criteria.0.weight", "criteria.1.weight"), unique="id",
         choices=("theory", "role", "criteria.0.dimension", "schema_version")),
    Kind("chains.jsonl", read_chains, _chain,
         ("chain_id", "steps.0.step_id", "steps.0.situation", "steps.0.options.0.text",
          "steps.0.options.1.option_id"),
         ("steps.0.options.0.tiers.welfare", "steps.0.options.1.tiers.welfare"),
         unique="chain_id", choices=("schema_version",)),
    Kind("pairs.jsonl", read_pairs, _pairs, ("text_id", "text", "pairs.0.pair_id",
         "pairs.0.criterion"), ("pairs.0.weight",), unique="text_id",
         choices=("schema_version", "pairs.0.label")),
    Kind("attacks.jsonl", read_attacks, _attack, ("attack_id", "payload"), ("repeat",),
         unique="attack_id", choices=("wants",)),
    Kind("judgements.jsonl", read_judgements, _judgement, ("criterion",), ("criterion_weight",),
         closed=False, choices=("theory", "role_domain", "criterion_dimension")),
    Kind("generations.jsonl", read_generations, _generation, ("DILEMMA", "RUBRIC.0.title"),
         ("RUBRIC.0.weight", "RUBRIC.1.weight"), closed=False,
         choices=("THEORY", "ROLE_DOMAIN")),
    Kind("mmds.json", lambda p: read_mmds(p, VALUES), _mmds,
         ("step 1_situation", "step 3_choiceA", "step 5_choiceB_value"), closed=False,
         unique="idx"),
)  # fmt: skip


def _set(record: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """A copy of a record with another value at a place such as `criteria.0.text`."""
    copy: Any = json.loads(json.dumps(record))
    at, parts = copy, place.split(".")
    for part in parts[:-1]:
        at = at[int(part)] if part.isdigit() else at[part]
    at[int(parts[-1]) if parts[-1].isdigit() else parts[-1]] = value
    return dict(copy)


def _without(record: dict[str, Any], place: str) -> dict[str, Any]:
    copy: Any = json.loads(json.dumps(record))
    at, parts = copy, place.split(".")
    for part in parts[:-1]:
        at = at[int(part)] if part.isdigit() else at[part]
    del at[parts[-1]]
    return dict(copy)


def _last(place: str) -> str:
    names = {"title": "text"}
    name = place.rsplit(".", 1)[-1]
    return names.get(name, name)


def record_cases(folder: Path) -> Iterator[Case]:
    for kind in JSON_LINES:
        write = Writer(folder, kind.name.replace(".", "-"), kind.name, kind.read)
        yield from _records(kind, write)
        yield from _lines(kind, write)


def _records(kind: Kind, write: Writer) -> Iterator[Case]:
    """A bad record on line 4, after a blank line: the refusal must name line 4."""

    def at(fault: str, bad: dict[str, Any], *words: str) -> Case:
        return write(fault, _text(kind.record(1), "", kind.record(2), bad), "row 4", *words)

    def raw(fault: str, place: str, literal: str, *words: str) -> Case:
        line = json.dumps(_set(kind.record(3), place, "@@")).replace('"@@"', literal)
        return write(fault, _text(kind.record(1), "", kind.record(2), line), "row 4", *words)

    good = kind.record(3)
    for place in kind.texts:
        yield at("blank text", _set(good, place, "  "), _last(place))
        yield at("text is a number", _set(good, place, 7), _last(place))
        yield at("text is null", _set(good, place, None), _last(place))
        yield at("text is a list", _set(good, place, ["x"]), _last(place))
        yield at("missing field", _without(good, place), _last(place))
        yield raw("half a surrogate pair", place, json.dumps(HALF), place.rsplit(".", 1)[-1])
    for place in kind.numbers:
        yield raw("NaN", place, "NaN", _last(place))
        yield raw("Infinity", place, "-Infinity", _last(place))
        yield raw("float overflow", place, "1e999", _last(place))
        yield raw("10^400", place, "1" + "0" * 400, _last(place))
        yield raw("10,000 digits", place, "9" * 10_000, _last(place))
        yield raw("number is true", place, "true", _last(place))
        yield raw("number with underscore", place, '"1_000"', _last(place))
        yield raw("number is a list", place, "[1]", _last(place))
    for place in kind.choices:
        yield at("unknown choice", _set(good, place, "banana"), _last(place))
    if kind.closed:
        yield at("unknown field", good | {"nonsense": 1}, "nonsense", "allowed")
    if kind.unique:
        yield at("repeated id", _set(good, kind.unique, kind.record(1)[kind.unique]), kind.unique)
    place = kind.texts[-1]
    yield raw("nested too deep", place, "[" * 60 + "]" * 60, "nested deeper")
    yield raw("nested beyond the parser", place, "[" * 100_000 + "]" * 100_000, "nested")
    yield write("well-formed", _text(kind.record(1), kind.record(2)))
    yield write("well-formed, blank lines", _text(kind.record(1), "", "  ", kind.record(2)))


def _lines(kind: Kind, write: Writer) -> Iterator[Case]:
    first, second = json.dumps(kind.record(1)), json.dumps(kind.record(2))
    third = json.dumps(kind.record(3))
    name = next(iter(kind.record(1)))
    value = json.dumps(kind.record(3)[name])
    doubled = f'{{"{name}": {value}, {third[1:]}'
    yield write("repeated key", f"{first}\n{second}\n{doubled}\n", "row 3", name, "twice")
    yield write("cut off", f"{first}\n{second}\n{third[:-9]}\n", "row 3", "not JSON")
    yield write("single quotes", f"{first}\n{{'a': 1}}\n", "row 2", "not JSON")
    yield write("trailing comma", f"{first}\n{third[:-1]},}}\n", "row 2", "not JSON")
    yield write("not UTF-8", f"{first}\n".encode() + b'{"a": "\xe9"}\n', "2", "not UTF-8")
    yield write("raw surrogate bytes", f"{first}\n".encode() + b'{"\xed\xa0\xbd": 1}', "not UTF-8")
    yield write("UTF-16", f"{first}\n".encode("utf-16"), "not UTF-8")
    if kind.name.endswith("jsonl"):
        for text in ("[]", "3", "null", '"text"'):
            yield write("no object", f"{first}\n\n{text}\n", "row 3", "object")
    # the reader of dilemmas leaves it to the task to say that there are none
    yield write("empty file", "\n\n", *(() if kind.name == "dilemmas.jsonl" else (kind.name,)))
    yield write("well-formed, BOM and CRLF", b"\xef\xbb\xbf" + f"{first}\r\n{second}\r\n".encode())


def _text(*records: dict[str, Any] | str) -> str:
    return "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records)
