"""Logs of scripted models with known differences, made once for the tests that read them."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, get_model

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.morebench.records import DIMENSIONS
from tests.mocks import criterion_of, output, run, thinking

SKILL = {"steady": 0.7, "kind": 0.66, "quick": 0.62}
"""How often the judge says yes to a model's reasoning."""


def chance(*parts: str) -> float:
    """A number in [0, 1) that depends on the texts alone."""
    return int(hashlib.sha256("|".join(parts).encode()).hexdigest()[:8], 16) / 16**8


def candidate(name: str) -> Model:
    """Reasons at its own length; now and then refuses, fails, or shows no reasoning."""

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        dilemma = messages[-1].text
        fate = chance("fate", name, dilemma)
        if fate < 0.06:
            return output("I cannot help with that.", "content_filter")
        if fate < 0.1:
            raise ConnectionError("the model is down")
        if fate < 0.14:
            return output("Do it.")
        weighing = " Weighing the two sides." * int(20 + 60 * chance("long", name, dilemma))
        return thinking(f"{name} thinks.{weighing}", f"{name} decides.{weighing[:99]}")

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def grader(name: str = "judge", **settings: Any) -> Model:
    """A judge whose verdict depends on who reasons, on what, and a little on itself."""

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        text, criterion = messages[-1].text, criterion_of(messages)
        who = next(n for n in SKILL if f"{n} thinks" in text or f"{n} decides" in text)
        if chance("unclear", who, criterion) < 0.02:
            return output("hard to say")
        shared = chance("shared", criterion) < 0.6
        met = chance("met", criterion, "" if shared else who) < SKILL[who]
        if chance("own mind", name, criterion) < (0.1 if name != "judge" else 0):
            met = not met
        return output("yes" if met else "no")

    config = GenerateConfig(**settings)
    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False, config=config)


@pytest.fixture(scope="session")
def rubric_logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By model the log of the bundled dilemmas, traces judged."""
    folder = tmp_path_factory.mktemp("rubric-logs")
    return {
        name: run(
            morebench(data="sample", judge_cache=False), candidate(name), grader(),
            log_dir=str(folder / name), log_realtime=False,
        ).location
        for name in SKILL
    }  # fmt: skip


def dilemmas(folder: Path, n: int = 4, name: str = "small.jsonl", first: int = 0) -> str:
    """A data set of n dilemmas with four criteria each."""
    path = folder / name
    with path.open("w", encoding="utf-8") as file:
        for i in range(first, first + n):
            criteria = [
                {"id": f"c{j}", "text": f"Sees {j} in case {i}.", "weight": weight,
                 "dimension": DIMENSIONS[(i + j) % 5]}
                for j, weight in enumerate((3, 2, 1, -2))
            ]  # fmt: skip
            row = {"schema_version": "dilemma-1", "id": f"case-{i}", "dilemma": f"Case {i}?"}
            file.write(json.dumps(row | {"criteria": criteria}) + "\n")
    return str(path)


def small_log(
    folder: Path,
    name: str,
    judges: Model | list[Model] | None = None,
    data: str = "",
    **options: Any,
) -> EvalLog:
    """A log of few dilemmas."""
    task = morebench(data=data or dilemmas(folder), judge_cache=False, **options)
    return run(task, candidate(name), judges or grader(), log_dir=str(folder), log_realtime=False)


@pytest.fixture(scope="session")
def both_logs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two small logs in which trace and response are judged."""
    folder = tmp_path_factory.mktemp("both-logs")
    data = dilemmas(folder, 6)
    return [
        small_log(folder / name, name, data=data, judged="both").location
        for name in ("steady", "quick")
    ]


@pytest.fixture(scope="session")
def corda_logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By rule the log of some chains, on their own and with the model's own history."""
    folder = tmp_path_factory.mktemp("corda-logs")
    return {name: corda_log(folder / name, name) for name in RULES}


RULES = ("lexicographic-best", "welfare-first", "history-sensitive")


def corda_log(
    folder: Path, rule: str, conditions: Sequence[str] = ("unconditioned", "own"), **options: Any
) -> str:
    """A log of a scripted responder."""
    options = {"chains": 8, "shuffles": 2, "conditions": list(conditions)} | options
    model = get_model(f"scripted/{rule}", memoize=False)
    return run(corda(**options), model, None, log_dir=str(folder), log_realtime=False).location
