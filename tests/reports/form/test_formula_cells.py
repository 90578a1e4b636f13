"""No cell of a CSV is a formula to a spreadsheet, and numbers stay numbers."""

import csv
import io

import pytest

from moral_evals.reports.form.document import Report, Table
from moral_evals.reports.form.long_csv import spreadsheet_cell, to_csv

FORMULAS = ['=HYPERLINK("http://x","a")', "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", " =1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_kept_as_text(text: str) -> None:
    table = Table("t", "T", ("model", text), [(text, text)])
    (_, row) = list(csv.reader(io.StringIO(to_csv(Report("r", [table])), newline="")))
    assert (row[1], row[-1]) == (f"'{text.strip()}", f"'{text}")
    assert row[4].replace("_", "").isalnum()


def test_a_carriage_return_neither_hides_a_formula_nor_breaks_the_row() -> None:
    table = Table("t", "T", ("model", "\r=1"), [("a\rb", "\r=1")])
    (_, row) = list(csv.reader(io.StringIO(to_csv(Report("r", [table])), newline="")))
    assert (row[1], row[4], row[-1]) == ("a\nb", "1", "'\n=1")


@pytest.mark.parametrize("cell", [-1.5, "-1.5", "+2", "-1e-05", "plain", "a=b", "", "'quoted"])
def test_numbers_and_plain_texts_stay_as_they_are(cell: object) -> None:
    assert spreadsheet_cell(cell) == cell
