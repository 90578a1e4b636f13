"""Whose replies are kept apart: those of tasks, samples, parts of a sample, and tries."""

from itertools import combinations

import pytest
from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
from inspect_ai.solver import TaskState

from moral_evals.solvers import kept


@pytest.fixture
def state():
    def made(sample_id: int | str, task: str = "task", model: str = "openai/gpt-5") -> TaskState:
        found = TaskState(
            model=ModelName(model), sample_id=sample_id, epoch=1, input="x",
            messages=[ChatMessageUser(content="x")], output=ModelOutput(),
        )  # fmt: skip
        kept.task_started(f"eval of {task}", task, cached=False)
        kept.sample_started(found.uuid, f"eval of {task}")
        return found

    return made


def test_what_is_kept_apart(state):
    policies = [
        kept.kept_replies(state("1")),
        kept.kept_replies(state(1)),
        kept.kept_replies(state("1", task="another")),
        kept.kept_replies(state("1"), part="0.1"),
        kept.kept_replies(state("1"), part="1.0"),
        kept.kept_replies(state("1"), attempt=1),
    ]
    assert all(a and b and a.scopes != b.scopes for a, b in combinations(policies, 2))
    assert kept.kept_replies(state("1")) == policies[0], "another try of the sample finds nothing"
    assert all(p.per_epoch for p in policies)


@pytest.mark.parametrize("model", ["mockllm/model", "none/none"])
def test_nothing_is_kept_of_models_that_cost_nothing(state, model):
    assert kept.kept_replies(state("1", model=model)) is None


def test_nothing_is_kept_of_other_tasks_or_where_the_user_caches(state):
    own = state("1")
    kept.task_started("eval of task", "task", cached=True)
    assert kept.kept_replies(own) is None
    kept.sample_ended(own.uuid)
    assert kept.kept_replies(own) is None
