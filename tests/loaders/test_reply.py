"""Which text of a reply is the trace, of what kind, and which the response.

One row for every way in which a provider's reasoning arrives (design: inspect-notes, section 1;
cases B18 to B26).
"""

import string
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput

from moral_evals.loaders.reply import (
    Reply,
    read_reply,
    unwrap_payload,
)
from moral_evals.loaders.thinking import split_thinking
from tests.shapes import (
    ANSWER,
    anthropic,
    contents,
    google,
    google_signed,
    google_thought,
    no_choices,
    openai_compatible,
    openai_responses,
    openrouter,
    output,
    redacted_thinking,
    says,
    summaries,
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


def text_detail(text: str, **more: object) -> dict[str, object]:
    return {"type": "reasoning.text", "text": text, **more}


def summary_detail(text: str, **more: object) -> dict[str, object]:
    return {"type": "reasoning.summary", "summary": text, **more}


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


# --- B18: a blob is no trace -------------------------------------------------------------------


def test_an_encrypted_blob_is_redacted_and_never_shown():
    blob = ContentReasoning(reasoning="gAAAAABmVeryLongCiphertext==", redacted=True)
    reply = read_reply(output([blob, ContentText(text=ANSWER)]))
    assert reply == Reply("", "redacted", ANSWER, "stop")


def test_reasoning_elicited_in_tags_stands_in_for_a_redacted_trace():
    blob = ContentReasoning(reasoning="gAAAA", redacted=True)
    reply = read_reply(output([blob, ContentText(text="<reasoning>E</reasoning>ANS")]))
    assert (reply.trace, reply.trace_kind, reply.response) == ("E", "elicited", ANSWER)


# --- B19: every block counts, in order ---------------------------------------------------------


def test_reasoning_blocks_are_joined_in_order_and_length_counts_all():
    blocks = [ContentReasoning(reasoning=t) for t in ("first", "second", "third")]
    reply = read_reply(output([*blocks, ContentText(text=ANSWER)]))
    assert reply.trace == "first\n\nsecond\n\nthird"


def test_a_reasoning_block_comes_before_thinking_left_in_the_text():
    blocks = [ContentReasoning(reasoning="first"), ContentText(text="<think>second</think>ANS")]
    assert read_reply(output(blocks)).trace == "first\n\nsecond"


# --- B20: serialised payloads are not prose ----------------------------------------------------


@pytest.mark.parametrize(
    ("field", "prose"),
    [
        ('[{"type": "reasoning.text", "text": "I weigh both."}]', "I weigh both."),
        ("[{'type': 'text', 'text': \"It's hard.\"}]", "It's hard."),
        ('[{"text": "one"}, {"text": "two"}]', "one\n\ntwo"),
        ('{"thinking": "one"}', "one"),
        ('{"type": "thinking", "content": [{"text": "inner"}]}', "inner"),
        ('["one", "two"]', "one\n\ntwo"),
        ("['one', 'two']", "one\n\ntwo"),
        ('[{"type": "reasoning.unknown", "payload": 3}]', ""),
        ("[]", ""),
        ("{}", ""),
    ],
)
def test_prose_is_taken_out_of_a_serialised_payload(field: str, prose: str):
    assert unwrap_payload(field) == prose
    reply = read_reply(output([ContentReasoning(reasoning=field), ContentText(text=ANSWER)]))
    assert (reply.trace, reply.trace_kind) == (prose, "raw" if prose else "redacted")


@pytest.mark.parametrize(
    "prose",
    ["[sighs] This is hard. [ends]", "{A} or {B}, {both}", "[1] First, autonomy.", "x", "[", "{"],
)
def test_prose_in_brackets_stays_prose(prose: str):
    reply = read_reply(output([ContentReasoning(reasoning=prose), ContentText(text=ANSWER)]))
    assert (reply.trace, reply.trace_kind) == (prose, "raw")


def test_an_openrouter_signature_that_is_no_json_does_not_end_the_run():
    block = ContentReasoning(reasoning="R", signature="reasoning-details://not json")
    reply = read_reply(output([block, ContentText(text=ANSWER)]))
    assert (reply.trace, reply.trace_kind) == ("R", "raw")


# --- B21, B25: thinking left in the text -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "thinking", "rest"),
    [
        ("I weigh both.</think>\nANSWER: B", "I weigh both.", "ANSWER: B"),
        ("<THINK>a</THINK>b", "a", "b"),
        ("b<think>cut off", "cut off", "b"),
        ("a</think>b<think>c", "a\n\nc", "b"),
        ("a</think>b<think>c</think>d", "a\n\nc", "b\nd"),
        ("<think></think>b", "", "b"),
        ("<think>\n\n</think>\n\nb", "", "b"),
        ("plain", "", "plain"),
        ("", "", ""),
    ],
)
def test_thinking_is_split_from_the_rest(text: str, thinking: str, rest: str):
    parts = split_thinking(text)
    assert (parts.thought, parts.response) == (thinking, rest)


@pytest.mark.parametrize(
    ("text", "reasoning", "rest"),
    [
        ("<reasoning>a</reasoning>b", "a", "b"),
        ("<Reasoning>\na\n</Reasoning>\n\nb", "a", "b"),
        ("<reasoning>a</reasoning>b<reasoning>c</reasoning>d", "a\n\nc", "b\nd"),
        ("<reasoning>cut off", "cut off", ""),
        ("plain", "", "plain"),
    ],
)
def test_tagged_reasoning_is_split_from_the_rest(text: str, reasoning: str, rest: str):
    parts = split_thinking(text)
    assert (parts.elicited, parts.response) == (reasoning, rest)


TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")
WORDS = st.text(string.ascii_lowercase, min_size=4, max_size=8)


@st.composite
def tagged_texts(draw: st.DrawFn) -> tuple[str, list[str], list[str]]:
    """Text of thinking and visible words in turn, with their lists; ends may lack their tags."""
    names = st.sampled_from(["think", "thinking"])
    # upper-case thoughts cannot be mistaken for visible words
    thoughts = draw(st.lists(WORDS.map(str.upper), min_size=1, max_size=4, unique=True))
    visible = draw(st.lists(WORDS, min_size=len(thoughts), max_size=len(thoughts), unique=True))
    unopened, unclosed = draw(st.booleans()), draw(st.booleans())
    parts = []
    for i, (thought, word) in enumerate(zip(thoughts, visible, strict=True)):
        name = draw(names)
        opening = "" if unopened and i == 0 else f"<{name}>"
        closing = "" if unclosed and i + 1 == len(thoughts) and opening else f"</{name}>"
        parts += [opening, thought, closing, word if closing else ""]
    shown = visible[: len(thoughts) - (not parts[-1])]
    return "".join(parts), thoughts, shown


@given(tagged_texts())
def test_the_response_never_contains_thinking_and_nothing_is_lost(
    case: tuple[str, list[str], list[str]],
):
    text, thoughts, visible = case
    reply = read_reply(output(text))
    assert reply.trace.split() == thoughts
    assert reply.response.split() == visible


@given(st.lists(st.one_of(st.sampled_from(TAGS), WORDS), max_size=8).map("".join))
@example("one</think>two</think>three")
@example("<think>one<think>two</think>three</think>four")
def test_no_think_tag_is_left_in_the_response_however_tags_are_jumbled(text: str):
    assert not any(tag in read_reply(output(text)).response for tag in TAGS)


@given(
    reasoning=st.lists(WORDS.map(str.upper), min_size=1, max_size=3),
    tagged=st.lists(WORDS.map(str.upper), max_size=2),
    visible=WORDS,
)
def test_the_response_never_contains_reasoning_blocks_or_tagged_reasoning(
    reasoning: list[str], tagged: list[str], visible: str
):
    elicited = "".join(f"<reasoning>{t}</reasoning>" for t in tagged)
    blocks = [ContentReasoning(reasoning=r) for r in reasoning]
    reply = read_reply(output([*blocks, ContentText(text=elicited + visible)]))
    assert reply.response == visible
    assert reply.trace == "\n\n".join(reasoning)


def test_an_answer_in_the_reasoning_does_not_reach_the_response():
    blocks = [ContentReasoning(reasoning="I lean A. ANSWER: A"), ContentText(text="ANSWER: B")]
    assert read_reply(output(blocks)).response == "ANSWER: B"


# --- B22, A15, F62: truncation, refusal, errors ------------------------------------------------


@pytest.mark.parametrize("stop", ["max_tokens", "model_length"])
def test_a_reply_cut_at_a_limit_is_truncated_with_its_trace_kept(stop: str):
    reply = read_reply(openai_compatible(stop=stop, content="", reasoning="R goes on"))
    assert reply.truncated
    assert (reply.trace, reply.response, reply.stop_reason) == ("R goes on", "", stop)


def test_a_complete_reply_is_neither_truncated_nor_refused_nor_an_error():
    reply = read_reply(output(ANSWER))
    assert (reply.truncated, reply.refused, reply.error) == (False, False, "")


def test_a_refusal_keeps_its_words_and_is_marked():
    reply = read_reply(openai_compatible(refusal="I can't help."))
    assert reply.refused
    assert reply.response == "I can't help."


@pytest.mark.parametrize("text", ["I can't help with that.", ""])
def test_a_filtered_reply_is_refused_with_or_without_text(text: str):
    reply = read_reply(output(text, "content_filter"))
    assert reply.refused
    assert reply.response == text


def test_no_choices_is_no_crash():
    assert read_reply(no_choices()) == Reply("", "none", "", "none")


def test_no_choices_keeps_the_providers_error():
    assert read_reply(no_choices("quota exceeded")).error == "quota exceeded"


@pytest.mark.parametrize(
    ("text", "error"), [("Internal server error", "Internal server error"), ("", "unknown")]
)
def test_an_unknown_stop_reason_is_an_error_in_place_of_a_reply(text: str, error: str):
    assert read_reply(output(text, "unknown")).error == error


def test_an_error_beside_a_reply_is_kept():
    assert read_reply(output(ANSWER, error="upstream 502")).error == "upstream 502"


# --- B24: kinds stay apart ---------------------------------------------------------------------


def test_raw_summary_and_absent_traces_are_told_apart():
    raw = openai_compatible(content=ANSWER, reasoning="R")
    summary = anthropic(thinking("S"), says())
    absent = openai_compatible(content=ANSWER)
    assert [read_reply(o).trace_kind for o in (raw, summary, absent)] == ["raw", "summary", "none"]


def test_the_raw_text_is_preferred_to_a_summary_of_it():
    reply = read_reply(openrouter(summary_detail("S"), text_detail("RAW")))
    assert (reply.trace, reply.trace_kind) == ("RAW", "raw")
