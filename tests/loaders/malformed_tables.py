"""Malformed tables, maps and theories: CSV, YAML, JSON objects, front matter."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from moral_evals.loaders.corda.adapters import read_moralchoice, read_value_map
from moral_evals.loaders.morebench.csv_rows import read_csv
from moral_evals.loaders.morebench.theories import read_theory
from moral_evals.loaders.tables.benchmark_file import read_benchmarks
from moral_evals.loaders.tables.model_file import read_models
from moral_evals.loaders.tables.prices import read_prices
from tests.loaders.malformed_case import HALF, Case, Writer, rubric_item

LABELS = ("death", "pain", "disable", "freedom", "deceive", "cheat", "break_promise",
          "pleasure", "break_law", "duty")  # fmt: skip


def _csv_text(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _csv_row(n: int) -> dict[str, Any]:
    return {"DILEMMA": f"Case {n}.", "RUBRIC": repr([rubric_item(1), rubric_item(2)]), "ROLE_DOMAIN":
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
        ("RUBRIC", repr([rubric_item(1) | {"weight": "1_000"}])),
        ("RUBRIC", repr([rubric_item(1) | {"weight": True}])),
        ("RUBRIC", repr([rubric_item(1) | {"weight": 0}])),
        ("RUBRIC", repr([rubric_item(1) | {"title": " "}])),
        ("RUBRIC", repr([rubric_item(1) | {"annotations": {}}])),
        ("RUBRIC", repr([rubric_item(1)]).replace("'weight': 2", "'weight': 1e999")),
        ("RUBRIC", repr([rubric_item(1)]).replace("'weight': 2", "'weight': " + "9" * 10_000)),
        ("RUBRIC", repr([rubric_item(1)]).replace("'weight': 2", "'weight': 1, 'weight': 2")),
        ("RUBRIC", json.dumps([rubric_item(1)]).replace('"weight": 2', '"weight": 1, "weight": 2')),
        ("RUBRIC", json.dumps([rubric_item(1)]).replace('"weight": 2', '"weight": NaN')),
        ("RUBRIC", json.dumps([rubric_item(1) | {"title": HALF}])),
        ("RUBRIC", repr([rubric_item(1) | {"id": HALF}])),
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


def csv_cases(folder: Path) -> Iterator[Case]:
    for name, read, row in CSV_KINDS:
        write = Writer(folder, name.replace(".", "-"), name, read)
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


def yaml_cases(folder: Path) -> Iterator[Case]:
    write = Writer(folder, "prices", "prices.yaml", lambda p: read_prices(str(p)))
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
    models = Writer(folder, "models", "models.yaml", read_models)
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


def map_cases(folder: Path) -> Iterator[Case]:
    write = Writer(folder, "value-map", "map.json", read_value_map)
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


def theory_cases(folder: Path) -> Iterator[Case]:
    write = Writer(folder, "theory", "own.md", read_theory)
    head = "---\nname: Own\nslug: own\nsources: [A book]\n"
    yield write("no front matter", "Just words.\n", "front matter")
    yield write("no definition", head + "---\n", "front matter")
    yield write("repeated key", head + "name: Other\n---\nWords.\n", "twice")
    yield write("date for a name", "---\nname: [2024-02-30]\nslug: x\n---\nWords.\n", "own.md")
    yield write("broken head", "---\nname: [\n---\nWords.\n", "own.md")
    yield write("unknown key", head + "colour: red\nsources: 3\n---\nWords.\n", "own.md")
    yield write("not UTF-8", head.encode() + b"---\n\xe9\n", "not UTF-8")
    yield write("well-formed", head + "---\nWords.\n")
