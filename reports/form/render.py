"""The forms of a report: terminal, Markdown, CSV, JSON and LaTeX."""

import json
import math
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from moral_evals.reports.form.document import (
    Between,
    Cell,
    OutOf,
    Report,
    Table,
    remarks,
    shown,
)
from moral_evals.reports.form.long_csv import to_csv
from moral_evals.scorers.markdown import cell as escaped
from moral_evals.scorers.markdown import row
from moral_evals.scorers.stats.bootstrap import Interval

_LONGEST = 2000


def to_terminal(report: Report, console: Console) -> None:
    """Print a report as tables."""
    # Text, since in a str Rich takes [bold] for markup and :ok: for a picture
    console.print(Text(report.title, style="bold"))
    for table in report.tables:
        drawn = RichTable(title=Text(table.title), title_justify="left", header_style="bold")
        for i, column in enumerate(table.columns):
            justify: JustifyMethod = "left" if i == 0 else "right"
            drawn.add_column(Text(column), justify=justify, overflow="fold")
        for cells in table.rows:
            drawn.add_row(*(Text(shown(c)) for c in cells))
        console.print(drawn)
        for note in remarks(table):
            _print_note(console, note, indent="  ")
    for note in report.notes:
        _print_note(console, note)
    for line in report.left_out:  # whole, so that a name can be copied
        console.print(Text(line), soft_wrap=True)


def _print_note(console: Console, note: str, indent: str = "") -> None:
    # a path stays whole, so that it can be copied: Rich would break it at the edge
    text = textwrap.fill(
        note, console.width, break_long_words=False, break_on_hyphens=False,
        initial_indent=indent, subsequent_indent=indent,
    )  # fmt: skip
    console.print(Text(text), soft_wrap=True)


def to_markdown(report: Report) -> str:
    """A report in Markdown."""
    return "\n".join(_markdown(report)) + "\n"


def to_json(report: Report) -> str:
    """A report in JSON; null stands for what was not measured."""
    tables = [
        {
            "name": t.name,
            "title": t.title,
            "columns": list(t.columns),
            "rows": [[_plain(c) for c in cells] for cells in t.rows],
            "notes": list(t.notes),
        }
        for t in report.tables
    ]
    notes = [*report.notes, *report.left_out]
    document = {"title": report.title, "tables": tables, "notes": notes}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_latex(report: Report) -> str:
    """The tables in LaTeX, for the booktabs package."""
    return "\n\n".join(_latex(table) for table in report.tables) + "\n"


FORMATS: dict[str, Callable[[Report], str]] = {
    "markdown": to_markdown,
    "csv": to_csv,
    "json": to_json,
    "latex": to_latex,
}


def _markdown(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title, _LONGEST)}"
    for table in report.tables:
        yield f"\n## {escaped(table.title, _LONGEST)}\n"
        yield row([escaped(c) for c in table.columns])
        yield row(["---"] + ["---:"] * (len(table.columns) - 1))
        for cells in table.rows:
            yield row([escaped(shown(c), _LONGEST) for c in cells])
        yield from (f"\n{escaped(note, _LONGEST)}" for note in remarks(table))
    yield from (f"\n{escaped(note, _LONGEST)}" for note in (*report.notes, *report.left_out))


def _plain(cell: Cell) -> Any:
    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    if isinstance(cell, Interval):
        ends = {"lower": finite(cell.lower), "upper": finite(cell.upper)}
        flag = {"flag": cell.flag} if cell.flag else {}
        return {"estimate": finite(cell.estimate), **ends, "n": cell.n, **flag}
    if isinstance(cell, OutOf):
        return {"count": cell.count, "total": cell.total}
    if isinstance(cell, Between):
        return {"lower": finite(cell.lower), "upper": finite(cell.upper)}
    return cell if isinstance(cell, str) else finite(cell)


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "–": "--", "†": r"\dag{}", "‡": r"\ddag{}", "−": "$-$", "Δ": r"$\Delta$", "∞": r"$\infty$", "→": r"$\rightarrow$",
    "…": r"\ldots{}", "<": "$<$", ">": "$>$", "|": r"\textbar{}",
}  # fmt: skip


def _latex(table: Table) -> str:
    lines = [
        r"\begin{table}",
        rf"\caption{{{_tex(table.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
        r"\toprule",
        " & ".join(map(_tex, table.columns)) + r" \\",
        r"\midrule",
        *(" & ".join(_tex(shown(c)) for c in cells) + r" \\" for cells in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_tex(note)}" for note in remarks(table)),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)
