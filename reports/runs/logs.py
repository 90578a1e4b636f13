"""Listing logs, and reading them: header, summaries, samples; every failure is one line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalSampleSummary,
    EvalScore,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples,
)
from pydantic import ValidationError

from moral_evals.loaders.errors import SuiteError, field_name, first_line, validation_problem
from moral_evals.scorers.rubric.record import RecordError

UNREAD = {"events", "messages", "store", "attachments", "output", "timelines", "events_data"}
"""Fields that no score depends on any more, and most of a sample's size."""


class UnreadableLog(SuiteError):
    """A file is no Inspect log, or only a part of one, or holds what no scorer of this suite wrote."""


@dataclass(frozen=True)
class FoundLog:
    """A log that can be read.

    Attributes:
        header: All but the samples.
        named: Whether the file itself was named, not only its folder.
    """

    header: EvalLog
    named: bool = False

    @property
    def location(self) -> str:
        """Path or URL."""
        return self.header.location

    @property
    def name(self) -> str:
        """The place as a user types it."""
        return shown_name(self.location)

    @cached_property
    def summaries(self) -> list[EvalSampleSummary]:
        """The samples with their scores, long texts cut; UnreadableLog if they cannot be read."""
        return summaries_of(self.location)


def log_files(paths: Sequence[str]) -> list[str]:
    """The logs named, and those in the folders named, each once.

    Folders may be on any fsspec file system. Raises SuiteError if a path holds no log.
    """
    found: dict[str, str] = {}
    for path in paths:
        for name in [path] if is_file_name(path) else _logs_in(path):
            found.setdefault(place_of(name), name)
    return list(found.values())


def is_file_name(path: str) -> bool:
    """Whether a path names a log and not a folder. Raises SuiteError if there is no such file."""
    if not path.endswith((".eval", ".json")):
        return False
    local = Path(shown_name(path))
    if "://" not in shown_name(path) and not local.is_file():
        if not local.is_dir():
            raise SuiteError(f"{path}: no such file.")
        return False
    return True


def _logs_in(folder: str) -> list[str]:
    try:
        names = [info.name for info in list_eval_logs(folder)]
    except Exception as error:
        raise SuiteError(f"{folder}: cannot be listed ({first_line(error)}).") from error
    # a folder may be called x.eval
    names = [n for n in names if "://" in shown_name(n) or not Path(shown_name(n)).is_dir()]
    if not names:
        raise SuiteError(f"{folder}: no Inspect log here.")
    return names


def place_of(name: str) -> str:
    """One text for all ways to write a log's place."""
    local = shown_name(name)
    return local if "://" in local else str(Path(local).resolve())


def read(name: str, header_only: bool = False) -> EvalLog:
    """One log. Raises UnreadableLog if it cannot be read."""
    try:
        return read_eval_log(name, header_only=header_only)
    except Exception as error:
        raise _unreadable(name, error) from error


def scores_of(log: EvalLog) -> list[EvalScore]:
    """The scores in a log's header; none if the run never came to them."""
    return log.results.scores if log.results else []


def suite_scores(log: EvalLog) -> list[EvalScore]:
    """The scores in a log's header that reports of this suite can show."""
    return [s for s in scores_of(log) if is_rubric(s) or is_corda(s) or is_agreement(s)]


def is_rubric(score: EvalScore) -> bool:
    """Whether it is a rubric score."""
    return "regular" in score.metrics


def is_corda(score: EvalScore) -> bool:
    """Whether it is a CORDA score."""
    return score.scorer.rpartition("/")[2].startswith("lexicographic")


def is_agreement(score: EvalScore) -> bool:
    """Whether it is a judge's examination."""
    return "macro_f1" in score.metrics or "flip_rate" in score.metrics


def summaries_of(name: str) -> list[EvalSampleSummary]:
    """A log's samples, long texts cut. Raises UnreadableLog if they cannot be read."""
    try:
        return read_eval_log_sample_summaries(name)
    except Exception as error:
        raise _unreadable(name, error) from error


def with_samples(name: str) -> EvalLog:
    """A log with its samples' scores, without what only a reader of transcripts needs.

    Raises UnreadableLog if it cannot be read.
    """
    try:
        return read_eval_log(name, exclude_fields=UNREAD)
    except Exception as error:
        raise _unreadable(name, error) from error


def scored_samples(name: str) -> list[EvalSample]:
    """The samples of `with_samples`."""
    return with_samples(name).samples or []


def samples_of(name: str) -> Iterator[EvalSample]:
    """A log's samples one by one, with their texts in place.

    Raises UnreadableLog if one cannot be read.
    """
    try:
        yield from read_eval_log_samples(
            name, all_samples_required=False, resolve_attachments="full"
        )
    except Exception as error:
        raise _unreadable(name, error) from error


@contextmanager
def content_of(name: str) -> Iterator[None]:
    """Around the reading of a log's records; UnreadableLog for one that the suite did not write."""
    try:
        yield
    except (RecordError, ValueError) as error:
        cause = error if isinstance(error, ValidationError) else error.__cause__
        problem = first_line(error)
        if isinstance(cause, ValidationError) and not isinstance(error, RecordError):
            path, found = validation_problem(cause)
            problem = f"{cause.title}, field {field_name(path)}: {found}"
        raise UnreadableLog(f"{shown_name(name)}: {problem}.") from error


def _unreadable(name: str, error: Exception) -> UnreadableLog:
    return UnreadableLog(f"{shown_name(name)}: not a readable Inspect log ({first_line(error)}).")


def shown_name(location: str) -> str:
    """A log's place as a user types it."""
    return location.removeprefix("file://")
