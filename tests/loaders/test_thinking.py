"""The dialects of thinking marks (cases-2 B13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.loaders.reply import read_reply
from moral_evals.loaders.thinking import split_thinking
from moral_evals.scorers.judging.verdict import read_verdict
from moral_evals.solvers.answers import read_answer
from tests.shapes import output

PAIRS = {
    "think": ("<think>", "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "Gemini's compatible endpoint": ("<thought>", "</thought>"),
    "analysis": ("<analysis>", "</analysis>"),
    "attributes": ('<thinking budget="low" lang="de">', "</thinking>"),
    "prefix": ("<x:think>", "</x:think>"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "escaped": ("&lt;think&gt;", "&lt;/think&gt;"),
    "upper case": ("<THINK>", "</THINK>"),
    "Mistral": ("[THINK]", "[/THINK]"),
    "bracketed thought": ("[THOUGHT]", "[/THOUGHT]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Kimi K3": ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "pipes": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "pipes with a slash": ("<|think|>", "<|/think|>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "harmony, restart": (
        "<|start|>assistant<|channel|>analysis<|message|>",
        "<|start|>assistant<|channel|>final<|message|>",
    ),
    "harmony without tokens": ("analysis", "assistantfinal"),
    "harmony without tokens, blanks left": ("analysis ", " assistant final "),
}  # fmt: skip


@pytest.mark.parametrize("dialect", PAIRS)
def test_every_dialect_is_read_alike_for_candidate_judge_and_corda(dialect: str):
    opening, closing = PAIRS[dialect]
    parts = split_thinking(f"{opening}We say no.{closing}Do it.")
    assert (parts.thought, parts.response) == ("We say no.", "Do it.")
    reply = read_reply(output(f"{opening}We say no.{closing}Do it."))
    assert (reply.trace, reply.trace_kind, reply.response) == ("We say no.", "raw", "Do it.")
    assert read_verdict(f"{opening}We say no. ANSWER: V{closing}Yes") == "yes"
    candidate = read_reply(output(f"{opening}We weigh it.\nANSWER: V\n{closing}ANSWER: K"))
    options = {"K": "Go home.", "V": "Stay here."}
    assert read_answer(candidate.response, options) == ("answered", "K")


@pytest.mark.parametrize("dialect", [d for d in PAIRS if "harmony" in d])
def test_without_a_final_channel_there_is_no_response(dialect: str):
    opening, _ = PAIRS[dialect]
    if dialect.endswith("left"):
        return  # "analysis" and a blank begin many an English text
    parts = split_thinking(f"{opening}We say yes.\nANSWER: K")
    assert (parts.response, parts.unclosed) == ("", "")
    assert read_verdict(f"{opening}We say yes.\nYes") is None


@pytest.mark.parametrize(
    "text",
    [
        "[Analysis] Both weigh on her.",
        "Analysis of the case: both weigh on her.",
        "analysis of the case",
        "The `<think>` tag is not used here.",
        "Final thoughts: go.",
        "finally, go",
        "I think <b>so</b>.",
        "3 < 4 > 2",
        "The assistant finally came.",
    ],
)
def test_a_text_without_marks_is_a_response(text: str):
    parts = split_thinking(text)
    assert (parts.thought, parts.elicited, parts.response) == ("", "", text)


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("Yes</s>", "Yes"),
        ("<|im_start|>Yes<|im_end|>\n<|im_start|>user\nNo?", "Yes"),
        ("<|START_RESPONSE|>Yes<|END_RESPONSE|>", "Yes"),
        ("<|open|>response<|sep|>Yes<|close|>response<|sep|>", "Yes"),
        ("<response>Yes</response>", "Yes"),
        ("Yes<end_of_turn>", "Yes"),
    ],
)
def test_what_servers_leave_around_a_reply_is_no_part_of_it(text: str, response: str):
    assert split_thinking(text).response == response


MARKS = [m for pair in PAIRS.values() for m in pair]


@given(
    st.lists(st.sampled_from([*MARKS, "a ", "\n", "<reasoning>"]) | st.text(max_size=5), max_size=9)
)
def test_any_jumble_of_marks_is_taken_apart(pieces: list[str]):
    parts = split_thinking("".join(pieces))
    assert parts.unclosed in parts.thought or parts.unclosed in parts.elicited
