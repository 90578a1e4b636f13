"""What is said when a run starts: roles are bound by then, and nothing is paid for yet."""

from logging import getLogger

from inspect_ai.hooks import Hooks, TaskStart, hooks

from moral_evals.scorers.judging.models import missing_judge
from moral_evals.scorers.judging.options import ROLE
from moral_evals.solvers.ready import cannot_score

logger = getLogger(__name__)

_RUBRIC = ("morebench", "morebench_theory")


@hooks(name="early_hints", description="Options without effect and missing judges, said at once")
class EarlyHints(Hooks):
    """Hints for this suite's tasks; all other tasks are left alone.

    A hook cannot end a run, so a reason to end it is left for the solver, which raises it before
    the first call.
    """

    async def on_task_start(self, data: TaskStart) -> None:
        """Look at a run's options."""
        benchmark = str((data.spec.metadata or {}).get("benchmark", ""))
        if benchmark not in (*_RUBRIC, "corda"):
            return
        reducers = data.spec.config.epochs_reducer or []
        if reducers and reducers != ["mean"]:
            logger.warning(
                "--epochs-reducer %s has no effect on the figures of %s: they average over a "
                "sample's epochs first",
                ",".join(reducers),
                benchmark,
            )
        if benchmark in _RUBRIC:
            reason = missing_judge(data.spec.task_args.get("judges", ROLE))
            if reason:
                cannot_score(data.eval_id, reason)
