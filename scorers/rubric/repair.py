"""Verdicts that a log holds, and how judging that lacks some is completed."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inspect_ai.event import ScoreEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from moral_evals.loaders.errors import SuiteError
from moral_evals.scorers.rubric.record import JudgingRecord, RubricRecord

REPAIR = "inspect score {log} --action overwrite --overwrite"
"""Asks for the missing verdicts alone: all scorers of the log, as they were set up for the run."""


def repair_command(log: str) -> str:
    """`REPAIR` for a log, as a shell takes it."""
    return REPAIR.format(log=shlex.quote(log))


@dataclass(frozen=True)
class Earlier:
    """A judging in the log.

    Attributes:
        record: Of its score.
        replaced: Whether the new score takes its place, and so what it cost.
    """

    record: RubricRecord
    replaced: bool


def earlier_judgings(state: TaskState, judged: str, text: str) -> Iterator[Earlier]:
    """The scores in the log of the same text, the newest first.

    Args:
        state: Of the sample.
        judged: `trace` or `response`.
        text: What is to be judged.
    """
    for score, replaced in _earlier(state):
        if score.answer != text or "judged" not in (score.metadata or {}):
            continue
        try:
            record = RubricRecord.of(score)
        except SuiteError:
            continue
        if record.judged == judged and record.judge:
            yield Earlier(record, replaced)


def _earlier(state: TaskState) -> Iterator[tuple[Score, bool]]:
    for score in reversed((state.scores or {}).values()):
        yield score, False
    # `inspect score --action overwrite` shows a scorer no score, but all events
    for event in reversed(transcript().events):
        if isinstance(event, ScoreEvent):
            yield event.score, True


@dataclass
class Incomplete:
    """What a run's samples lack.

    Attributes:
        samples: How many of them lack verdicts.
        verdicts: How many they lack, each judge's counted.
        first: The first failure.
    """

    samples: int = 0
    verdicts: int = 0
    first: str = ""

    def add(self, scores: Iterable[Score]) -> None:
        """Count a finished sample."""
        records = [JudgingRecord.of(s) for s in scores if "judge" in (s.metadata or {})]
        seats = [seat for r in records for seat in r.judges if seat.missing]
        if seats:
            self.samples += 1
            self.verdicts += sum(len(seat.missing) for seat in seats)
            self.first = self.first or f"{seats[0].model}: {seats[0].failure}"

    def line(self, log: str) -> str:
        """What to tell the user, with the command that asks for what is missing."""
        return (
            f"{self.samples} samples lack {self.verdicts} verdicts, since judge calls failed for "
            f"good (first: {self.first}). Only these are asked for by: {repair_command(log)}"
        )
