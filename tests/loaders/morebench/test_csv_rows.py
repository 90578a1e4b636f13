"""Upstream's CSV rows: what is read, what is kept, what is refused (cases D45, F52, F54, F55, F64)."""

import ast
import csv
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.csv_rows import read_csv
from moral_evals.loaders.morebench.records import DIMENSIONS, NEUTRAL, THEORIES, Scenario
from tests.loaders.morebench.rows import HEADER, item, refusal, row

# --- the real rows -----------------------------------------------------------------------------


def real(folder: Path) -> list[tuple[dict[str, Any], dict[str, str], Scenario]]:
    """(expected, raw cells, scenario) of all 13 rows."""
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["rows"]
    found = []
    for name in ("public_rows.csv", "theory_rows.csv"):
        with (folder / name).open(newline="", encoding="utf-8") as file:
            cells = list(csv.DictReader(file))
        stated = [e for e in expected if e["file"] == name]
        found += zip(stated, cells, read_csv(folder / name), strict=True)
    assert len(found) == 13
    return found


def test_real_rows_have_the_expected_criteria(real_rows: Path):
    for expected, _, scenario in real(real_rows):
        weights = [c.weight for c in scenario.criteria]
        assert scenario.theory == expected["theory"]
        assert scenario.criteria[0].id == expected["first_id"]
        assert len(weights) == expected["criteria"]
        assert sum(w < 0 for w in weights) == expected["negative"]
        assert sum(w for w in weights if w > 0) == expected["sum_positive"]
        assert sum(map(abs, weights)) == expected["sum_abs_weight"]


def test_real_rows_keep_their_cells_and_criteria_in_order(real_rows: Path):
    for _, cells, scenario in real(real_rows):
        items = ast.literal_eval(cells["RUBRIC"])
        assert scenario.dilemma == cells["DILEMMA"]
        assert scenario.source == cells["DILEMMA_SOURCE"]
        assert scenario.type == cells["DILEMMA_TYPE"]
        assert scenario.role == cells["ROLE_DOMAIN"]
        assert scenario.context == cells["CONTEXT"]
        assert [c.text for c in scenario.criteria] == [i["title"] for i in items]
        assert [c.id for c in scenario.criteria] == [i["id"] for i in items]
        assert {c.dimension for c in scenario.criteria} <= set(DIMENSIONS)


def test_real_rows_lose_the_annotators_remarks(real_rows: Path):
    remarks = []
    for _, cells, scenario in real(real_rows):
        kept = json.dumps([scenario.model_dump(mode="json"), scenario.metadata()])
        assert "other_specify" not in kept
        items = ast.literal_eval(cells["RUBRIC"])
        own = [i["annotations"].get("other_specify") for i in items]
        remarks += [(remark, kept) for remark in own if remark]
    assert len(remarks) >= 7  # the rows were chosen to hold some
    assert not any(json.dumps(remark) in kept for remark, kept in remarks)


def test_real_ids_are_distinct_text(real_rows: Path):
    ids = [scenario.id for _, _, scenario in real(real_rows)]
    assert len(set(ids)) == 13
    assert all(isinstance(i, str) and i.strip() == i for i in ids)


# --- ids ---------------------------------------------------------------------------------------


def test_ids_do_not_change_with_order_limit_labels_or_rubric(read):
    rows = [row(DILEMMA=f"Dilemma {i}") for i in range(4)]
    first = {s.dilemma: s.id for s in read(*rows)}
    changed = [{**r, "CONTEXT": "Law", "RUBRIC": repr([item("Other.")])} for r in rows[::-1]]
    again = {s.dilemma: s.id for s in read(*changed[:3])}
    assert again.items() <= first.items()
    assert len(again) == 3


def test_one_dilemma_under_five_theories_gives_five_ids(read, caplog):
    rows = [row(THEORY=name) for name in (*THEORIES, NEUTRAL)]
    scenarios = read(*rows)
    assert [s.theory for s in scenarios] == [*THEORIES, NEUTRAL]
    assert len({s.id for s in scenarios}) == 6
    assert not caplog.records  # other theories are no duplicates
    assert [s.id for s in read(*rows[::-1])] == [s.id for s in scenarios][::-1]


def test_the_same_row_in_the_two_files_has_two_ids(read):
    first = read(row(), name="morebench_public.csv")
    second = read(row(), name="morebench_theory.csv")
    assert first[0].id != second[0].id


def test_an_exact_duplicate_is_kept_with_its_own_id_and_reported(read, caplog):
    with caplog.at_level(logging.WARNING):
        scenarios = read(row(), row(DILEMMA="Another one"), row(), row())
    assert len(scenarios) == 4
    assert len({s.id for s in scenarios}) == 4
    reported = [r.getMessage() for r in caplog.records if "morebench_public.csv" in r.getMessage()]
    assert ["row 3" in m or "row 4" in m for m in reported] == [True, True]


def test_many_rows_in_as_many_out(read):
    rows = [row(DILEMMA=f"Dilemma {i}", THEORY=t) for i in range(30) for t in THEORIES]
    scenarios = read(*rows)
    assert len(scenarios) == len({s.id for s in scenarios}) == 150


def test_criteria_without_or_with_repeated_ids_get_distinct_ones(read):
    items = [item("a", id="x"), item("b", id="x"), item("c", id=None), item("d", id=None)]
    (scenario,) = read(row(RUBRIC=items))
    ids = [c.id for c in scenario.criteria]
    assert len(set(ids)) == 4
    assert all(isinstance(i, str) for i in ids)


# --- columns -----------------------------------------------------------------------------------


