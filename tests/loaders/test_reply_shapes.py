"""Every way in which a provider's reasoning arrives: its trace, its kind, its response.

One row for each (design: inspect-notes, section 1).
"""

from dataclasses import dataclass

import pytest
from inspect_ai.model import ModelOutput

from moral_evals.loaders.reply import (
    read_reply,
)
from tests.shapes import (
    ANSWER,
    anthropic,
    contents,
    google,
    google_signed,
    google_thought,
    openai_compatible,
    openai_responses,
    openrouter,
    redacted_thinking,
    says,
    summaries,
    summary_detail,
    text_detail,
    thinking,
)


@dataclass(frozen=True)
class Shape:
    name: str
    output: ModelOutput
    trace: str
    kind: str
    response: str = ANSWER
    api: str = ""


ENCRYPTED = {"type": "reasoning.encrypted", "data": "gAAAAB=="}

ANTHROPIC = [
    Shape("thinking", anthropic(thinking("I weigh both."), says()), "I weigh both.", "summary"),
    Shape("redacted thinking", anthropic(redacted_thinking(), says()), "", "redacted"),
    Shape("display omitted", anthropic(thinking(""), says()), "", "redacted"),
    Shape(
        "two blocks and two texts",
        anthropic(thinking("A1"), thinking("A2"), says("one"), says("two")),
        "A1\n\nA2", "summary", "one\ntwo",
    ),
    Shape(
        "a redacted block between two readable ones",
        anthropic(thinking("A1"), redacted_thinking(), thinking("A2"), says()),
        "A1\n\nA2", "summary",
    ),
    Shape("no thinking", anthropic(says()), "", "none"),
]  # fmt: skip

OPENAI_RESPONSES = [
    Shape(
        "summary and encrypted",
        openai_responses({"summary": summaries("S1", "S2"), "encrypted_content": "gAAA"}),
        "S1\n\nS2", "summary",
    ),
    Shape("encrypted only", openai_responses({"encrypted_content": "gAAA"}), "", "redacted"),
    Shape("kept by the provider, no summary", openai_responses({}), "", "redacted"),
    Shape("summary only", openai_responses({"summary": summaries("S1")}), "S1", "summary"),
    Shape("content only", openai_responses({"content": contents("RAW")}), "RAW", "raw"),
    Shape(
        "content, summary and encrypted",
        openai_responses(
            {"content": contents("RAW"), "summary": summaries("S"), "encrypted_content": "gA"}
        ),
        "RAW", "raw",
    ),
    Shape(
        # Inspect puts the text where a summary goes, so the two cannot be told apart
        "content and encrypted",
        openai_responses({"content": contents("RAW"), "encrypted_content": "gA"}),
        "RAW", "summary",
    ),
    Shape(
        "two items",
        openai_responses(
            {"summary": summaries("S1"), "encrypted_content": "gA"},
            {"summary": summaries("S2"), "encrypted_content": "gB"},
        ),
        "S1\n\nS2", "summary",
    ),
]  # fmt: skip

GOOGLE = [
    Shape("thought", google(google_thought("T1")), "T1", "summary", api="google"),
    Shape("thought on Vertex", google(google_thought("T1")), "T1", "summary", api="vertex"),
    Shape("thought and signature", google(google_signed("T1")), "T1", "summary", api="google"),
    Shape(
        "two thoughts and a signature",
        google(google_thought("T1"), google_signed("T2")),
        "T1\n\nT2", "summary", api="google",
    ),
    Shape("signature only", google(google_signed()), "", "redacted", api="google"),
]  # fmt: skip

