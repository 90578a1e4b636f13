"""Scripted candidates and judges on Inspect's mock model; every output carries usage."""

import re
from collections.abc import Callable
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
)

USAGE = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)


def output(content: str | list[Content], stop: StopReason = "stop") -> ModelOutput:
    message = ChatMessageAssistant(content=content, model="mock", source="generate")
    choice = ChatCompletionChoice(message=message, stop_reason=stop)
    return ModelOutput(model="mock", choices=[choice], usage=USAGE)


def thinking(trace: str, response: str, **block: Any) -> ModelOutput:
    return output([ContentReasoning(reasoning=trace, **block), ContentText(text=response)])


def mock(answer: Callable[[list[ChatMessage]], ModelOutput | str]) -> Model:
    """A model whose answer is a function of the conversation; may raise."""

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        said = answer(messages)
        return output(said) if isinstance(said, str) else said

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


def first_shown(messages: list[ChatMessage]) -> str:
    """Picks the option that stands first."""
    shown = re.findall(r"^\[(\w+)\] ", messages[-1].text, re.MULTILINE)
    return f"ANSWER: {shown[0]}"


def always(said: str | ModelOutput) -> Model:
    return mock(lambda _: said)


def criterion_of(messages: list[ChatMessage]) -> str:
    """The criterion that a judge is asked about."""
    return messages[-1].text.rpartition("Criterion:")[2].strip()


def criteria_of(messages: list[ChatMessage]) -> dict[int, str]:
    """The numbered criteria of a whole-rubric question; none if it is about a single one."""
    asked = messages[-1].text.partition("\nCriteria:\n")[2]
    lines = [re.fullmatch(r"(\d+)\. (.+)", line) for line in asked.splitlines()]
    return {int(m[1]): m[2] for m in lines if m}


def run(task: Task, candidate: Model, judge: Model | list[Model] | None, **options: Any) -> EvalLog:
    """Run a task in process; several judges make a panel."""
    roles = {"grader": judge} if judge else None
    (log,) = eval(task, model=candidate, model_roles=roles, display="none", **options)
    return log


def metrics(log: EvalLog, scorer: str = "rubric_judge", name: str = "") -> dict[str, float]:
    assert log.results is not None
    found = next(s for s in log.results.scores if s.scorer == scorer and s.name == (name or scorer))
    return {k: m.value for k, m in found.metrics.items()}
