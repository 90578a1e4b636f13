"""CSV, JSON, JSON Lines and YAML, read strictly: what a reader would have to guess is refused.

All of them pass `checked`, so that no record holds half of a surrogate pair, a number that no
float can hold, or more nesting than any schema here has.
"""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from moral_evals.loaders.errors import DataError, field_name, first_line, listing, printable
from moral_evals.loaders.files import DATA_LIMIT, TABLE_LIMIT, read_lines, read_text

_DEEPEST = 40
_DIGITS = 308  # a float holds no longer integer
_HALF = re.compile(r"\\u[dD][89abAB-Fc-f]|[\ud800-\udfff]")


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: its header, and its rows by number from 1 after the header.

    Rows whose cells are all empty are counted and left out.
    """

    file: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


def read_csv_table(
    path: Path, required: Sequence[str] = (), also: Sequence[str] = (), limit: int = DATA_LIMIT
) -> CsvTable:
    """Read a CSV file with a header, strictly.

    Args:
        path: The file; cells are separated by commas.
        required: Columns that must be there.
        also: Columns that are read if present, for the message.
        limit: Bytes at most.

    Raises:
        SuiteError: If the file cannot be read.
        DataError: For a quote that is not closed, a column that is missing or stands twice, or a
            row with too few or too many cells; a refusal of the header quotes it.
    """
    csv.field_size_limit(sys.maxsize)  # a rubric cell can pass the default of 128 KiB
    records = _records(path, read_text(path, limit))
    header = tuple(cell.strip() for cell in next(records, (0, []))[1])
    _check_header(path.name, header, required, also)
    rows = []
    for number, cells in records:
        if not any(cell.strip() for cell in cells):
            continue
        _check_count(path.name, number, cells, header)
        row = dict(zip(header, cells, strict=True))
        for name, cell in row.items():
            if "\0" in cell:
                raise DataError.at(path.name, number, name, "holds a NUL; must be UTF-8 text")
        rows.append((number, row))
    return CsvTable(path.name, header, tuple(rows))


def _records(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    number, begin = -1, 1
    while True:
        number, begin = number + 1, reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            place = f"row {number}" if number else "header"
            other = "" if number else _other_separator(text.partition("\n")[0])
            cause = (
                f"its cells look separated by {other}; must be commas"
                if other
                else 'a quote that is not closed, or not doubled ("") inside a cell, looks like this'
            )
            raise DataError(
                f"{path.name}, {place} (line {begin} of the file): not a CSV file ({error}); {cause}."
            ) from error
        yield number, cells


def _check_header(
    file: str, header: tuple[str, ...], required: Sequence[str], also: Sequence[str]
) -> None:
    for name in header:
        # a table library writes its row numbers into a column without a name
        if (not name and not also) or header.count(name) > 1:
            times = "two columns" if header.count("") > 1 else "a column"
            problem = "the column stands there twice" if name else f"{times} without a name"
            problem += f"; the header is {listing(header)}"
            raise DataError.at(file, "header", name or "(empty)", problem)
    missing = [name for name in required if name not in header]
    if missing:
        raise DataError(
            f"{file}: column {', '.join(missing)} is missing; required are {', '.join(required)}"
            + (f", read if present: {', '.join(also)}" if also else "")
            + f". The header is {listing(c[:60] for c in header[:20])}{_hint(header, missing)}."
        )


def unknown_column(table: CsvTable, known: Sequence[str]) -> str:
    """What is wrong with the first column that is not known, with the nearest name; else empty.

    A column without a name, into which table libraries write row numbers, is none.
    """
    name = next((c for c in table.header if c and c not in known), None)
    if name is None:
        return ""
    close = _nearest(name, known)
    nearest = f" (did you mean {close}?)" if close else ""
    return (
        f"{table.file}, header: column {printable(name)!r} is not known{nearest}; known are "
        f"{', '.join(known)}. The columns were found separated by commas"
    )


def _nearest(name: str, known: Sequence[str]) -> str:
    """The known column that a name may stand for; empty if none is like it."""
    # as a slip would leave it: in another case, with blanks, or a word of it alone
    plain = "_".join(name.upper().replace("-", " ").split())
    upper = {k.upper(): k for k in known}
    close = get_close_matches(plain, upper, n=1) or [k for k in upper if plain in k.split("_")]
    return upper[close[0]] if close else ""


_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def _other_separator(line: str) -> str:
    return next((name for mark, name in _SEPARATORS.items() if mark in line), "")


def _hint(header: tuple[str, ...], missing: Sequence[str]) -> str:
    if other := _other_separator("".join(header)):
        return f", separated by {other}; must be commas"
    if {m.casefold() for m in missing} & {c.casefold() for c in header}:
        return ", separated by commas; names are written as above, in the same case"
    alike = [f"{h!r} should be {m}" for m in missing for h in header if _nearest(h, (m,))]
    return ", separated by commas" + (f"; perhaps {printable(alike[0])}" if alike else "")


def _check_count(file: str, row: int, cells: list[str], header: tuple[str, ...]) -> None:
    if len(cells) == len(header):
        return
    field = header[len(cells)] if len(cells) < len(header) else "(all)"
    problem = f"{len(cells)} cells for {len(header)} columns ({listing(header)})"
    problem += "; cells are separated by commas, and one that holds a comma stands in quotes"
    raise DataError.at(file, row, field, problem)


@dataclass
class _Marks:
    """What the parser met that a closer look must place."""

    odd_number: bool = False
    twice: str | None = None


def strict_json(text: str) -> Any:
    """The value of a JSON text; numbers that no float holds become infinite.

    Raises JSONDecodeError or RecursionError if it is no JSON, ValueError for a key that stands
    twice in an object.
    """
    marks = _Marks()
    value = _decoder(marks).decode(text)
    if marks.twice is not None:
        raise ValueError(f"the key {printable(marks.twice)!r} stands twice in one object")
    return value


def parse_json(text: str, file: str, row: int | str | None = None, *, nan: bool = False) -> Any:
    """The value of a JSON text.

    Args:
        text: The text.
        file: Name of the file, for messages.
        row: Row of the file, for messages; None for a file that is one value.
        nan: Let `NaN` pass, which table libraries write for an empty cell.

    Raises:
        DataError: If it is not JSON, a key stands twice in an object, or as `checked` does.
    """
    marks = _Marks()
    place = file if row is None else f"{file}, row {row}"
    try:
        value = _decoder(marks).decode(text)
    except json.JSONDecodeError as error:
        where = (
            f"line {error.lineno}, column {error.colno}" if row is None else f"column {error.colno}"
        )
        raise DataError(f"{place}: not JSON ({error.msg} at {where}).") from error
    except RecursionError as error:
        raise DataError(f"{place}: not JSON of a known schema (nested too deep).") from error
    if marks.twice is not None:
        problem = "the key stands twice in one object; allowed: once"
        raise DataError.at(file, row if row is not None else 1, printable(marks.twice), problem)
    deep = text.count("[") + text.count("{") > _DEEPEST
    if marks.odd_number or deep or _HALF.search(text):
        checked(value, file, row, nan=nan)
    return value


def _decoder(marks: _Marks) -> json.JSONDecoder:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(found)
        if len(value) < len(found) and marks.twice is None:
            keys = [key for key, _ in found]
            marks.twice = next(key for key in keys if keys.count(key) > 1)
        return value

    def whole(digits: str) -> int | float:
        if len(digits) <= _DIGITS:
            return int(digits)
        marks.odd_number = True
        return math.inf

    def real(text: str) -> float:
        found = float(text)
        marks.odd_number = marks.odd_number or not math.isfinite(found)
        return found

    return json.JSONDecoder(
        object_pairs_hook=pairs, parse_int=whole, parse_float=real, parse_constant=real
    )


def without_version(file: str, row: int, value: dict[str, Any], schema: str) -> dict[str, Any]:
    """A record without its `schema_version`, which must be the one given; DataError if not."""
    if "schema_version" not in value:
        raise DataError.at(file, row, "schema_version", f"is missing; must be {schema!r}")
    if value["schema_version"] != schema:
        raise DataError.at(file, row, "schema_version", f"must be {schema!r}")
    return {k: v for k, v in value.items() if k != "schema_version"}


def json_lines(path: Path, *, nan: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers from 1 and the objects on them; blank lines are counted and passed over.

    Raises DataError naming the file and line of anything that is not a JSON object.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        value = parse_json(line, path.name, number, nan=nan)
        if not isinstance(value, dict):
            raise DataError(f"{path.name}, row {number}: must be a JSON object.")
        yield number, value


def read_yaml(path: Path) -> Any:
    """The value of a small YAML or JSON file; dates stay text, repeated keys and aliases are refused.

    Raises SuiteError if it cannot be read, DataError if it is neither.
    """
    text = read_text(path, TABLE_LIMIT)
    # JSON writes a character beyond the first 65,536 as two halves, which YAML does not join
    return (parse_json if path.suffix.lower() == ".json" else parse_yaml)(text, path.name)


def parse_yaml(text: str, file: str) -> Any:
    """The value of a YAML text; raises DataError as `read_yaml` does."""
    try:
        value = yaml.load(text, Loader=_PlainYaml)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or first_line(error)
        place = f"{file}, row {mark.line + 1}" if mark else file
        raise DataError(f"{place}: not YAML ({problem}).") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"{file}: not YAML of a known schema ({first_line(error)}).") from error
    return checked(value, file)


class _PlainYaml(yaml.SafeLoader):  # type: ignore[misc]  # it has no types
    """YAML as JSON has it: no dates, no aliases, no repeated keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "aliases are not read", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(found) < len(node.value):
            keys = [self.construct_object(key, True) for key, _ in node.value]
            twice = next((key for key in keys if keys.count(key) > 1), "<<")
            problem = f"the key {twice!r} stands twice in one mapping"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return found


