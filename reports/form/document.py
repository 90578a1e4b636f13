"""A report before it takes a form: tables of texts, numbers and intervals, with remarks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from moral_evals.loaders.morebench.records import slug
from moral_evals.scorers.stats.bootstrap import SMALL_N, Interval
from moral_evals.scorers.stats.pvalue import PValue

ALIKE = "†"
"""Marks an interval of units that are all alike."""
FEW = "‡"
"""Marks an interval of few units."""


@dataclass(frozen=True)
class OutOf:
    """A count, and what it is a part of: shown as `6/8`."""

    count: int
    total: int


@dataclass(frozen=True)
class Between:
    """What a figure lies between; nan where not measured."""

    lower: float
    upper: float


Cell = str | int | float | Interval | OutOf | Between
"""Text, a count, a number or `PValue` (nan where not measured), an estimate with its interval, or two numbers."""


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
    """A table's notes, and what the marks in it mean."""
    marks = "".join(mark(c) for cells in table.rows for c in cells if isinstance(c, Interval))
    return [*table.notes, *(f"{m} {meaning}" for m, meaning in _MEANINGS.items() if m in marks)]


_MEANINGS = {
    ALIKE: "All units alike: what so many can exclude, not a bootstrap.",
    FEW: f"Fewer than {SMALL_N} units: the interval is too narrow to lean on.",
}


def mark(found: Interval) -> str:
    """What stands behind an interval that must not be read like the others."""
    alike = found.flag == "degenerate" and math.isfinite(found.lower)
    return (ALIKE if alike else "") + (FEW if found.few else "")


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
        ends = f"[{number(cell.lower)}, {number(cell.upper)}]"
        return f"{number(cell.estimate)} {ends}{mark(cell)}"
    if isinstance(cell, OutOf):
        return f"{cell.count}/{cell.total}"
    if isinstance(cell, Between):
        return f"{number(cell.lower)} to {number(cell.upper)}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return str(cell) if isinstance(cell, str | PValue) else number(cell)
