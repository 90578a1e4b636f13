"""Replies of samples that were not finished, kept for the run that finishes them.

`inspect eval-retry` repeats unfinished samples from the start. Inspect's cache, scoped to the task
id, the sample and the epoch, gives them the replies that had come, and gives them to no other run.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import CachePolicy, ModelOutput
from inspect_ai.solver import TaskState

# Local and free; and the name of a mock does not say what it answers.
_UNCACHED_APIS = ("mockllm", "embedded", "scripted", "answers", "none")

_EXPIRY = "4W"
"""A run that nobody finished within four weeks is asked anew."""


@dataclass(frozen=True)
class _Run:
    task_id: str
    cached: bool


_RUNS: dict[str, _Run] = {}
_SAMPLES: dict[str, str] = {}


def task_started(eval_id: str, task_id: str, cached: bool) -> None:
    """Learn the id that a retried task keeps, and whether the user caches replies himself."""
    _RUNS[eval_id] = _Run(task_id, cached)


def sample_started(sample_uuid: str, eval_id: str) -> None:
    """Learn the task of a sample, which a solver is not told."""
    _SAMPLES[sample_uuid] = eval_id


def sample_ended(sample_uuid: str) -> None:
    """Forget a sample."""
    _SAMPLES.pop(sample_uuid, None)


def task_ended(eval_id: str) -> None:
    """Forget a task."""
    _RUNS.pop(eval_id, None)


def kept_replies(state: TaskState, part: str = "", attempt: int = 0) -> CachePolicy | None:
    """Where the replies of a sample are kept; None where they are not, or the user caches.

    Args:
        state: Of the sample.
        part: Of the sample, so that a question put twice has two replies.
        attempt: Number of the reply; one that was no reply is not given out again.
    """
    run = _RUNS.get(_SAMPLES.get(state.uuid, ""))
    if run is None or run.cached or state.model.api in _UNCACHED_APIS:
        return None
    scopes = {"task": run.task_id, "sample": repr(state.sample_id)}
    scopes |= {"part": part, "attempt": str(attempt)}
    return CachePolicy(expiry=_EXPIRY, scopes=scopes)


async def reply_or_error(
    state: TaskState,
    call: Callable[[CachePolicy | None], Awaitable[ModelOutput]],
    problem: Callable[[ModelOutput], str],
    part: str = "",
) -> tuple[ModelOutput, str]:
    """A reply, kept or new, and what is wrong with it; a kept one that is wrong is asked anew.

    Args:
        state: Of the sample.
        call: Asks the model under a cache policy.
        problem: What makes a reply an error; empty for a good one.
        part: Of the sample that asks.
    """
    attempt = 0
    while True:
        reply = await call(kept_replies(state, part, attempt))
        wrong = problem(reply)
        if not wrong or not _was_kept(reply):
            return reply, wrong
        attempt += 1


def _was_kept(reply: ModelOutput) -> bool:
    # not the last event: steps of a rollout are asked side by side
    calls = (e for e in reversed(transcript().events) if isinstance(e, ModelEvent))
    return any(e.cache == "read" and e.output == reply for e in calls)
