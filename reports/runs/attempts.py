"""Logs of one task id: a run, its continuations, and re-scored copies; each answer counts once."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from moral_evals.reports.runs.logs import FoundLog, UnreadableLog, scores_of


def counted_once(logs: Sequence[FoundLog]) -> tuple[list[FoundLog], list[str]]:
    """Of each task id the newest complete log, or the fullest if none is complete.

    Copies of that log with other scores count too, copies without any are left out. A retry takes
    the finished samples of the log before it over, so an older log holds nothing that a complete
    newer one lacks.

    Returns:
        The logs that count, in their order, and a line for each of the others.
    """
    groups: dict[tuple[str, str], list[FoundLog]] = {}
    for log in logs:
        groups.setdefault((log.header.eval.task_id, log.header.eval.model), []).append(log)
    why: dict[str, str] = {}
    for group in groups.values():
        if len(group) > 1:
            why |= dict(_left_out(group))
    lines = [f"Left out: {log.name}: {why[log.name]}." for log in logs if log.name in why]
    return [log for log in logs if log.name not in why], lines


def _left_out(group: Sequence[FoundLog]) -> Iterator[tuple[str, str]]:
    """Name and reason of each log of a task id that does not count."""
    ranked = sorted(group, key=_rank, reverse=True)
    best, kept = ranked[0], ranked[:1]
    for log in ranked[1:]:
        if not _same_run(log, best):
            yield log.name, f"superseded by {_beside(best, log)}, {_place_in_line(best)}"
        elif double := next((k for k in kept if _within(log, k)), None):
            yield log.name, _double(log, double)
        else:
            # a copy with more scores may come later, since both are of one date
            for less in [k for k in kept if _within(k, log)]:
                kept.remove(less)
                yield less.name, _double(less, log)
            kept.append(log)


def _double(log: FoundLog, other: FoundLog) -> str:
    if log.header.eval.eval_id == other.header.eval.eval_id:
        return f"copy of {_beside(other, log)}"
    return f"superseded by {_beside(other, log)}, which holds all its scores"


def _rank(log: FoundLog) -> tuple[bool, int, str, str]:
    complete = _complete(log)
    created, ended = log.header.eval.created, log.header.stats.completed_at
    return complete, 0 if complete else _scored(log), created, ended


def _complete(log: FoundLog) -> bool:
    header = log.header
    if header.status != "success" or header.invalidated or header.results is None:
        return False
    return header.results.completed_samples >= header.results.total_samples


def _place_in_line(best: FoundLog) -> str:
    if _complete(best):
        return "the newest complete log of the same task id"
    return f"the fullest log of the same task id, {_scored(best)} samples scored"


def _scored(log: FoundLog) -> int:
    try:
        return sum(bool(s.scores) and not s.error for s in log.summaries)
    except UnreadableLog:  # named when the log is looked at for itself
        return 0


def _same_run(log: FoundLog, other: FoundLog) -> bool:
    """Whether both hold the same answers, so that they can differ in scores alone."""
    if log.header.eval.eval_id == other.header.eval.eval_id:
        return True
    answers = _answers(log)
    return bool(answers) and answers == _answers(other)


def _answers(log: FoundLog) -> set[str]:
    try:
        return {s.uuid for s in log.summaries if s.uuid and not s.error}
    except UnreadableLog:
        return set()


def _within(log: FoundLog, other: FoundLog) -> bool:
    """Whether every score of a log stands in another, asked under the same conditions."""
    if _asked(log) != _asked(other):
        return False
    names = [{s.scorer for s in scores_of(one.header)} for one in (log, other)]
    try:
        return names[0] <= names[1] and _scores(log).items() <= _scores(other).items()
    except UnreadableLog:
        return False


def _asked(log: FoundLog) -> dict[str, Any]:
    asked = {"task", "task_version", "task_args", "metadata"}
    return log.header.eval.model_dump(mode="json", include=asked)


def _scores(log: FoundLog) -> dict[tuple[str, int, str], str]:
    # as text, since nan is not equal to itself
    return {
        (str(sample.id), sample.epoch, scorer): score.model_dump_json()
        for sample in log.summaries
        for scorer, score in (sample.scores or {}).items()
    }


def _beside(log: FoundLog, other: FoundLog) -> str:
    """A log's name; without its folder where it is that of the log that the line is about."""
    folder, name = os.path.split(log.name)
    return name if folder == os.path.split(other.name)[0] else log.name
