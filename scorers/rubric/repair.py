"""Judging that lacks verdicts because calls failed for good, and how it is completed."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from logging import getLogger

from inspect_ai.event import ScoreEvent
from inspect_ai.hooks import Hooks, RunEnd, SampleEnd, hooks
from inspect_ai.log import transcript
from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from moral_evals.loaders.errors import SuiteError
from moral_evals.scorers.rubric.record import JudgingRecord, RubricRecord

logger = getLogger(__name__)

REPAIR = "inspect score {log} --action overwrite --overwrite"
"""Asks for the missing verdicts alone: all scorers of the log, as they were set up for the run."""


def incomplete_judging(state: TaskState, judged: str, text: str) -> RubricRecord | None:
    """The newest score in the log of the same text that lacks verdicts; None if none does.

    Args:
        state: Of the sample.
        judged: `trace` or `response`.
        text: What is to be judged.
    """
    for score in _earlier(state):
        if score.answer != text or "judged" not in (score.metadata or {}):
            continue
        try:
            record = RubricRecord.of(score)
        except SuiteError:
            continue
        if record.judged == judged:
            return record if record.incomplete else None
    return None


def _earlier(state: TaskState) -> Iterator[Score]:
    yield from reversed((state.scores or {}).values())
    # `inspect score --action overwrite` shows a scorer no score, but all events
    for event in reversed(transcript().events):
        if isinstance(event, ScoreEvent):
            yield event.score


@cache
def watch_judging() -> None:
    """Say at a run's end how many samples lack verdicts, and which command asks for them.

    Not at import: Inspect names every hook that it finds, also to users of other tasks.
    """

    @hooks(name="incomplete_judging", description="says which verdicts are missing, and the repair")
    class IncompleteJudging(Hooks):
        def __init__(self) -> None:
            self.samples: Counter[str] = Counter()
            self.calls: Counter[str] = Counter()
            self.first: dict[str, str] = {}

        async def on_sample_end(self, data: SampleEnd) -> None:
            records = [JudgingRecord.of(s) for s in (data.sample.scores or {}).values()]
            seats = [seat for r in records for seat in r.judges if seat.missing]
            if seats:
                self.samples[data.eval_id] += 1
                self.calls[data.eval_id] += sum(len(seat.missing) for seat in seats)
                self.first.setdefault(data.eval_id, f"{seats[0].model}: {seats[0].failure}")

        async def on_run_end(self, data: RunEnd) -> None:
            for log in data.logs:
                name = log.eval.eval_id
                if samples := self.samples.pop(name, 0):
                    logger.warning(
                        "%s: %d samples lack %d verdicts, since judge calls failed for good "
                        "(first: %s). Only these are asked for by: %s",
                        log.eval.task, samples, self.calls.pop(name), self.first.pop(name),
                        REPAIR.format(log=log.location),
                    )  # fmt: skip
