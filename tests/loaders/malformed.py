"""Malformed input files of every kind, made by rule, with well-formed ones among them.

A case is a file, the reader that must take it, and either the words that the one-line refusal
must hold or nothing, if the file must be accepted. `cases()` yields them all; the files are
written below a folder given.
"""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from moral_evals.loaders.corda.adapters import read_mmds, read_moralchoice, read_value_map
from moral_evals.loaders.corda.chains import read_chains
from moral_evals.loaders.morebench.csv_rows import read_csv
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.morebench.theories import read_theory
from moral_evals.loaders.tables.benchmark_file import read_benchmarks
from moral_evals.loaders.tables.judge_pairs import read_attacks, read_pairs
from moral_evals.loaders.tables.model_file import read_models
from moral_evals.loaders.tables.prices import read_prices
from moral_evals.loaders.upstream.rows import read_generations, read_judgements

HALF = "half \ud83d here"
LABELS = ("death", "pain", "disable", "freedom", "deceive", "cheat", "break_promise",
          "pleasure", "break_law", "duty")  # fmt: skip
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


@dataclass(frozen=True)
class Case:
    """One input; `words` is empty where the file must be accepted."""

    kind: str
    fault: str
    path: Path
    read: Callable[[Path], Any]
    words: tuple[str, ...] = field(default=())


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


def _item(k: int) -> dict[str, Any]:
    return {"id": f"c{k}", "title": f"Weighs {k}.", "weight": 2,
            "annotations": {"rubric_dimension": "identifying"}}  # fmt: skip


