"""What the suite does at a run's ends: hints before anything is paid for, and what is left to do."""

from collections import Counter
from functools import cache
from logging import getLogger

from inspect_ai.hooks import (
    Hooks,
    RunEnd,
    SampleAttemptStart,
    SampleEnd,
    TaskEnd,
    TaskStart,
    hooks,
)

from moral_evals.scorers.judging.models import missing_judge
from moral_evals.scorers.judging.options import ROLE
from moral_evals.scorers.lexicographic import NO_RECORDS, WITHOUT_RECORDS
from moral_evals.scorers.rubric.repair import Incomplete
from moral_evals.solvers import kept
from moral_evals.solvers.ready import cannot_score

logger = getLogger(__name__)

_RUBRIC = ("morebench", "morebench_theory")


@cache
def watch_runs() -> None:
    """Have Inspect call `RunWatch`; by the tasks as they are built.

    Not at import: Inspect announces every hook that it finds, also to users of other tasks.
    """
    hooks(name="run_watch", description="hints at a run's start, what is missing at its end")(
        RunWatch
    )


class RunWatch(Hooks):
    """For this suite's tasks; all others are left alone."""

    def __init__(self) -> None:
        """Know of no run."""
        self.incomplete: dict[str, Incomplete] = {}
        self.without_records: Counter[str] = Counter()

    async def on_task_start(self, data: TaskStart) -> None:
        """Look at a run's options; what must end it is raised by the solver, a hook cannot."""
        benchmark = str((data.spec.metadata or {}).get("benchmark", ""))
        if benchmark not in (*_RUBRIC, "corda"):
            return
        cached = bool(data.spec.model_generate_config.cache)
        kept.task_started(data.eval_id, data.spec.task_id, cached)
        _reducers_without_effect(data.spec.config.epochs_reducer or [], benchmark)
        if benchmark in _RUBRIC:
            self.incomplete[data.eval_id] = Incomplete()
            reason = missing_judge(data.spec.task_args.get("judges", ROLE))
            if reason:
                cannot_score(data.eval_id, reason)

    async def on_sample_attempt_start(self, data: SampleAttemptStart) -> None:
        """Tell the solvers of whose task a sample is."""
        kept.sample_started(data.sample_id, data.eval_id)

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count what a sample lacks."""
        kept.sample_ended(data.sample_id)
        found = (data.sample.scores or {}).values()
        if any(s.reason == WITHOUT_RECORDS for s in found):
            self.without_records[data.eval_id] += 1
        if data.eval_id in self.incomplete:
            self.incomplete[data.eval_id].add(found)

    async def on_task_end(self, data: TaskEnd) -> None:
        """Forget the task's id."""
        kept.task_ended(data.eval_id)

    async def on_run_end(self, data: RunEnd) -> None:
        """Say what is missing, and the command that asks for it."""
        for log in data.logs:
            found = self.incomplete.pop(log.eval.eval_id, None)
            if found and found.samples:
                logger.warning("%s: %s", log.eval.task, found.line(log.location))
            if count := self.without_records.pop(log.eval.eval_id, 0):
                logger.warning("%s: %d rollouts. %s", log.eval.task, count, NO_RECORDS)


def _reducers_without_effect(reducers: list[str], benchmark: str) -> None:
    if reducers and reducers != ["mean"]:
        logger.warning(
            "--epochs-reducer %s has no effect on the figures of %s: they average over a "
            "sample's epochs first",
            ",".join(reducers),
            benchmark,
        )
