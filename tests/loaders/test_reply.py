"""Which text of a reply is the trace, of what kind, and which the response (cases B18 to B26)."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inspect_ai.model import ContentReasoning, ContentText

from moral_evals.loaders.reply import (
    Reply,
    read_reply,
    unwrap_payload,
)
from moral_evals.loaders.thinking import split_thinking
from tests.shapes import (
    ANSWER,
    anthropic,
    no_choices,
    openai_compatible,
    openrouter,
    output,
    says,
    summary_detail,
    text_detail,
    thinking,
)

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
