"""Every scorer under its bare name as well, so that `inspect score LOG` finds it by itself.

Inspect registers a package's scorer as `moral_evals/rubric_judge` and writes `rubric_judge` into
the log. Without `--scorer` it looks for the name in the log, which no registered scorer has.
"""

from functools import partial
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_info
from pydantic import BaseModel, ValidationError

from moral_evals.loaders.corda.rollouts import RolloutMetadata
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.loaders.tables.judge_pairs import LabelledText
from moral_evals.scorers.judge_agreement import judge_labels, judge_under_attack
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.outcome import outcome
from moral_evals.scorers.rubric_judge import rubric_judge, rubric_judge_response

SCORERS: dict[Any, type[BaseModel]] = {
    outcome: ScenarioMetadata,
    rubric_judge: ScenarioMetadata,
    rubric_judge_response: ScenarioMetadata,
    lexicographic: RolloutMetadata,
    judge_labels: LabelledText,
    judge_under_attack: LabelledText,
}
"""Each scorer with the record that the samples of its task carry."""


def register() -> None:
    """Add the bare names; a scorer of the same name in a user's task file takes its place there."""
    for factory, record in SCORERS.items():
        metrics = registry_info(factory).metadata["metrics"]
        # a partial belongs to no package, so Inspect puts no prefix before its name
        scorer(metrics=metrics, name=factory.__name__)(partial(_guarded, factory, record))


def _guarded(factory: Any, record: type[BaseModel], **arguments: Any) -> Scorer:
    """The scorer, which refuses samples of another package's task with a scorer of this name."""
    inner: Scorer = factory(**arguments)

    async def score(state: TaskState, target: Target) -> Score | None:
        _check(state, record, factory.__name__)
        return await inner(state, target)

    return score


def _check(state: TaskState, record: type[BaseModel], name: str) -> None:
    try:
        # ScenarioMetadata has a default for every field, so its criteria are asked for by name
        ours = record is not ScenarioMetadata or bool(state.metadata.get("criteria"))
        record.model_validate(state.metadata)
    except ValidationError:
        ours = False
    if not ours:
        raise SuiteError(
            f"sample {state.sample_id!r} is not of moral_evals, whose scorer is also called "
            f"{name!r}; name yours: inspect score LOG --scorer FILE.py@{name}"
        )
