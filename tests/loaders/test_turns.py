"""The trace of an agent is its reasoning over all turns, in order; E 43."""

import pytest
from inspect_ai.agent import react
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
)
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, ToolCall, tool

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.reply import read_reply
from moral_evals.loaders.turns import read_turns
from tests.cases import one_case
from tests.mocks import always, mock, output, run, thinking

CALL = ToolCall(id="1", function="norms", arguments={"topic": "privacy", "country": "IE"})
WHOLE = (
    "[turn 1]\nWho is concerned?\n[calls norms(topic='privacy', country='IE')]\n\n"
    "[turn 2]\n[calls norms(topic='privacy', country='IE')]\n\n"
    "[turn 3]\nSo her wish comes first."
)


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def calling(reasoning: str, text: str = "") -> ModelOutput:
    content: list[Content] = [ContentText(text=text or "One moment.")]
    if reasoning:
        content.insert(0, ContentReasoning(reasoning=reasoning))
    said = output(content, "tool_calls")
    said.choices[0].message.tool_calls = [CALL]
    return said


TURNS = [
    calling("Who is concerned?"),
    calling(""),
    thinking("So her wish comes first.", "Ask her."),
]


@tool
def norms() -> Tool:
    async def execute(topic: str, country: str) -> str:
        """Look norms up.

        Args:
            topic: What about.
            country: Where.
        """
        return "Section 7: a secret that the trace must not hold."

    return execute


def in_turn(turns: list[ModelOutput]) -> Model:
    def reply(messages: list[ChatMessage]) -> ModelOutput:
        return turns[sum(isinstance(m, ChatMessageAssistant) for m in messages)]

    return mock(reply)


def agent_log(tmp_path, judged: str = "trace") -> EvalLog:
    task = morebench(data=one_case(tmp_path, [1, -1]), judged=judged)
    agent = [use_tools(norms()), generate()]
    return run(task, in_turn(TURNS), always("yes"), solver=agent)


def test_three_turns_are_read_in_order(tmp_path):
    (sample,) = agent_log(tmp_path).samples
    score = sample.scores["rubric_judge"]
    assert score.answer == WHOLE
    assert score.value["length"] == len(WHOLE)
    assert score.metadata["judged"] == "trace"
    assert sample.scores["outcome"].value["trace_raw"] == 1
    assert "secret" not in score.answer and "One moment" not in score.answer


def test_the_last_turn_alone_is_an_option_and_a_condition(tmp_path):
    (sample,) = agent_log(tmp_path, "last_turn").samples
    score = sample.scores["rubric_judge"]
    assert score.answer == "So her wish comes first."
    assert score.metadata["judged"] == "last_turn"


def test_the_response_of_an_agent_is_its_last_text(tmp_path):
    (sample,) = agent_log(tmp_path, "response").samples
    assert sample.scores["rubric_judge"].answer == "Ask her."


def test_a_react_agent_that_submits_is_read_over_its_turns(tmp_path):
    submit = calling("It is her decision.", "I am done.")
    submit.choices[0].message.tool_calls = [
        ToolCall(id="2", function="submit", arguments={"answer": "Ask her."})
    ]
    task = morebench(data=one_case(tmp_path, [1, -1]), judged="both")
    log = run(task, in_turn([TURNS[0], submit]), always("yes"), solver=react(tools=[norms()]))
    (sample,) = log.samples
    first, second = WHOLE.split("\n\n")[0], "[turn 2]\nIt is her decision."
    assert sample.scores["rubric_judge"].answer == f"{first}\n\n{second}"
    assert sample.scores["rubric_judge_response"].answer.endswith("Ask her.")


# --- what is a turn ----------------------------------------------------------------------------

LAST = thinking("Then yes.", "Yes.")


def assistant(text: str, source: str | None = "generate", **more) -> ChatMessageAssistant:
    content = [ContentReasoning(reasoning=text, **more), ContentText(text="Hm.")]
    return ChatMessageAssistant(content=content, source=source)


@pytest.mark.parametrize(
    "before",
    [
        [],
        [ChatMessageUser(content="What now?")],
        [assistant("An example of the data set's.", "input")],
        [assistant("What a solver put in its mouth.", None)],
        [ChatMessageTool(content="Text.", tool_call_id="1")],
    ],
)
def test_a_reply_of_one_turn_is_read_as_ever(before):
    messages = [*before, LAST.choices[0].message]
    assert read_turns(messages, LAST) == read_reply(LAST)


def test_kinds_that_are_mixed_count_as_the_least_direct():
    digest = assistant("", redacted=True, summary="In short, a promise.")
    found = read_turns([digest, LAST.choices[0].message], LAST)
    assert found.trace == "[turn 1]\nIn short, a promise.\n\n[turn 2]\nThen yes."
    assert found.trace_kind == "summary"


def test_turns_without_reasoning_are_no_trace():
    plain = output("Yes.")
    said = ChatMessageAssistant(content="Let me see.", source="generate", tool_calls=[CALL])
    found = read_turns([said, plain.choices[0].message], plain)
    assert (found.trace, found.trace_kind, found.response) == ("", "none", "Yes.")
    hidden = assistant("", redacted=True)
    assert read_turns([hidden, plain.choices[0].message], plain).trace_kind == "redacted"


def test_long_arguments_are_cut():
    said = assistant("I look.")
    said.tool_calls = [ToolCall(id="1", function="look", arguments={"at": "x" * 500})]
    lines = read_turns([said, LAST.choices[0].message], LAST).trace.splitlines()
    assert lines[2] == "[calls look(at='" + "x" * 116 + "…)]"


def test_a_limit_before_the_last_turn_leaves_what_was_thought():
    nothing = ModelOutput(model="mock", choices=[])
    found = read_turns([assistant("Who is concerned?")], nothing)
    assert found.trace == "[turn 1]\nWho is concerned?"
    assert found.stop_reason == "none"
