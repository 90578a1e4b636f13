"""Every malformed file ends in one line that names file, row and field; good ones are read."""

from collections import Counter
from pathlib import Path

import pytest

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.csv_rows import read_csv
from tests.loaders.malformed import Case, cases


def verdict(case: Case) -> str:
    """What is wrong with how a case ended; empty if nothing is."""
    try:
        case.read(case.path)
    except SuiteError as error:
        message = str(error)
        if not case.words:
            return f"refused: {message}"
        missing = [w for w in case.words if w not in message]
        clean = message.isprintable() and len(message) < 2500
        return f"{missing} not in: {message}" if missing else "" if clean else f"odd: {message!r}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return "accepted" if case.words else ""


def test_all_malformed_files_are_refused_in_one_line_and_good_ones_read(tmp_path: Path) -> None:
    found = list(cases(tmp_path))
    wrong = [f"{c.kind}, {c.fault}: {v[:300]}" for c in found if (v := verdict(c))]
    assert not wrong, "\n".join(wrong)


def test_there_are_enough_of_them(tmp_path: Path) -> None:
    found = list(cases(tmp_path))
    bad = [c for c in found if c.words]
    assert len(bad) >= 400
    assert len({c.fault for c in bad}) >= 30
    assert min(Counter(c.kind for c in bad).values()) >= 5
    assert len(found) - len(bad) >= 25


@pytest.mark.parametrize("line", [1, 2, 5])
def test_the_line_of_bad_bytes_is_named(tmp_path: Path, line: int) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"DILEMMA,RUBRIC\n" * (line - 1) + b"\xff\n")
    assert verdict(Case("", "", path, read_csv, (f"x.csv, line {line}",))) == ""
