"""A report before it takes a form: tables of texts, numbers and intervals, with remarks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from moral_evals.loaders.morebench.records import slug
from moral_evals.scorers.stats.bootstrap import Interval

_SMALLEST_P = 0.001
ALIKE = "†"
"""Marks an interval of units that are all alike."""


@dataclass(frozen=True)
class OutOf:
    """A count, and what it is a part of: shown as `6/8`."""

    count: int
    total: int


@dataclass(frozen=True)
class Bounds:
    """What a figure lies between; nan where not measured."""

    lower: float
    upper: float


Cell = str | int | float | Interval | OutOf | Bounds
"""Text, a count, a number (nan where not measured), an estimate with its interval, or two numbers."""


class RunName(str):
    """A row's label that names one run, or two that are compared; it knows their ids."""

    runs: tuple[str, ...]

    def __new__(cls, name: str, *runs: str) -> "RunName":
        """A name, and the ids of its runs."""
        self = super().__new__(cls, name)
        self.runs = runs
        return self

    def minus(self, other: "RunName") -> "RunName":
        """The label of a difference."""
        return RunName(f"{self} − {other}", *self.runs, *other.runs)


class PValue(float):
    """A p-value; a table shows a small one as a bound."""


@dataclass(frozen=True)
class Table:
    """One table of a report.

    Attributes:
        name: Short identifier, for file names and machine-readable forms.
        title: What a reader sees above it.
        columns: Headings; the first column labels the rows.
        rows: Cells, one for each column.
        notes: Remarks under the table: conditions, counts, warnings.
        run: Id of the run that the rows tell of, unless they are each a `RunName`.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    run: str = ""


def remarks(table: Table) -> list[str]:
    """A table's notes, and what a mark in it means."""
    marked = any(
        isinstance(c, Interval) and c.flag == "degenerate" and not math.isnan(c.lower)
        for cells in table.rows
        for c in cells
    )
    meaning = f"{ALIKE} All units alike: what so many can exclude, not a bootstrap."
    return [*table.notes, *([meaning] if marked else [])]


@dataclass(frozen=True)
class Report:
    """Tables under one title, with remarks that hold for all of them.

    Attributes:
        title: What a reader sees.
        tables: In order.
        notes: Remarks on all of them.
        name: Identifier that does not change with the number of runs; the title's words if empty.
        left_out: Lines on logs that the report does not rest on.
    """

    title: str
    tables: Sequence[Table]
    notes: Sequence[str] = field(default=())
    name: str = ""
    left_out: Sequence[str] = ()


def merged(reports: Sequence[Report], title: str) -> Report:
    """Several reports as one: each report's remarks go under its last table, if it has one.

    Tables are named after their report too, since a name must be unique in a file.
    """
    if len(reports) == 1:
        return reports[0]
    left_out = dict.fromkeys(line for report in reports for line in report.left_out)
    tables, notes = [], []
    for report in reports:
        if not report.tables:
            notes += [f"{report.title}: {note}" for note in report.notes]
            continue
        *before, last = report.tables
        for table in (*before, replace(last, notes=[*last.notes, *report.notes])):
            name = f"{report.name or slug(report.title)}/{table.name}"
            tables.append(replace(table, name=name, title=f"{report.title}. {table.title}"))
    return Report(title, tables, notes, left_out=list(left_out))


def number(value: float, digits: int = 3) -> str:
    """Fixed decimals; a dash for what was not measured."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    # a rounded -0.000 is no negative number
    return f"{round(value, digits) + 0.0:.{digits}f}"


def shown(cell: Cell) -> str:
    """A cell as text: an interval as `estimate [lower, upper]`."""
    if isinstance(cell, Interval):
        if math.isnan(cell.lower):
            return number(cell.estimate)
        mark = ALIKE if cell.flag == "degenerate" else ""
        return f"{number(cell.estimate)} [{number(cell.lower)}, {number(cell.upper)}]{mark}"
    if isinstance(cell, OutOf):
        return f"{cell.count}/{cell.total}"
    if isinstance(cell, Bounds):
        return f"{number(cell.lower)} to {number(cell.upper)}"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, PValue) and cell < _SMALLEST_P:
        return f"<{_SMALLEST_P:g}"
    return cell if isinstance(cell, str) else number(cell)
