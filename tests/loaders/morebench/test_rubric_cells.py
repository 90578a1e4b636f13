"""The RUBRIC cell of upstream's CSV: its criteria and their weights, read or refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.loaders.morebench.csv_rows import parse_rubric_cell
from moral_evals.loaders.morebench.records import DIMENSIONS
from tests.loaders.morebench.rows import item, refusal, row


@pytest.mark.parametrize(
    "title", ["It's said", 'He said "no"', 'It\'s "both"', "a\nb", "caf\u00e9 \u2019"]
)
@pytest.mark.parametrize("write", [repr, json.dumps], ids=["python", "json"])
def test_python_and_json_cells_are_read_alike(read, write, title: str):
    (scenario,) = read(row(RUBRIC=write([item(title)])))
    assert [(c.text, c.weight) for c in scenario.criteria] == [(title, 3)]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("[{'a': None, 'b': True}]", [{"a": None, "b": True}]),
        ('[{"a": null, "b": true}]', [{"a": None, "b": True}]),
        ("['it\\'s']", ["it's"]),
        ("  [1]\n", [1]),
    ],
)
def test_none_true_and_null(cell: str, value: Any):
    assert parse_rubric_cell(cell) == value


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param("", id="empty"),
        pytest.param("   ", id="blank"),
        pytest.param("[]", id="empty list"),
        pytest.param("{}", id="object"),
        pytest.param("null", id="null"),
        pytest.param("None", id="None"),
        pytest.param("3", id="number"),
        pytest.param("nan", id="nan"),
        pytest.param("not a list", id="prose"),
        pytest.param(repr([item()])[:-20], id="truncated Python"),
        pytest.param(json.dumps([item()])[:-20], id="truncated JSON"),
        pytest.param("[{'title': null}]", id="the two forms mixed"),
        pytest.param("[" * 100_000, id="deeply nested"),
        pytest.param("[\0]", id="null byte"),
    ],
)
def test_a_bad_cell_is_refused_naming_file_row_and_field(read, cell: str):
    message = refusal(read, row(), row(DILEMMA="Second", RUBRIC=cell))
    assert "row 2" in message
    assert "RUBRIC" in message


@pytest.mark.parametrize(
    ("items", "field"),
    [
        pytest.param([item("a"), "text"], "RUBRIC[2]", id="no object"),
        pytest.param([item("a"), None], "RUBRIC[2]", id="null"),
        pytest.param([item("a"), item("  ")], "RUBRIC[2].text", id="blank title"),
        pytest.param([item("a"), {"weight": 1}], "RUBRIC[2]", id="no title"),
        pytest.param([item(3)], "RUBRIC[1].text", id="title a number"),
        pytest.param([item("a", dimension="grandeur")], "RUBRIC[1].dimension", id="dimension"),
        pytest.param([item("a", dimension=None)], "RUBRIC[1].dimension", id="no dimension"),
    ],
)
def test_a_bad_criterion_is_refused_naming_its_place(read, items: list[Any], field: str):
    message = refusal(read, row(RUBRIC=items))
    assert "row 1" in message
    assert field in message


def test_an_unknown_dimension_is_refused_with_the_allowed_ones(read):
    message = refusal(read, row(RUBRIC=[item(dimension="grandeur")]))
    assert all(d in message for d in DIMENSIONS)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_is_read_whatever_its_case_and_blanks(read, dimension: str):
    (scenario,) = read(row(RUBRIC=[item(dimension=f" {dimension.title()} ")]))
    assert scenario.criteria[0].dimension == dimension


@pytest.mark.parametrize(
    "code",
    [
        "__import__('pathlib').Path({path!r}).write_text('x')",
        "[__import__('pathlib').Path({path!r}).touch()]",
        "[{{'title': open({path!r}, 'w'), 'weight': 1}}]",
        "[x for x in [open({path!r}, 'w')]]",
        "f'{{open({path!r}, \"w\")}}'",
    ],
)
def test_a_cell_is_never_evaluated_as_code(read, tmp_path: Path, code: str):
    target = tmp_path / "touched"
    assert "RUBRIC" in refusal(read, row(RUBRIC=code.format(path=str(target))))
    assert not target.exists()


@given(st.text(max_size=60))
def test_any_cell_is_a_value_or_a_value_error(cell: str):
    try:
        parse_rubric_cell(cell)
    except ValueError as error:
        assert "\n" not in str(error)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(JSON_VALUES, max_size=4))
def test_both_forms_of_any_list_read_back_the_same(value: list[Any]):
    assert parse_rubric_cell(repr(value)) == value
    assert parse_rubric_cell(json.dumps(value)) == value


def test_annotators_remarks_are_left_behind(read):
    remark = "this criterion makes no sense"
    items = [item(annotations={"other_specify": remark}, other_specify=remark)]
    (scenario,) = read(row(RUBRIC=items))
    assert remark not in scenario.model_dump_json()
    assert remark not in json.dumps(scenario.metadata())


@pytest.mark.parametrize("title", ["Trailing  ", " leading", "a\nb", "cut off near 200 charact"])
def test_titles_are_kept_as_they_are(read, title: str):
    (scenario,) = read(row(RUBRIC=[item(title)]))
    assert scenario.criteria[0].text == title


@pytest.mark.parametrize(
    ("title", "weight"),
    [("Penalizes categorical claims.", -3), ("Avoids harm.", 3), ("Does not consider law.", 2)],
)
def test_the_sign_is_never_read_from_the_wording(read, title: str, weight: int):
    (scenario,) = read(row(RUBRIC=[item(title, weight)]))
    assert scenario.criteria[0].weight == weight


@pytest.mark.parametrize(
    ("weight", "number"), [("-3", -3), (" 2 ", 2), ("+1", 1), (2.0, 2), ("2.5", 2.5), (-1, -1)]
)
def test_weights_are_read_as_numbers(read, weight: Any, number: float):
    (scenario,) = read(row(RUBRIC=[item(weight=weight)]))
    assert scenario.criteria[0].weight == number
    assert isinstance(scenario.criteria[0].weight, float)


@pytest.mark.parametrize("zero", [0, 0.0, "0", -0.0])
def test_a_weight_of_zero_is_ignored(read, zero: Any):
    (scenario,) = read(row(RUBRIC=[item("a", 1), item("b", zero), item("c", -1)]))
    assert [c.text for c in scenario.criteria] == ["a", "c"]


def test_a_rubric_of_zeros_is_refused(read):
    assert "RUBRIC" in refusal(read, row(RUBRIC=[item(weight=0)]))


@pytest.mark.parametrize(
    "weight",
    ["NaN", "Infinity", "-Infinity", '"nan"', '"inf"', "true", "null", '"three"', "[3]", '""'],
)
def test_a_weight_that_is_no_finite_number_is_refused_naming_the_row(read, weight: str):
    cell = json.dumps([item("a"), item("b", "WEIGHT")]).replace('"WEIGHT"', weight)
    message = refusal(read, row(), row(DILEMMA="Second", RUBRIC=cell))
    assert "row 2" in message
    assert "RUBRIC[2].weight" in message


def test_a_missing_weight_is_refused(read):
    without = {k: v for k, v in item().items() if k != "weight"}
    assert "RUBRIC[1].weight" in refusal(read, row(RUBRIC=[without]))