def _generation(n: int) -> dict[str, Any]:
    return {"DILEMMA": f"Case {n}.", "RUBRIC": [_item(1), _item(2)], "thinking_trace": "Hm.",
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


def cases(folder: Path) -> Iterator[Case]:
    """All cases, their files below a folder."""
    yield from _json_line_cases(folder)
    yield from _csv_cases(folder)
    yield from _yaml_cases(folder)
    yield from _map_cases(folder)
    yield from _theory_cases(folder)
    yield from _file_cases(folder)


class _Writer:
    """Numbers the folders, so that every case has a file of its own with its kind's name."""

    def __init__(self, folder: Path, kind: str, name: str, read: Callable[[Path], Any]) -> None:
        self.folder, self.kind, self.name, self.read = folder / kind, kind, name, read
        self.count = 0

    def __call__(self, fault: str, content: str | bytes, *words: str) -> Case:
        self.count += 1
        path = self.folder / str(self.count) / self.name
        path.parent.mkdir(parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        stem = (self.name,) if words else ()
        return Case(self.kind, fault, path, self.read, (*stem, *words))


def _json_line_cases(folder: Path) -> Iterator[Case]:
    for kind in JSON_LINES:
        write = _Writer(folder, kind.name.replace(".", "-"), kind.name, kind.read)
        yield from _records(kind, write)
        yield from _lines(kind, write)


def _records(kind: Kind, write: _Writer) -> Iterator[Case]:
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


def _lines(kind: Kind, write: _Writer) -> Iterator[Case]:
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


def _csv_text(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _csv_row(n: int) -> dict[str, Any]:
    return {"DILEMMA": f"Case {n}.", "RUBRIC": repr([_item(1), _item(2)]), "ROLE_DOMAIN":
            "ai_agent", "THEORY": "neutral", "CONTEXT": ""}  # fmt: skip


def _moralchoice_row(n: int) -> dict[str, Any]:
    row = {"scenario_id": f"H{n}", "context": "Now.", "action1": "Go.", "action2": "Stay."}
    return row | {f"a{a}_{label}": "No" for a in (1, 2) for label in LABELS}


def _model_row(n: int) -> dict[str, Any]:
    return {"model": f"m{n}", "family": "f", "size_b": n}


def _score_row(n: int) -> dict[str, Any]:
    return {"model": f"m{n}", "Arena": 1000 + n, "HLE": ""}


CSV_KINDS: tuple[tuple[str, Callable[[Path], Any], Callable[[int], dict[str, Any]]], ...] = (
    ("dilemmas.csv", read_csv, _csv_row),
    ("moralchoice.csv", read_moralchoice, _moralchoice_row),
    ("models.csv", read_models, _model_row),
    ("scores.csv", read_benchmarks, _score_row),
)
CSV_CELLS: dict[str, tuple[tuple[str, Any], ...]] = {
    "dilemmas.csv": (
        ("DILEMMA", " "), ("THEORY", "Stoicism"), ("ROLE_DOMAIN", "ai_banana"), ("RUBRIC", ""),
        ("RUBRIC", "[{'id': "), ("RUBRIC", "[]"), ("RUBRIC", "3"), ("RUBRIC", "['x']"),
        ("RUBRIC", repr([_item(1) | {"weight": "1_000"}])),
        ("RUBRIC", repr([_item(1) | {"weight": True}])),
        ("RUBRIC", repr([_item(1) | {"weight": 0}])),
        ("RUBRIC", repr([_item(1) | {"title": " "}])),
        ("RUBRIC", repr([_item(1) | {"annotations": {}}])),
        ("RUBRIC", repr([_item(1)]).replace("'weight': 2", "'weight': 1e999")),
        ("RUBRIC", repr([_item(1)]).replace("'weight': 2", "'weight': " + "9" * 10_000)),
        ("RUBRIC", repr([_item(1)]).replace("'weight': 2", "'weight': 1, 'weight': 2")),
        ("RUBRIC", json.dumps([_item(1)]).replace('"weight": 2', '"weight": 1, "weight": 2')),
        ("RUBRIC", json.dumps([_item(1)]).replace('"weight": 2', '"weight": NaN')),
        ("RUBRIC", json.dumps([_item(1) | {"title": HALF}])),
        ("RUBRIC", repr([_item(1) | {"id": HALF}])),
        ("RUBRIC", "[" * 5000 + "]" * 5000), ("DILEMMA", "a\0b"),
    ),
    "moralchoice.csv": (
        ("scenario_id", ""), ("context", " "), ("action1", ""), ("a1_death", "Maybe"),
        ("a2_duty", ""), ("scenario_id", "H1"), ("context", "a\0b"),
    ),
    "models.csv": (
        ("model", ""), ("model", "m1"), ("family", " "), ("size_b", "7B"), ("size_b", "nan"),
        ("size_b", "inf"), ("size_b", "1_000"), ("size_b", "-1"), ("size_b", "0"),
        ("size_b", "9" * 400), ("size_b", "9" * 10_000), ("size_b", "true"), ("size_b", "1e999"),
        ("family", "a\0b"),
    ),
    "scores.csv": (
        ("model", ""), ("model", "m1"), ("Arena", "high"), ("Arena", "nan"), ("Arena", "-inf"),
        ("Arena", "1_000"), ("HLE", "12%"), ("HLE", "1,5"), ("HLE", "1e999"), ("HLE", "true"),
    ),
}  # fmt: skip


def _csv_cases(folder: Path) -> Iterator[Case]:
    for name, read, row in CSV_KINDS:
        write = _Writer(folder, name.replace(".", "-"), name, read)
        good = [row(1), row(2), row(3)]
        text, header = _csv_text(good), list(row(1))
        for column, value in CSV_CELLS[name]:
            bad = _csv_text([*good, row(4) | {column: value}])
            yield write(f"cell {column}", bad, "row 4", column)
        yield write("unclosed quote", text + '"open,' + "x," * 3 + "\n", "row 4", "quote")
        yield write("unclosed quote in the middle", text.replace("\n", '\n"', 1), name)
        yield write("extra cell", text + ",".join("x" * (len(header) + 1)) + "\n", "row 4", "cells")
        yield write("cells missing", text + "x\n", "row 4", header[1], "cells")
        yield write("repeated header", text.replace(header[1], header[0], 1), header[0])
        nameless = () if name == "dilemmas.csv" else (name,)  # its last column is optional
        yield write("nameless column", text.replace(header[-1], "", 1), *nameless)
        yield write("semicolons", ";".join(header) + "\n", "semicolons", header[0])
        yield write("tabs", "\t".join(header) + "\n", "tabs", header[0])
        swapped = ",".join(header).swapcase() + "\n" + ",".join("x" * len(header)) + "\n"
        yield write("other case of the header", swapped, header[0])
        yield write("not UTF-8", text.encode() + b"\xe9\n", "line", "not UTF-8")
        yield write("raw surrogate bytes", text.encode() + b"\xed\xa0\xbd\n", "not UTF-8")
        yield write("UTF-16", text.encode("utf-16"), "not UTF-8")
        yield write("empty file", "", name)
        yield write("well-formed", text)
        yield write(
            "well-formed, BOM and CRLF", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
        )
        yield write("well-formed, last row of commas", text + "," * (len(header) - 1) + "\n")
        yield write("well-formed, no last line end", text.rstrip("\n"))


PRICE = {"input": 3, "output": 15, "input_cache_write": 3.5, "input_cache_read": 0.3}
BAD_NUMBERS = {
    "NaN": ".nan", "infinity": ".inf", "text": '"x"', "underscore text": "'1_000'",
    "true": "true", "list": "[1]", "10^400": "1" + "0" * 400, "10,000 digits": "9" * 10_000,
    "a date": "2024-02-30", "a mapping": "{a: 1}",
}  # fmt: skip


def _yaml_cases(folder: Path) -> Iterator[Case]:
    write = _Writer(folder, "prices", "prices.yaml", lambda p: read_prices(str(p)))
    lines = [f"  {k}: {v}" for k, v in PRICE.items()]
    good = "\n".join(["a/x:", *lines]) + "\n"
    for place, name in enumerate(PRICE):
        for fault, value in {**BAD_NUMBERS, "negative": "-1", "null": "null"}.items():
            bad = [*lines[:place], f"  {name}: {value}", *lines[place + 1 :]]
            words = () if fault == "10,000 digits" else (name,)
            yield write(f"price {fault}", "\n".join([good + "b/y:", *bad]), "prices.yaml", *words)
        rest = [line for line in lines if f" {name}:" not in line]
        yield write("missing field", "\n".join([good + "b/y:", *rest]), "b/y", name)
    yield write("repeated model", good + good, "twice")
    yield write("repeated key", good + "  input: 4\n", "twice")
    yield write("unknown field", good + "  imput: 4\n", "imput")
    yield write("alias", f"a: &x {PRICE}\nb: *x\n", "aliases")
    yield write("bad tag", "a: !!python/object:os.system {}\n", "not YAML")
    yield write("model is a number", "4.1: {}\n", "4.1")
    yield write("nested too deep", "a: " + "[" * 60 + "]" * 60, "nested deeper")
    yield write("nested beyond the parser", "[" * 5000, "YAML")
    yield write("half a surrogate pair", f'"a\\ud83d": {PRICE}\n', "surrogate")
    yield write("no mapping", "[1, 2]\n", "must map")
    yield write("broken", "a: [1\n", "row", "not YAML")
    yield write("not UTF-8", b"a: \xe9\n", "line 1", "not UTF-8")
    yield write("control character", b"a: \x00\n", "not YAML")
    yield write("well-formed", good)
    models = _Writer(folder, "models", "models.yaml", read_models)
    item = "- {model: a, family: f, size_b: 7}\n"
    for fault, value in BAD_NUMBERS.items():
        words = () if fault == "10,000 digits" else ("size_b",)
        bad = f"{item}- {{model: b, family: f, size_b: {value}}}\n"
        yield models(f"number {fault}", bad, "models.yaml", *words)
    yield models("model is a number", "- {model: 4.1, family: f, size_b: 7}\n", "row 1", "model")
    yield models("repeated model", item + item, "row 2", "model")
    yield models("missing field", "- {model: a, size_b: 7}\n", "row 1", "family")
    yield models("unknown field", "- {model: a, family: f, size_b: 7, x: 1}\n", "row 1", "x")
    yield models("no list", "model: a\n", "must be a list")
    yield models("no mapping", item + "- a\n", "row 2")
    yield models("well-formed", yaml.safe_dump([_model_row(1), _model_row(2)]))


def _map_cases(folder: Path) -> Iterator[Case]:
    write = _Writer(folder, "value-map", "map.json", read_value_map)
    for literal in ("NaN", "Infinity", "1e999", "1" + "0" * 400, "9" * 10_000, "true", '"1"',
                    "null", "[1]", "{}"):  # fmt: skip
        text = f'{{"Care": {{"welfare": 1}}, "Duty": {{"welfare": {literal}}}}}'
        yield write(f"level {literal[:9]}", text, "row Duty", "welfare")
    yield write("unknown tier", '{"Care": {"wellfare": 1}}', "row Care", "wellfare")
    yield write("repeated label", '{"Care": {}, "Care": {}}', "Care", "twice")
    yield write("repeated but for case", '{"Care": {}, "CARE ": {}}', "CARE", "twice")
    yield write("blank label", '{" ": {}}', "blank")
    yield write("half a surrogate pair", '{"a\\ud83d": {}}', "surrogate")
    yield write("no object", "[1]", "must be an object")
    yield write("entry no object", '{"Care": 1}', "row Care")
    yield write("cut off", '{"Care": {', "not JSON", "line 1")
    yield write("not UTF-8", b'{"\xe9": {}}', "line 1", "not UTF-8")
    yield write("nested too deep", '{"a": ' + "[" * 60 + "]" * 60 + "}", "nested deeper")
    yield write("empty file", "", "not JSON")
    yield write("well-formed", '{"Care": {"welfare": 1}, "Duty": {"convention": -1.5}}')


def _theory_cases(folder: Path) -> Iterator[Case]:
    write = _Writer(folder, "theory", "own.md", read_theory)
    head = "---\nname: Own\nslug: own\nsources: [A book]\n"
    yield write("no front matter", "Just words.\n", "front matter")
    yield write("no definition", head + "---\n", "front matter")
    yield write("repeated key", head + "name: Other\n---\nWords.\n", "twice")
    yield write("date for a name", "---\nname: [2024-02-30]\nslug: x\n---\nWords.\n", "own.md")
    yield write("broken head", "---\nname: [\n---\nWords.\n", "own.md")
    yield write("unknown key", head + "colour: red\nsources: 3\n---\nWords.\n", "own.md")
    yield write("not UTF-8", head.encode() + b"---\n\xe9\n", "not UTF-8")
    yield write("well-formed", head + "---\nWords.\n")


def _file_cases(folder: Path) -> Iterator[Case]:
    """What is no file at all, for every reader."""
    readers: dict[str, Callable[[Path], Any]] = {k.name: k.read for k in JSON_LINES}
    readers |= {name: read for name, read, _ in CSV_KINDS}
    readers |= {"prices.yaml": lambda p: read_prices(str(p)), "models.json": read_models,
                "map.json": read_value_map, "own.md": read_theory}  # fmt: skip
    for name, read in readers.items():
        place = folder / "files" / name.replace(".", "-")
        place.mkdir(parents=True)
        os.mkfifo(place / f"pipe-{name}")
        yield Case(name, "FIFO", place / f"pipe-{name}", read, ("pipe",))
        (place / f"zero-{name}").symlink_to("/dev/zero")
        yield Case(name, "device behind a link", place / f"zero-{name}", read, ("device",))
        (place / f"loop-{name}").symlink_to(place / f"loop-{name}")
        yield Case(name, "link to itself", place / f"loop-{name}", read, ("cannot be read",))
        (place / f"folder-{name}").mkdir()
        yield Case(name, "folder", place / f"folder-{name}", read, ("folder",))
        yield Case(name, "missing", place / name, read, ("no such file",))
        yield Case(name, "name too long", place / ("x" * 300 + name), read, ("cannot be read",))
        yield Case(name, "unknown user", Path(f"~nouser/{name}"), read, (name,))
        yield Case(name, "NUL in the name", place / f"a\0{name}", read, ("cannot be read",))
        with (place / f"large-{name}").open("wb") as file:
            file.truncate(3 * 1024**3)  # a hole: it takes no room
        yield Case(name, "too large", place / f"large-{name}", read, ("bytes", "at most"))