# a date stays the text that it is: 2024-02-30 is no date, and no field here is one
_PlainYaml.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def checked(value: Any, file: str, row: int | str | None = None, *, nan: bool = False) -> Any:
    """The value, if it can be stored: plain JSON, whole characters, finite numbers, flat enough.

    Raises DataError naming file, row and field; without a row, the first part of a list or
    mapping takes its place.
    """
    for path, problem in _faults(value, nan):
        place, fields = row, path
        if place is None:
            place, fields = (path[0], path[1:]) if path else ("(all)", path)
        raise DataError.at(file, printable(str(place)), field_name(fields), problem)
    return value


def _faults(value: Any, nan: bool) -> Iterator[tuple[tuple[int | str, ...], str]]:
    waiting: list[tuple[tuple[int | str, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if len(path) > _DEEPEST:
            yield path[:3], f"nested deeper than {_DEEPEST} levels"
        elif isinstance(item, dict):
            for key in item:
                if not isinstance(key, str | int | float | bool | None):
                    yield path, f"a key of type {type(key).__name__}; must be text"
                elif _halved(key):
                    yield (*path, str(key)), _SURROGATE
            waiting += [((*path, str(k)), v) for k, v in reversed(item.items())]
        elif isinstance(item, list | tuple):
            waiting += [((*path, n), v) for n, v in reversed(list(enumerate(item, 1)))]
        elif problem := _leaf(item, nan):
            yield path, problem


_SURROGATE = "holds half of a surrogate pair, which no log can store; repair the text"


def _leaf(item: Any, nan: bool) -> str:
    if isinstance(item, str):
        return _SURROGATE if _halved(item) else ""
    if isinstance(item, float) and not math.isfinite(item):
        known = nan and math.isnan(item)
        return "" if known else "is not a finite number that a float can hold"
    if isinstance(item, int) and not isinstance(item, bool) and item.bit_length() > 1024:
        return "is not a finite number that a float can hold"
    if item is None or isinstance(item, int | float):
        return ""
    return f"a value of type {type(item).__name__}; must be text, a number, a list or a mapping"


def _halved(key: Any) -> bool:
    return isinstance(key, str) and any("\ud800" <= c <= "\udfff" for c in key)
