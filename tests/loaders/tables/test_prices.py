"""Price files, in the format of Inspect's own option, and what is wrong with the others."""

import json
from pathlib import Path

import pytest
from inspect_ai.model import ModelCost

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.tables.prices import price_of, read_prices

PRICE = {"input": 3, "output": 15.5, "input_cache_write": 3.75, "input_cache_read": 0.3}


@pytest.fixture
def file(tmp_path):
    """Writes a price file and gives its path."""

    def write(content: object, name: str = "prices.json") -> str:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def refusal(path: str, kind: type[SuiteError] = SuiteError) -> str:
    with pytest.raises(kind) as caught:
        read_prices(path)
    assert "\n" not in str(caught.value)
    assert Path(path).name in str(caught.value)
    return str(caught.value)


def test_yaml_and_json_give_the_same_prices(file):
    lines = ["a/x:", *(f"  {k}: {v}" for k, v in PRICE.items()), f"'b/y:z': {PRICE}"]
    yaml = read_prices(file("\n".join(lines), "prices.yaml"))
    assert yaml == read_prices(file({"a/x": PRICE, "b/y:z": PRICE}))
    assert yaml == dict.fromkeys(("a/x", "b/y:z"), ModelCost(**PRICE))


def test_a_price_is_found_by_the_exact_name(file):
    path = file({"a/x": PRICE, "b/y": {**PRICE, "input": 0}})
    assert price_of(read_prices(path), "b/y", path).input == 0
    with pytest.raises(SuiteError) as caught:
        price_of(read_prices(path), "a/X", path)
    assert str(caught.value) == f"{path}: no price for a/X. The file has: a/x, b/y."


@pytest.mark.parametrize("field", PRICE)
def test_a_missing_field_is_named_with_those_needed(file, field):
    path = file({"a/x": PRICE, "b/y": {k: v for k, v in PRICE.items() if k != field}})
    said = refusal(path, DataError)
    assert said.startswith(f"prices.json, row b/y, field {field}: is missing")
    assert all(name in said for name in PRICE)


@pytest.mark.parametrize("field", PRICE)
@pytest.mark.parametrize("value", ["-0.01", "true", "'1'", "'x'", "[1]", "1_000x"])
def test_what_is_no_price_is_refused(file, field, value):
    lines = [f"  {k}: {value if k == field else v}" for k, v in PRICE.items()]
    said = refusal(file("\n".join(["a/x:", *lines]), "p.yaml"), DataError)
    assert f"row a/x, field {field}: " in said and "is no price" in said


def test_a_price_that_is_no_number_is_named(file):
    assert "row a/x, field output: " in refusal(file({"a/x": {**PRICE, "output": "dear"}}))


@pytest.mark.parametrize("content", [[PRICE], "just words", "", {}, "null"])
def test_a_file_that_maps_no_models_is_refused(file, content):
    assert "must map model names to input, output, " in refusal(
        file(content, "p.json" if isinstance(content, dict | list) else "p.yaml")
    )


@pytest.mark.parametrize("entry", [3, None, [1, 2], "cheap"])
def test_a_model_without_a_mapping_is_named(file, entry):
    assert "row a/x, field prices: must have input, output, " in refusal(file({"a/x": entry}))


@pytest.mark.parametrize("content", ["a: [1", "a: b: c", "{", "a\n\tb: 1"])
def test_broken_files_are_one_line(file, content):
    assert "not JSON (" in refusal(file(content))
    assert "not YAML (" in refusal(file(content, "p.yaml"))


def test_a_file_that_is_no_text_is_one_line(tmp_path):
    (tmp_path / "p.yaml").write_bytes(b"\xff\xfe\x00a")
    assert "p.yaml, line 1: not UTF-8 text" in refusal(str(tmp_path / "p.yaml"))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "none.yaml: no such file" in refusal(str(tmp_path / "none.yaml"))
    assert "is a folder; needed is a file" in refusal(str(tmp_path))
