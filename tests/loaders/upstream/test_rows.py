"""Reading upstream's two JSONL files."""

import json
import math

import pytest

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.upstream.rows import read_generations, read_judgements
from tests.upstream_files import generation, judgement, write


def test_every_field_is_kept_and_the_known_ones_are_typed(tmp_path):
    row = judgement("t1", 3, -2, "No.", judge_mood={"calm": [1, None]}, epochs=1.0)
    (found,) = read_judgements(write(tmp_path / "j.jsonl", [row]))
    assert found.fields == row
    assert found.line == 1
    assert (found.task_id, found.criterion_id, found.judgement) == ("t1", "t1-c3", "No.")
    assert found.as_criterion().weight == -2
    assert found.as_criterion().text == "Says point 3. ", "a title is kept with its blanks"
    assert (found.input_tokens, found.reasoning_tokens) == (300, None)


def test_what_upstream_itself_leaves_out_is_no_error(tmp_path):
    row = judgement(None, 0, 1, None, None, criterion_id=7, theory=None, role_domain=math.nan)
    for optional in ("dilemma_type", "idx", "judge_input_tokens", "input_tokens"):
        del row[optional]
    (found,) = read_judgements(write(tmp_path / "j.jsonl", [row]))
    assert found.task_id is None
    assert found.criterion_id == "7"
    assert (found.response, found.judgement) == (None, None)
    assert (found.theory, found.role_domain, found.dilemma_type) == ("neutral", "", "")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"criterion_weight": "heavy"}, ["criterion_weight", "valid number"]),
        ({"criterion_weight": math.inf}, ["criterion_weight", "not a finite number"]),
        ({"criterion_weight": True}, ["criterion_weight", "not a boolean"]),
        ({"criterion_dimension": "thoroughness"}, ["criterion_dimension", "identifying, clear"]),
        ({"criterion": " "}, ["criterion:", "not blank"]),
        ({"theory": "Stoicism"}, ["theory", "Kantian Deontology"]),
        ({"judgement": 1}, ["judgement", "string"]),
        ({"response": ["a"]}, ["response", "string"]),
        ({"epoch": 0}, ["epoch", "greater than or equal to 1"]),
        ({"judgement": "\ud83d yes"}, ["judgement", "surrogate"]),
    ],
)
def test_a_bad_field_is_named_with_file_row_and_what_is_allowed(tmp_path, change, parts):
    path = write(tmp_path / "j.jsonl", [judgement(), judgement(n=1, **change)])
    with pytest.raises(DataError) as refused:
        read_judgements(path)
    for part in ("j.jsonl, row 2, field ", *parts):
        assert part in str(refused.value)


@pytest.mark.parametrize("field", ["criterion_id", "response", "judgement", "model"])
def test_a_missing_field_names_what_a_row_has(tmp_path, field):
    row = judgement()
    del row[field]
    with pytest.raises(DataError, match=f"field {field}: is missing; a row of upstream's"):
        read_judgements(write(tmp_path / "j.jsonl", [row]))


def test_a_generation_file_in_place_of_judgements_is_told_apart(tmp_path):
    path = write(tmp_path / "g.jsonl", [generation("t1", [judgement()])])
    with pytest.raises(DataError, match="upstream's judgement files"):
        read_judgements(path)
    assert len(read_generations(path)) == 1


def test_generations_are_rows_with_a_rubric_as_list_or_as_text(tmp_path):
    parsed = generation("t1", [judgement(), judgement(n=1, weight=-3)], reasoning_tokens=150)
    text = parsed | {"RUBRIC": repr(parsed["RUBRIC"]), "CONTEXT": math.nan, "TASK_ID": 5}
    one, two = read_generations(write(tmp_path / "g.jsonl", [parsed, text]))
    assert one.criteria == two.criteria
    assert [c.weight for c in one.criteria] == [2, -3]
    assert (one.task_id, two.task_id) == ("t1", "5")
    assert (one.context, two.context) == ("Sports", "")
    assert one.reasoning_tokens == 150
    assert one.fields == parsed


def test_a_bad_rubric_is_named(tmp_path):
    row = generation("t1", [judgement(criterion_dimension="mood")])
    with pytest.raises(DataError, match=r"row 1, field RUBRIC\[1\].dimension"):
        read_generations(write(tmp_path / "g.jsonl", [row]))


def test_files_that_are_not_there_or_empty(tmp_path):
    with pytest.raises(SuiteError, match="no such file"):
        read_judgements(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no rows"):
        read_judgements(tmp_path / "empty.jsonl")
    (tmp_path / "torn.jsonl").write_text(json.dumps(judgement())[:-5], encoding="utf-8")
    with pytest.raises(DataError, match="row 1: not JSON"):
        read_judgements(tmp_path / "torn.jsonl")
