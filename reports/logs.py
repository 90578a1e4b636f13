"""Finding finished logs, and their headers."""

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from loaders.errors import SuiteError, first_line


def log_files(paths: Sequence[str]) -> list[str]:
    """The logs named, and those in the folders named, each once.

    Folders may be on any fsspec file system. Raises SuiteError if a path holds no log.
    """
    found: dict[str, str] = {}
    for path in paths:
        for name in _logs_at(path):
            found.setdefault(_place(name), name)
    return list(found.values())


def _logs_at(path: str) -> list[str]:
    if path.endswith((".eval", ".json")):
        if "://" not in path and not Path(path).is_file():
            raise SuiteError(f"{path}: no such file.")
        return [path]
    try:
        names = [info.name for info in list_eval_logs(path)]
    except Exception as error:
        raise SuiteError(f"{path}: cannot be listed ({first_line(error)}).") from error
    if not names:
        raise SuiteError(f"{path}: no Inspect log here.")
    return names


def _place(name: str) -> str:
    local = shown_name(name)
    return local if "://" in local else str(Path(local).resolve())


def headers(paths: Sequence[str]) -> list[EvalLog]:
    """Headers of the logs that `log_files` finds, newest first."""
    found = [read(name, header_only=True) for name in log_files(paths)]
    return sorted(found, key=lambda log: log.eval.created, reverse=True)


def read(name: str, header_only: bool = False) -> EvalLog:
    """One log. Raises SuiteError if it cannot be read."""
    try:
        return read_eval_log(name, header_only=header_only)
    except Exception as error:
        raise SuiteError(f"{name}: not a readable Inspect log ({first_line(error)}).") from error


def shown_name(location: str) -> str:
    """A log's place as a user types it."""
    return location.removeprefix("file://")
