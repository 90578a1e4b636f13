"""A report as CSV in long form, for programs: a line for each cell, a type for each column."""

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from moral_evals.loaders.values import distinct
from moral_evals.reports.form.document import Between, Cell, OutOf, Report, RunName, Table, shown
from moral_evals.scorers.stats.bootstrap import Interval

HEADER = (
    "table", "row", "run_id", "run_id_2", "column", "value", "lower", "upper", "n", "flag", "text",
)  # fmt: skip
"""`value`, `lower` and `upper` are numbers, `n` is a count, all others are text; empty is missing.

`run_id` joins with the tables of `moral-reports export`, `run_id_2` is the run that is subtracted.
"""

PLAIN = {"−": "-", "–": "-", "→": "->", "…": "...", "†": "+", "Δ": "d", "∞": "inf", "×": "x"}
"""What stands for a sign where only plain letters can be written."""

_SPELT = {"−": " minus ", "Δ": "difference ", "ρ": "rho", "/": "_"}
_FORMULA = ("=", "+", "-", "@", "\t")

Line = Sequence[Any]


def to_csv(report: Report) -> str:
    """All tables, a line for each cell that says something."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for table in report.tables:
        writer.writerows([spreadsheet_cell(v) for v in line] for line in _lines(table))
    return out.getvalue()


def spreadsheet_cell(value: Any) -> Any:
    """A CSV cell that no spreadsheet takes for a formula: such a text gets a ' in front.

    Numbers stay numbers, negative ones and those written as text too.
    """
    if not isinstance(value, str):
        return value
    value = value.replace("\r", "\n")  # the csv module leaves a bare \r without quotes
    if not value.lstrip(" \n").startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def column_name(heading: str) -> str:
    """A heading as an ASCII name: `difference [95%]` is `difference`."""
    text = re.sub(r"\[[^\]]*%\]", "", heading)
    text = "".join(_SPELT.get(c, c) for c in text)
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_") or "column"


def _lines(table: Table) -> Iterator[Line]:
    columns = distinct([column_name(c) for c in table.columns[1:]], "{name}_{n}")
    # the rows of such a table are figures, and have names like columns
    name = column_name if table.columns[0] == "figure" else _plain
    labels = distinct([name(_label(cells[0])) for cells in table.rows], "{name} #{n}")
    for label, cells in zip(labels, table.rows, strict=True):
        first, second = _runs(table, cells[0])
        for column, cell in zip(columns, cells[1:], strict=True):
            yield _plain(table.name), label, first, second, column, *_spread(cell)


def _runs(table: Table, label: Cell) -> tuple[str, str]:
    found = label.runs if isinstance(label, RunName) else (table.run,)
    first, second = (*found, "", "")[:2]
    return first, second


def _label(cell: Cell) -> str:
    return str(cell) if isinstance(cell, int) else shown(cell).strip()


def _spread(cell: Cell) -> Line:
    """Value, lower and upper end, count, flag, text."""
    if isinstance(cell, Interval):
        ends = map(_known, (cell.estimate, cell.lower, cell.upper))
        return *ends, cell.n, cell.flag, ""
    if isinstance(cell, OutOf):
        return cell.count, "", "", cell.total, "", ""
    if isinstance(cell, Between):
        return "", _known(cell.lower), _known(cell.upper), "", "", ""
    if isinstance(cell, str):
        return "", "", "", "", "", "" if cell == "–" else _plain(cell)
    return _known(float(cell)) if not isinstance(cell, int) else cell, "", "", "", "", ""


def _known(value: float) -> float | str:
    return value if math.isfinite(value) else ""


def _plain(text: str) -> str:
    return "".join(PLAIN.get(c, c) for c in text)
