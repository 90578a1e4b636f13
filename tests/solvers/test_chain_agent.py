"""Steps of a chain answered by an agent: labels, options and records as for a model."""

import re

import pytest
from inspect_ai.agent import react
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageAssistant, Model, ModelOutput
from inspect_ai.tool import Tool, tool

from moral_evals.inspect_tasks import corda
from moral_evals.reports.runs.asked import own_params, solver_text
from moral_evals.solvers.chain import answer_chain
from tests.chain_figures import chain_figures
from tests.inspect_tasks.test_corda import e12_file
from tests.loaders.test_turns import calling
from tests.mocks import mock, run, thinking


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


@tool
def norms() -> Tool:
    async def execute(topic: str, country: str) -> str:
        """Look norms up.

        Args:
            topic: What about.
            country: Where.
        """
        return "Section 7."

    return execute


def agent_model() -> Model:
    """Looks norms up, then picks option 2, whatever its label."""

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        if not isinstance(messages[-2], ChatMessageAssistant):
            return calling("Who is concerned?")
        asked = next(m.text for m in messages if m.role == "user")
        (label,) = re.findall(r"^\[(\w+)\] Act 2 ", asked.rpartition("\nOptions\n")[2], re.M)
        return thinking("So the second.", f"ANSWER: {label}")

    return mock(reply)


def agent_log(tmp_path, **options) -> EvalLog:
    agent = react(tools=[norms()], submit=False)
    task = corda(data=e12_file(tmp_path), shuffles=2)
    return run(task, agent_model(), None, solver=answer_chain(agent=agent), **options)


def test_each_step_is_answered_after_the_tools_call(tmp_path):
    log = agent_log(tmp_path)
    assert log.status == "success"
    found = chain_figures(log)
    # E12: option 2 is the better one at c1 step 2 and c2 step 1, the worse at c1 step 1, and at
    # c2 step 2 it is better
    assert found["unconditioned.lms"] == pytest.approx((0 + 1 + 1 + 1) / 4)
    assert found["own.lms"] == found["unconditioned.lms"]
    for sample in log.samples:
        for place, record in enumerate(sample.store["corda_steps"]):
            assert record["chosen"] == "o2"
            labels = {o["option_id"]: o["label"] for o in sample.metadata["shown"][place]}
            assert record["label"] == labels["o2"]
            assert record["trace_kind"] == "raw"
            whole = "[turn 1]\nWho is concerned?\n[calls norms(topic='privacy', country='IE')]"
            assert record["trace_characters"] == len(f"{whole}\n\n[turn 2]\nSo the second.")


def test_no_reasoning_and_no_tool_result_of_a_step_reaches_the_next(tmp_path):
    asked: list[str] = []
    model = agent_model()
    log = run(
        corda(data=e12_file(tmp_path), shuffles=1, conditions="own"),
        model, None, solver=answer_chain(agent=react(tools=[norms()], submit=False)),
    )  # fmt: skip
    for sample in log.samples:
        asked += [m.text for m in sample.messages if m.role == "user"]
    assert asked and not any("Section 7" in a or "Who is concerned" in a for a in asked)


def test_the_agent_and_its_tools_are_a_condition(tmp_path):
    log = agent_log(tmp_path)
    assert "answer_chain(agent=" in solver_text(log) and "norms" in solver_text(log)
    params = own_params(log)
    assert params is not None, "the prompts are the suite's"


def test_an_agent_that_says_nothing_loses_its_step_alone(tmp_path):
    silent = mock(lambda _: ModelOutput(model="mock", choices=[], error="503 upstream"))
    log = run(corda(data=e12_file(tmp_path), shuffles=1, conditions="unconditioned"), silent, None,
              solver=answer_chain(agent=react(tools=[norms()], submit=False)))  # fmt: skip
    assert log.status == "error"
    assert chain_figures(log)["unconditioned.missing.error"] == 1