OPENROUTER = [
    Shape("text", openrouter(text_detail("RAW", format="unknown")), "RAW", "raw"),
    Shape(
        "two texts, of which Inspect shows the last",
        openrouter(text_detail("ONE", index=0), text_detail("TWO", index=1)),
        "ONE\n\nTWO", "raw",
    ),
    Shape(
        "summary that looks raw",
        openrouter(summary_detail("S", format="openai-responses-v1")),
        "S", "summary",
    ),
    Shape(
        "two summaries and encrypted",
        openrouter(summary_detail("S1"), summary_detail("S2"), ENCRYPTED),
        "S1\n\nS2", "summary",
    ),
    Shape("encrypted only", openrouter(ENCRYPTED), "", "redacted"),
    Shape(
        "Anthropic's text, signed",
        openrouter(text_detail("C", signature="Eq...", format="anthropic-claude-v1")),
        "C", "summary",
    ),
    Shape("signed text of no named format", openrouter(text_detail("C", signature="Eq")), "C", "summary"),
    Shape(
        "Gemini's text and encrypted",
        openrouter(text_detail("G", format="google-gemini-v1"), ENCRYPTED),
        "G", "summary",
    ),
    Shape(
        "signature without text",
        openrouter({"type": "reasoning.text", "signature": "Eq.", "format": "anthropic-claude-v1"}),
        "", "redacted",
    ),
    Shape(
        "a detail of unknown type without text",
        openrouter({"type": "reasoning.novelty", "payload": {"k": 1}}),
        "", "redacted",
    ),
]  # fmt: skip

OPENAI_COMPATIBLE = [
    Shape("reasoning_content", openai_compatible(content=ANSWER, reasoning_content="R"), "R", "raw"),
    Shape("reasoning", openai_compatible(content=ANSWER, reasoning="R"), "R", "raw"),
    Shape("reasoning, no content", openai_compatible(reasoning="R"), "R", "raw", ""),
    Shape("think tags", openai_compatible(content="<think>R</think>ANS"), "R", "raw"),
    Shape("unclosed tag", openai_compatible(content="<think>R goes on"), "R goes on", "raw", ""),
    Shape("unopened tag", openai_compatible(content="R</think>ANS"), "R", "raw"),
    Shape("empty answer", openai_compatible(content="<think>R</think>"), "R", "raw", ""),
    Shape(
        "two think blocks",
        openai_compatible(content="<think>R1</think>mid<think>R2</think>ANS"),
        "R1\n\nR2", "raw", "mid\nANS",
    ),
    Shape("thinking tags", openai_compatible(content="<thinking>R</thinking>ANS"), "R", "raw"),
    Shape("no reasoning at all", openai_compatible(content=ANSWER), "", "none"),
    Shape("nothing at all", openai_compatible(content=""), "", "none", ""),
    Shape(
        "elicited in tags",
        openai_compatible(content="<reasoning>E</reasoning>\n\nANS"),
        "E", "elicited",
    ),
    Shape(
        "elicited, cut before the closing tag",
        openai_compatible(content="<reasoning>E goes on"),
        "E goes on", "elicited", "",
    ),
    Shape(
        "raw beside elicited",
        openai_compatible(content="<reasoning>E</reasoning>ANS", reasoning="R"),
        "R", "raw",
    ),
]  # fmt: skip

ROUTES = {
    "anthropic": ANTHROPIC,
    "openai responses": OPENAI_RESPONSES,
    "google": GOOGLE,
    "openrouter": OPENROUTER,
    "openai-compatible": OPENAI_COMPATIBLE,
}
SHAPES = [pytest.param(s, id=f"{route}: {s.name}") for route, ss in ROUTES.items() for s in ss]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_provider_shape_gives_its_trace_kind_and_response(shape: Shape):
    reply = read_reply(shape.output, shape.api)
    assert (reply.trace, reply.trace_kind, reply.response) == (
        shape.trace,
        shape.kind,
        shape.response,
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_a_reply_read_from_a_log_is_the_same_as_live(shape: Shape):
    from_log = ModelOutput.model_validate_json(shape.output.model_dump_json())
    assert read_reply(from_log, shape.api) == read_reply(shape.output, shape.api)
