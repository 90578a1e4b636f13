"""Whole replies of CORDA's candidates: reasoning that is never closed, cut replies, channels."""

import pytest

from moral_evals.loaders.reply import read_reply
from moral_evals.solvers.answers import read_choice
from tests.shapes import openai_compatible, output

OPTIONS = {"K": "Go home.", "V": "Stay here."}
UNPARSED = ("unparsed", "")


@pytest.mark.parametrize("tag", ["reasoning", "think", "thinking", "thought"])
def test_an_answer_in_reasoning_that_is_never_closed_counts_if_it_stands_last(tag: str):
    text = f"<{tag}>\nI might say ANSWER: V, but no.\n\nANSWER: K"
    assert read_choice(read_reply(output(text)), OPTIONS) == ("answered", "K")


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("<reasoning>\nANSWER: K", "max_tokens"),
        ("<reasoning>\nANSWER: K\nbut let me see", "stop"),
        ("<reasoning>\nso I go with K", "stop"),
        ("<reasoning>\nANSWER: K or V", "stop"),
        ("<think>\nANSWER: K\n</think>", "stop"),
        ("<|channel|>analysis<|message|>\nANSWER: K", "stop"),
        ("analysisWe go home.\nANSWER: K", "stop"),
    ],
)
def test_otherwise_reasoning_holds_no_answer(text: str, stop: str):
    assert read_choice(read_reply(output(text, stop)), OPTIONS) == UNPARSED  # type: ignore[arg-type]


def test_the_providers_own_reasoning_holds_no_answer():
    reply = read_reply(openai_compatible(content="", reasoning="ANSWER: K"))
    assert read_choice(reply, OPTIONS) == UNPARSED


def test_a_response_goes_before_what_stands_in_the_reasoning():
    reply = read_reply(output("<reasoning>ANSWER: V</reasoning>\nANSWER: K"))
    assert read_choice(reply, OPTIONS) == ("answered", "K")
