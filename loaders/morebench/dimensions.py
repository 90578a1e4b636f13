"""Rubric dimensions of a user's own: a small text file that names one a line."""

import re

from moral_evals.loaders.errors import DataError, OptionError
from moral_evals.loaders.files import TABLE_LIMIT, read_text, shown
from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_name
from moral_evals.loaders.paths import local_file
from moral_evals.loaders.values import short

_NAME = re.compile(r"[^\W_]+( [^\W_]+)*")
_LONGEST = 30  # characters; a name heads columns
_MOST = 30  # names; each is a column of every table


def own_dimensions(file: str | None) -> tuple[str, ...]:
    """The names of a user's file, in its order; blank lines and those that begin with # say nothing.

    Raises SuiteError naming file and line: no such file, no name in it, or a name that is not one,
    stands twice or is the benchmark's.
    """
    if file is None:
        return ()
    if not isinstance(file, str):
        raise OptionError(f"-T dimensions={file!r}: must be a file that holds one name a line.")
    path = local_file("dimensions", file)
    if path.is_dir():
        raise OptionError(f"-T dimensions={shown(file)}: must be a file with one name a line.")
    found: dict[str, int] = {}
    for number, line in enumerate(read_text(path, TABLE_LIMIT).splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name = dimension_name(line)
            if problem := _problem(line.strip(), name, found):
                raise DataError(f"{path.name}, line {number}: {problem}.")
            found[name] = number
    if not 1 <= len(found) <= _MOST:
        problem = f"has {len(found)} names; allowed are 1 to {_MOST}, one a line"
        raise DataError(f"{path.name}: {problem}.")
    return tuple(found)


def _problem(line: str, name: str, found: dict[str, int]) -> str:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        return (
            f"{short(line)} is no name of a dimension; allowed are words of letters and digits, "
            f"{_LONGEST} characters at most"
        )
    if name in DIMENSIONS:
        return f"{name!r} is the benchmark's own; leave it out, it is known"
    return f"{name!r} stands in line {found[name]} too" if name in found else ""
