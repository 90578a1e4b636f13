"""Rubric dimensions of a user's own: the file that names them, and rows that hold them."""

import json
from pathlib import Path

import pytest

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.morebench.csv_rows import read_csv
from moral_evals.loaders.morebench.data import MOREBENCH, load
from moral_evals.loaders.morebench.dimensions import own_dimensions
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.morebench.records import (
    DIMENSIONS,
    Criterion,
    OwnNames,
    ScenarioMetadata,
    dimension_key,
    own_dimensions_in,
)

OWN = OwnNames(dimensions=("candour", "care for bystanders"))


def write(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def data(folder: Path, *dimensions: str) -> Path:
    criteria = [{"text": f"Point {d}.", "weight": 1, "dimension": d} for d in dimensions]
    line = {"schema_version": "dilemma-1", "id": "a", "dilemma": "Which?", "criteria": criteria}
    return Path(write(folder / "own.jsonl", json.dumps(line)))


def test_names_stand_one_a_line_in_their_order(tmp_path: Path):
    lines = ("# mine", "", "  Care-for  Bystanders ", "candour", "fürsorge_2")
    found = own_dimensions(write(tmp_path / "d.txt", *lines))
    assert found == ("care for bystanders", "candour", "fürsorge 2")
    assert own_dimensions(None) == ()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_and_a_byte_order_mark_are_read(tmp_path: Path, ending: str):
    path = tmp_path / "d.txt"
    path.write_bytes(("\ufeffcandour" + ending + "tact" + ending).encode())
    assert own_dimensions(str(path)) == ("candour", "tact")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["candour", "x,y"], "d.txt, line 2: 'x,y' is no name of a dimension"),
        (["candour", "", "Candour"], "line 3: 'candour' stands in line 1 too"),
        (["clear-process"], "line 1: 'clear process' is the benchmark's own"),
        (["x" * 31], "30 characters at most"),
        (["# only a remark"], "has 0 names"),
        ([f"name {n}" for n in range(31)], "has 31 names; allowed are 1 to 30"),
        (['{"schema_version": "dilemma-1"}'], "line 1: "),
    ],
)
def test_what_is_no_list_of_names_is_refused_by_line(tmp_path: Path, lines: list[str], said: str):
    with pytest.raises(DataError) as refused:
        own_dimensions(write(tmp_path / "d.txt", *lines))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", ["nowhere.txt", ".", 3, ["candour", "tact"]])
def test_what_is_no_file_is_refused_by_option(tmp_path: Path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    with pytest.raises(SuiteError, match="-T dimensions="):
        own_dimensions(value)


def test_rows_may_hold_declared_names_in_any_spelling(tmp_path: Path):
    path = data(tmp_path, "Candour", "care-for_bystanders", "other")
    (scenario,) = read_jsonl(path, OWN)
    found = [c.dimension for c in scenario.criteria]
    assert found == ["candour", "care for bystanders", "other"]


def test_a_name_that_is_not_declared_is_refused_with_the_option(tmp_path: Path):
    path = data(tmp_path, "other", "candor")
    with pytest.raises(DataError) as refused:
        read_jsonl(path, OWN)
    assert "own.jsonl, row 1, field criteria[2].dimension: 'candor'" in str(refused.value)
    assert "did you mean 'candour'?" in str(refused.value)
    assert "-T dimensions=FILE" in str(refused.value)
    with pytest.raises(DataError, match="-T dimensions=FILE"):
        read_jsonl(path)


def test_a_csv_may_hold_them_too(tmp_path: Path):
    item = {"title": "t", "weight": 1, "annotations": {"rubric_dimension": "candour"}}
    path = tmp_path / "own.csv"
    cell = json.dumps([item]).replace('"', '""')
    path.write_text(f'DILEMMA,RUBRIC\nWhich?,"{cell}"\n', encoding="utf-8")
    assert read_csv(path, own=OWN)[0].criteria[0].dimension == "candour"
    with pytest.raises(DataError, match=r"RUBRIC\[1\]\.dimension.*-T dimensions=FILE"):
        read_csv(path)


def test_a_sample_carries_all_declared_names_and_is_read_without_the_file(tmp_path: Path):
    path = data(tmp_path, "candour")
    (sample,) = load(MOREBENCH, str(path), own=OWN).dataset()
    metadata = sample.metadata_as(ScenarioMetadata)
    assert metadata.every_dimension() == (*DIMENSIONS, "candour", "care for bystanders")
    without = load(MOREBENCH, str(data(tmp_path, "other"))).dataset()
    assert "dimensions" not in without[0].metadata


def test_names_are_found_again_in_the_keys_of_a_score():
    names = ("care for bystanders", "candour")
    keys = ["score", *map(dimension_key, (*DIMENSIONS, *names)), "length", "dim_candour"]
    assert own_dimensions_in(keys) == names


@pytest.mark.parametrize("value", ["", "  ", None, 3, "-"])
def test_a_log_too_needs_some_name(value):
    with pytest.raises(ValueError, match="is not a dimension"):
        Criterion(id="c", text="t", weight=1, dimension=value)
