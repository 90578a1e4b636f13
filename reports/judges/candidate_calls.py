"""What a task will ask of its candidate: measured by putting a few samples to a mock one."""

import math
import tempfile
from collections.abc import Sequence
from copy import copy
from typing import Any

from inspect_ai import Task, eval, task_with
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from moral_evals.loaders.errors import SuiteError
from moral_evals.scorers.judging.plan import Calls

_TRIED = 12


def candidate_calls(task: Task, samples: Sequence[Sample], chars_out: float) -> Calls:
    """Calls of the candidate over samples, with the sizes of the prompts it would be sent.

    Args:
        task: The task.
        samples: Those of a run.
        chars_out: Assumed characters of a reply.

    Raises:
        SuiteError: If the task does not run even with a mock candidate.
    """
    calls = sum(map(_calls, samples))
    sizes = _prompt_sizes(task, _tried(samples))
    mean = sum(sizes) / len(sizes) if sizes else 0.0
    return Calls(calls, calls * mean, calls * chars_out)


def most_candidate_calls(task: Task, samples: Sequence[Sample]) -> Calls:
    """The most calls of the candidate, each prompt as long as the longest of those tried.

    No reply of the mock candidate can be read, so whatever a task asks again it asks again.
    """
    tried = _tried(samples)
    unread = _prompt_sizes(task, tried, unreadable=True)
    if not unread:
        return Calls()
    calls = math.ceil(sum(map(_calls, samples)) * len(unread) / sum(map(_calls, tried)))
    return Calls(calls, calls * max(unread + _prompt_sizes(task, tried)))


def _tried(samples: Sequence[Sample]) -> list[Sample]:
    """A few samples from all over."""
    return list(samples[:: max(len(samples) // _TRIED, 1)])


def _calls(sample: Sample) -> int:
    chain = (sample.metadata or {}).get("chain")
    return len(chain["steps"]) if isinstance(chain, dict) else 1


def _prompt_sizes(task: Task, samples: list[Sample], *, unreadable: bool = False) -> list[int]:
    """Characters of each prompt; nothing leaves the machine, and the log is thrown away."""
    if not samples:
        return []
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(
            task_with(copy(task), dataset=MemoryDataset(samples)),
            model=_mock("chain" in (samples[0].metadata or {}) and not unreadable),
            score=False,
            display="none",
            log_dir=folder,
            log_level="error",
        )
        if log.status != "success":
            raise SuiteError(f"the task does not run with a mock candidate: {log.error}")
        log = read_eval_log(log.location, resolve_attachments=True)
        events = [e for s in log.samples or [] for e in s.events if isinstance(e, ModelEvent)]
    return [sum(len(m.text) for m in e.input) for e in events]


def _mock(chains: bool) -> Model:
    if chains:
        return get_model("scripted/first-position")

    def reply(*_: Any) -> ModelOutput:
        # without usage Inspect would fetch a tokenizer
        said = ModelOutput.from_content("mockllm/estimate", "<reasoning>x</reasoning> x")
        said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return said

    return get_model("mockllm/estimate", custom_outputs=reply, memoize=False)
