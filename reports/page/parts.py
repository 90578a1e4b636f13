"""The pieces of a report's page as HTML. All text is escaped here, and nowhere else."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import quote

from moral_evals.loaders.morebench.records import slug
from moral_evals.reports.form.document import (
    Between,
    Cell,
    OutOf,
    Report,
    Table,
    mark,
    number,
    remarks,
    shown,
)
from moral_evals.reports.form.long_csv import to_csv
from moral_evals.scorers.stats.bootstrap import Interval


def element(tag: str, inner: str, **attributes: str) -> str:
    """An element; attribute values are escaped, `inner` is HTML already.

    An underscore in an attribute's name stands for a hyphen, a last one for nothing.
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{given}>{inner}</{tag}>"


def notes_html(notes: Sequence[str]) -> str:
    """Remarks, a paragraph each."""
    return "\n".join(element("p", escape(note), class_="note") for note in notes)


def table_html(table: Table, key: str) -> str:
    """A sortable table with its title, a link that saves it as CSV, and its notes.

    Args:
        table: The table.
        key: Its id, unique in the page.
    """
    numeric = [
        any(not isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))
    ]
    heads = "".join(
        element("th", element("button", escape(column), type="button"), scope="col",
                **({"class_": "number"} if is_number else {}))
        for column, is_number in zip(table.columns, numeric, strict=True)
    )  # fmt: skip
    rows = "\n".join(
        element("tr", "".join(_cells(cells, numeric, table.columns))) for cells in table.rows
    )
    body = element("thead", element("tr", heads)) + element("tbody", rows)
    title = element("h3", escape(table.title), id=f"{key}-title") + _csv_link(table)
    inner = [
        element("div", title, class_="head"),
        _scrolling(element("table", body, aria_labelledby=f"{key}-title"), table.title),
        notes_html(remarks(table)),
    ]
    return element("section", "\n".join(inner), id=key, class_="block")


def figure_html(svg: str, title: str, caption: str, key: str) -> str:
    """A figure with its caption; `svg` is HTML already."""
    head = element("div", element("h3", escape(title)), class_="head")
    words = element("figcaption", head + element("p", escape(caption)))
    inner = element("figure", words + _scrolling(svg, title))
    return element("section", inner, id=key, class_="block")


def _scrolling(inner: str, label: str) -> str:
    # a region that scrolls must be reachable with the keyboard, and so have a name
    return element("div", inner, class_="scroll", tabindex="0", role="region", aria_label=label)


def _csv_link(table: Table) -> str:
    data = "data:text/csv;charset=utf-8," + quote(to_csv(Report("", [table])), errors="replace")
    name = f"{slug(table.name)}.csv"
    return element("a", "CSV", href=data, download=name, aria_label=f"{table.title} as CSV")


def _cells(cells: Sequence[Cell], numeric: Sequence[bool], columns: Sequence[str]) -> Iterator[str]:
    for i, (cell, is_number) in enumerate(zip(cells, numeric, strict=True)):
        if i == 0:
            yield element("th", escape(shown(cell)), scope="row", data_value=_value(cell))
        elif is_number:
            attributes = {"class_": "number", "data_value": _value(cell)}
            if isinstance(cell, Interval):
                attributes["title"] = _basis(cell)
            yield element("td", _number(cell), **attributes)
        else:
            yield element("td", escape(shown(cell)), class_="text")


def _number(cell: Cell) -> str:
    if not isinstance(cell, Interval) or math.isnan(cell.lower):
        return escape(shown(cell))
    ends = f"[{number(cell.lower)}, {number(cell.upper)}]"
    span = element("span", escape(ends + mark(cell)), class_="interval")
    return f"{number(cell.estimate)} {span}"


def _value(cell: Cell) -> str:
    """What JavaScript's `parseFloat` reads as the number, or as NaN."""
    if isinstance(cell, str):
        return ""
    value = _chief(cell)
    if math.isnan(value):
        return ""
    return repr(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _chief(cell: int | float | Interval | OutOf | Between) -> float:
    if isinstance(cell, Interval):
        return cell.estimate
    if isinstance(cell, OutOf):
        return cell.count
    return cell.lower if isinstance(cell, Between) else cell


_FLAGS = {"small_n": ", few", "degenerate": ", all alike"}


def _basis(found: Interval) -> str:
    return f"n = {found.n}{_FLAGS.get(found.flag, '')}"
