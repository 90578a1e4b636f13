"""The logs that a report rests on, found in folders as they really are.

A folder may hold logs of other tasks, unfinished ones, a run beside its continuation, copies, and
files that are no logs. Each report and each frame asks `find_logs`, and prints its lines.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.runs.attempts import counted_once
from moral_evals.reports.runs.header_check import checked
from moral_evals.reports.runs.logs import (
    FoundLog,
    UnreadableLog,
    content_of,
    is_file_name,
    log_files,
    place_of,
    read,
    suite_scores,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Found:
    """Logs of which each counts once.

    Attributes:
        paths: What was asked for.
        logs: In the order given, those of a folder newest first.
        lines: What was left out and why, and where a header was not believed.
    """

    paths: Sequence[str]
    logs: list[FoundLog]
    lines: list[str]

    def each(self, make: Callable[[FoundLog], Iterable[T]]) -> list[T]:
        """What `make` gives for every log; one that turns out unreadable is left out too.

        Raises UnreadableLog if that log was named by hand.
        """
        return list(self.over(make))

    def over(self, make: Callable[[FoundLog], Iterable[T]]) -> Iterator[T]:
        """The same, one log at a time."""
        for log in self.logs:
            try:
                with content_of(log.location):
                    made = list(make(log))
            except UnreadableLog as error:
                self._leave_out(error, log.named)
            else:
                yield from made

    def lines_for(self, used: Iterable[str], what: str) -> list[str]:
        """The lines, and one for each log of which a report has nothing.

        Args:
            used: Locations of the logs that it has.
            what: What the others have none of.
        """
        places = set(used)
        rest = [log for log in self.logs if log.location not in places]
        lines = [f"Left out: {log.name}: no {what} (task {log.header.eval.task})." for log in rest]
        return [*self.lines, *(line for line in lines if line not in self.lines)]

    def nothing(self, what: str, lines: Sequence[str] = ()) -> SuiteError:
        """The refusal of a report for which no log has anything."""
        return SuiteError(" ".join([f"{', '.join(self.paths)}: {what}.", *(lines or self.lines)]))

    def _leave_out(self, error: UnreadableLog, named: bool) -> None:
        if named:
            raise error
        if (line := f"Left out: {error}") not in self.lines:
            self.lines.append(line)


def find_logs(paths: Sequence[str], *, scored: bool = True, figures: bool = False) -> Found:
    """The logs named, and those in the folders named, as far as a report can rest on them.

    Reads each header once, and the summaries of what counts.

    Args:
        paths: Logs or folders, on any fsspec file system.
        scored: Leave out logs without a score of this suite.
        figures: Whether figures of rubric scores in the headers are used.

    Raises:
        SuiteError: Nothing is left, or a log that was named by hand cannot be read.
    """
    paths = [str(path) for path in paths]
    named = {place_of(path) for path in paths if is_file_name(path)}
    every, found = Found(paths, [], []), Found(paths, [], [])
    for name in log_files(paths):
        by_hand = place_of(name) in named
        try:
            every.logs.append(FoundLog(read(name, header_only=True), by_hand))
        except UnreadableLog as error:
            found._leave_out(error, by_hand)
    single, lines = counted_once(every.logs)
    found.lines.extend(lines)
    every.logs[:] = single
    for log, remarks in every.each(lambda log: [_looked_at(log, scored, figures)]):
        found.lines.extend(remarks)
        if log is not None:
            found.logs.append(log)
    found.lines.extend(every.lines)
    if not found.logs:
        raise found.nothing("nothing to report")
    return found


def _looked_at(log: FoundLog, scored: bool, figures: bool) -> tuple[FoundLog | None, list[str]]:
    """A log with figures to believe; None with the reason if there are none."""
    if suite_scores(log.header):
        return checked(log, figures)
    if not scored:
        return log, []
    return None, [f"Left out: {log.name}: {_why_without(log)}."]


def _why_without(log: FoundLog) -> str:
    header = log.header
    if header.status == "success" or header.results is not None:
        return f"no score of this suite (task {header.eval.task})"
    done = sum(bool(s.scores) and not s.error for s in log.summaries)
    return f"unfinished, status {header.status}, without results ({done} samples scored)"
