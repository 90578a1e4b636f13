"""Finding finished logs, and their headers."""

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, EvalScore, list_eval_logs, read_eval_log

from moral_evals.loaders.errors import SuiteError, first_line

UNREAD = {"events", "messages", "store", "attachments", "output", "timelines", "events_data"}
"""Fields that no score depends on any more, and most of a sample's size."""


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


def scores_of(log: EvalLog) -> list[EvalScore]:
    """The scores in a log's header; none if the run never came to them."""
    return log.results.scores if log.results else []


def scored_samples(name: str) -> list[EvalSample]:
    """A log's samples with their scores, without what only a reader of transcripts needs."""
    return read_eval_log(name, exclude_fields=UNREAD).samples or []


def shown_name(location: str) -> str:
    """A log's place as a user types it."""
    return location.removeprefix("file://")
