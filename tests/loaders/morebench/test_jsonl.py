"""The project's own JSONL schema `dilemma-1`: what is read and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.formats import json_lines
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.morebench.records import DIMENSIONS, NEUTRAL, THEORIES
from moral_evals.loaders.paths import bundled


def criterion(**more: Any) -> dict[str, Any]:
    return {"id": "c1", "text": "Names a duty.", "weight": 3, "dimension": "identifying", **more}


def line(**more: Any) -> dict[str, Any]:
    return {
        "schema_version": "dilemma-1",
        "id": "lie-or-not",
        "dilemma": "Lie or not?",
        "criteria": [criterion()],
        **more,
    }


@pytest.fixture
def file(tmp_path: Path):
    """Write lines, given as objects or as text, to a JSONL file."""

    def write(*lines: dict[str, Any] | str) -> Path:
        path = tmp_path / "own.jsonl"
        texts = [x if isinstance(x, str) else json.dumps(x) for x in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


def refusal(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_jsonl(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


def test_a_full_line_is_read(file):
    labels = {"role": "ai_agent", "source": "own", "type": "long_case", "context": "Law"}
    (scenario,) = read_jsonl(file(line(theory="Kantian Deontology", **labels)))
    assert scenario.model_dump(include=set(labels)) == labels
    assert scenario.id == "lie-or-not"
    assert scenario.dilemma == "Lie or not?"
    assert scenario.theory == "Kantian Deontology"
    assert [c.model_dump() for c in scenario.criteria] == [criterion(weight=3.0)]


def test_labels_may_be_left_out(file):
    (scenario,) = read_jsonl(file(line()))
    assert (scenario.theory, scenario.role, scenario.context) == (NEUTRAL, "", "")


def test_file_order_is_kept_and_blank_lines_are_passed_over(file):
    path = file(line(id="b"), "", "   ", line(id="a"))
    assert [s.id for s in read_jsonl(path)] == ["b", "a"]


def test_rows_are_named_by_their_line_in_the_file(file):
    path = file(line(id="b"), "", line(id="a"), "")
    assert [number for number, _ in json_lines(path)] == [1, 3]


def test_a_line_separator_inside_a_text_does_not_cut_the_line(file):
    dilemma = "one\u2028two\x0bthree\x85four\nfive"
    path = file(json.dumps(line(dilemma=dilemma), ensure_ascii=False))
    assert [s.dilemma for s in read_jsonl(path)] == [dilemma]


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path):
    path = tmp_path / "windows.jsonl"
    text = "".join(json.dumps(line(id=i)) + "\r\n" for i in "ab")
    path.write_bytes(text.encode("utf-8-sig"))
    assert [s.id for s in read_jsonl(path)] == ["a", "b"]


@pytest.mark.parametrize("name", ["schema_version", "id", "dilemma", "criteria"])
def test_a_missing_required_field_is_refused_by_name(file, name: str):
    second = {k: v for k, v in line(id="second").items() if k != name}
    assert f"row 2, field {name}" in refusal(file(line(), second))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"schema_version": "dilemma-2"}, "schema_version", id="other version"),
        pytest.param({"id": ""}, "id", id="empty id"),
        pytest.param({"id": 7}, "id", id="id a number"),
        pytest.param({"dilemma": " \n"}, "dilemma", id="blank dilemma"),
        pytest.param({"dilemma": None}, "dilemma", id="dilemma null"),
        pytest.param({"role": None}, "role", id="role null"),
        pytest.param({"context": 3}, "context", id="context a number"),
        pytest.param({"theory": ["Kantian Deontology"]}, "theory", id="theory a list"),
        pytest.param({"criteria": []}, "criteria", id="no criteria"),
        pytest.param({"criteria": {}}, "criteria", id="criteria an object"),
        pytest.param({"criteria": ["text"]}, "criteria", id="criterion a text"),
        pytest.param({"criteria": [criterion(weight=None)]}, "criteria[1].weight", id="weight"),
        pytest.param(
            {"criteria": [criterion(weight=True)]}, "criteria[1].weight", id="bool weight"
        ),
        pytest.param({"criteria": [criterion(text=" ")]}, "criteria[1].text", id="blank text"),
        pytest.param({"criteria": [criterion(weight=0)]}, "criteria", id="only weights of zero"),
    ],
)
def test_a_bad_value_is_refused_naming_row_and_field(file, changes: dict[str, Any], field: str):
    message = refusal(file(line(id="first"), line(**changes)))
    assert f"row 2, field {field}:" in message


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "-Infinity"])
def test_a_weight_that_is_not_finite_is_refused(file, weight: str):
    text = json.dumps(line(criteria=[criterion(weight="W")])).replace('"W"', weight)
    assert "criteria[1].weight" in refusal(file(text))


def test_an_unknown_field_is_refused_with_the_allowed_ones(file):
    message = refusal(file(line(rubric=[])))
    assert "field rubric" in message
    allowed = "id dilemma criteria theory role source type context"
    assert all(name in message for name in allowed.split(" "))


def test_an_unknown_theory_is_refused_with_the_allowed_ones(file):
    message = refusal(file(line(theory="Care Ethics")))
    assert "Care Ethics" in message
    assert all(name in message for name in (*THEORIES, NEUTRAL))


def test_an_unknown_dimension_is_refused_with_the_allowed_ones(file):
    message = refusal(file(line(criteria=[criterion(dimension="grandeur")])))
    assert all(d in message for d in DIMENSIONS)


def test_a_repeated_id_is_refused_naming_both_rows(file):
    message = refusal(file(line(), line(id="other"), line()))
    assert "row 3" in message
    assert "row 1" in message


@pytest.mark.parametrize("text", ['{"id": ', "not json", "{'id': 1}", "[" * 100_000], ids=range(4))
def test_a_line_that_is_not_json_is_refused_naming_the_row(file, text: str):
    assert "row 2" in refusal(file(line(), text))


@pytest.mark.parametrize("text", ["[]", "3", "null", '"text"'])
def test_a_line_that_is_no_object_is_refused(file, text: str):
    assert "must be a JSON object" in refusal(file(text))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path):
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"id": "caf\u00e9"}'.encode("latin-1"))
    assert "not UTF-8" in refusal(path)


@pytest.mark.parametrize("name", ["dilemmas.jsonl", "theory_dilemmas.jsonl"])
def test_the_bundled_sample_is_in_the_schema(name: str):
    scenarios = read_jsonl(bundled("morebench_sample") / name)
    assert scenarios
    assert all(s.criteria and s.role and s.source for s in scenarios)