def test_only_dilemma_and_rubric_are_required(read):
    (scenario,) = read(row(), header=("RUBRIC", "DILEMMA"))
    labels = (scenario.role, scenario.source, scenario.type, scenario.context)
    assert labels == ("", "", "", "")
    assert scenario.theory == NEUTRAL
    assert scenario.id


@pytest.mark.parametrize("column", HEADER)
def test_each_optional_column_may_be_absent_and_each_required_one_may_not(read, column: str):
    header = tuple(name for name in HEADER if name != column)
    if column in ("DILEMMA", "RUBRIC"):
        assert f"column {column} is missing" in refusal(read, row(), header=header)
    else:
        assert len(read(row(), header=header)) == 1


@pytest.mark.parametrize(
    ("column", "nearest"),
    [
        ("Context", "CONTEXT"),
        ("ROLE DOMAIN", "ROLE_DOMAIN"),
        ("THEORIES", "THEORY"),
        ("ROLE", "ROLE_DOMAIN"),
        ("type", "DILEMMA_TYPE"),
        ("x", ""),
    ],
)
def test_an_unknown_column_is_refused_with_the_nearest_name(read, column: str, nearest: str):
    message = refusal(read, {**row(), column: "7"}, header=(*HEADER, column))
    assert f"column {column!r} is not known" in message
    assert ("did you mean" in message) == bool(nearest)
    assert nearest in message
    assert "separated by commas" in message
    assert "-T allow_columns=true" in message


@pytest.mark.parametrize("unknown", ["warn", "allow"])
def test_an_unknown_column_can_be_passed_over(read, caplog, unknown):
    header = (*HEADER, "TASK")
    assert len(read({**row(), "TASK": "7"}, header=header, unknown=unknown)) == 1
    assert ("'TASK' is not known" in caplog.text) == (unknown == "warn")


def test_row_numbers_in_a_column_without_a_name_are_passed_over(read):
    assert len(read({**row(), "": "0"}, header=("", *HEADER))) == 1


def test_an_id_column_gives_the_ids(read):
    header = ("ID", *HEADER)
    found = read({**row(), "ID": " train "}, {**row(), "ID": "7"}, header=header)
    assert [s.id for s in found] == ["train", "7"]


@pytest.mark.parametrize(("ids", "problem"), [("aa", "stands in row 1 too"), ("a ", "not blank")])
def test_ids_are_unique_and_not_blank(read, ids: str, problem: str):
    message = refusal(read, *({**row(), "ID": i} for i in ids), header=("ID", *HEADER))
    assert "row 2, field ID" in message
    assert problem in message


@pytest.mark.parametrize("dilemma", ["", "  \n"])
def test_an_empty_dilemma_is_refused_naming_the_row(read, dilemma: str):
    message = refusal(read, row(), row(), row(DILEMMA=dilemma))
    assert "row 3" in message
    assert "DILEMMA" in message


def test_a_line_that_ends_early_is_refused_naming_the_row(tmp_path: Path):
    path = tmp_path / "short.csv"
    path.write_text("DILEMMA,THEORY,RUBRIC\nLie or not?,neutral\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"short\.csv, row 1, field RUBRIC"):
        read_csv(path)


@pytest.mark.parametrize("content", ["", "\n"])
def test_a_file_without_a_header_is_refused(tmp_path: Path, content: str):
    path = tmp_path / "empty.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"empty\.csv: column DILEMMA, RUBRIC is missing"):
        read_csv(path)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path):
    path = tmp_path / "latin.csv"
    path.write_bytes("DILEMMA,RUBRIC\ncaf\u00e9,[]\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.csv, line 2: not UTF-8"):
        read_csv(path)


def test_a_byte_order_mark_does_not_hide_the_first_column(tmp_path: Path):
    path = tmp_path / "bom.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerow(row())
    assert len(read_csv(path)) == 1


def test_a_cell_longer_than_the_csv_modules_limit_is_read(read):
    items = [item(f"{i} " + "x" * 5000) for i in range(60)]
    (scenario,) = read(row(RUBRIC=items))
    assert len(scenario.criteria) == 60


@pytest.mark.parametrize("context", ["", "  ", "Science & Techonology"])
def test_context_may_be_empty_and_keeps_its_spelling(read, context: str):
    (scenario,) = read(row(CONTEXT=context))
    assert scenario.context == context.strip()


def test_a_dilemma_keeps_its_blanks_quotes_and_line_breaks(read):
    dilemma = '  A "quoted"\n\n\u2018case\u2019, with {braces}  \n'
    (scenario,) = read(row(DILEMMA=dilemma))
    assert scenario.dilemma == dilemma


# --- theories ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("Kantian deontology", "Kantian Deontology"),
        (" Act Utilitarianism ", "Act Utilitarianism"),
        ("ARISTOTELIAN  VIRTUE ETHICS", "Aristotelian Virtue Ethics"),
        ("Gautheierian Contractarianism", "Gauthierian Contractarianism"),
        ("Neutral", NEUTRAL),
        ("", NEUTRAL),
        ("  ", NEUTRAL),
    ],
)
def test_theory_names_are_read_whatever_their_case_and_blanks(read, cell: str, name: str):
    (scenario,) = read(row(THEORY=cell))
    assert scenario.theory == name


@pytest.mark.parametrize("cell", ["Kantian", "Care Ethics", "Utilitarianism", "None"])
def test_an_unknown_theory_is_refused_with_the_allowed_ones(read, cell: str):
    message = refusal(read, row(), row(THEORY=cell))
    assert "row 2" in message
    assert "THEORY" in message
    assert all(name in message for name in (*THEORIES, NEUTRAL))
