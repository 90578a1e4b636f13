"""Malformed input files of every kind, made by rule, with well-formed ones among them.

A case is a file, the reader that must take it, and either the words that the one-line refusal
must hold or nothing, if the file must be accepted. `cases()` yields them all; the files are
written below a folder given.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from moral_evals.loaders.corda.adapters import read_value_map
from moral_evals.loaders.morebench.theories import read_theory
from moral_evals.loaders.tables.model_file import read_models
from moral_evals.loaders.tables.prices import read_prices
from tests.loaders.malformed_case import Case
from tests.loaders.malformed_records import JSON_LINES, record_cases
from tests.loaders.malformed_tables import CSV_KINDS, csv_cases, map_cases, theory_cases, yaml_cases


def cases(folder: Path) -> Iterator[Case]:
    """All cases, their files below a folder."""
    yield from record_cases(folder)
    yield from csv_cases(folder)
    yield from yaml_cases(folder)
    yield from map_cases(folder)
    yield from theory_cases(folder)
    yield from _file_cases(folder)


def _file_cases(folder: Path) -> Iterator[Case]:
    """What is no file at all, for every reader."""
    readers: dict[str, Callable[[Path], Any]] = {k.name: k.read for k in JSON_LINES}
    readers |= {name: read for name, read, _ in CSV_KINDS}
    readers |= {"prices.yaml": lambda p: read_prices(str(p)), "models.json": read_models,
                "map.json": read_value_map, "own.md": read_theory}  # fmt: skip
    for name, read in readers.items():
        place = folder / "files" / name.replace(".", "-")
        place.mkdir(parents=True)
        os.mkfifo(place / f"pipe-{name}")
        yield Case(name, "FIFO", place / f"pipe-{name}", read, ("pipe",))
        (place / f"zero-{name}").symlink_to("/dev/zero")
        yield Case(name, "device behind a link", place / f"zero-{name}", read, ("device",))
        (place / f"loop-{name}").symlink_to(place / f"loop-{name}")
        yield Case(name, "link to itself", place / f"loop-{name}", read, ("cannot be read",))
        (place / f"folder-{name}").mkdir()
        yield Case(name, "folder", place / f"folder-{name}", read, ("folder",))
        yield Case(name, "missing", place / name, read, ("no such file",))
        yield Case(name, "name too long", place / ("x" * 300 + name), read, ("cannot be read",))
        yield Case(name, "unknown user", Path(f"~nouser/{name}"), read, (name,))
        yield Case(name, "NUL in the name", place / f"a\0{name}", read, ("cannot be read",))
        with (place / f"large-{name}").open("wb") as file:
            file.truncate(3 * 1024**3)  # a hole: it takes no room
        yield Case(name, "too large", place / f"large-{name}", read, ("bytes", "at most"))
