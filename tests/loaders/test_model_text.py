"""Readers of model text take any text, in time that grows with its length (cases-2 B17 to B19)."""

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moral_evals.loaders.model_text import json_values, visible, whole_characters
from moral_evals.loaders.reply import read_reply, unwrap_payload
from moral_evals.loaders.thinking import split_thinking
from moral_evals.scorers.judging.rubric_reply import read_verdicts
from moral_evals.scorers.judging.verdict import is_bare, read_verdict
from moral_evals.solvers.answers import read_answer, read_choice
from tests.shapes import output

OPTIONS = {"K": "Tell her the truth.", "V": "Say nothing (for now)."}
READERS: dict[str, Callable[[str], object]] = {
    "thinking": split_thinking,
    "payload": unwrap_payload,
    "verdict": read_verdict,
    "bare": is_bare,
    "rubric": lambda text: read_verdicts(text, 20),
    "answer": lambda text: read_answer(text, OPTIONS),
    "choice": lambda text: read_choice(read_reply(output(text)), OPTIONS),
}

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=60)  # surrogates included
PIECES = st.sampled_from(
    ["ANSWER:", "Answer: ", "K", "V", "yes", "No", "1: ", "{", "}", "[", "]", '"answer"', ":", ",",
     "\\boxed{", "$", "<think>", "</think>", "<|channel|>", "final<|message|>", "\ud83d", "\udc00",
     "\n", " ", "<answer>", "</answer>", "\u200b", "9" * 5000, "```", "**", "The answer is ", "or ",
     "not ", "\u0301", "assistantfinal", "[[[[", '{"n": ', "é"]
)  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT | st.lists(PIECES, max_size=12).map("".join))
def test_no_text_makes_a_reader_raise(reader: str, text: str):
    READERS[reader](text)


@pytest.mark.parametrize("reader", READERS)
def test_deep_nesting_and_long_numbers_are_nothing_read(reader: str):
    for text in ("[" * 50_000, '{"a":' * 50_000, "yes " + '{"n": ' + "9" * 5000 + "}"):
        READERS[reader](text)


SIZE = 1_000_000
LONG = {
    "blanks": "yes" + " " * SIZE,
    "line breaks": "yes" + "\n" * SIZE,
    "blank lines": "ANSWER: K" + " \n" * (SIZE // 2),
    "brackets": "[" * SIZE,
    "braces": "{" * SIZE,
    "objects": '{"a":' * (SIZE // 5),
    "digits": "1" * SIZE,
    "numbered lines": "1: yes\n" * (SIZE // 7),
    "numbered pairs": "1: yes, " * (SIZE // 8),
    "answer lines": "ANSWER: K\n" * (SIZE // 10),
    "answers on a line": "ANSWER: K " * (SIZE // 10),
    "labels": "ANSWER: K because " + "V " * (SIZE // 2),
    "angles": "<" * SIZE,
    "pipes": "<|" * (SIZE // 2),
    "stars": "*" * SIZE,
    "boxes": "\\boxed{" * (SIZE // 7),
    "words": "yes or no " * (SIZE // 10),
    "fences": "```\n" * (SIZE // 4),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", LONG)
def test_a_megabyte_is_read_in_under_a_second(reader: str, kind: str):
    start = time.process_time()
    READERS[reader](LONG[kind])
    assert time.process_time() - start < 1


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_joined():
    assert whole_characters("a\ud83db") == "a\ufffdb"
    assert whole_characters("\ud83d\ude00") == "😀"
    assert whole_characters("é😀") == "é😀"


@given(ANY_TEXT)
def test_a_reply_can_always_be_written(text: str):
    reply = read_reply(output(f"<think>{text}</think>{text}"))
    (reply.trace + reply.response).encode()


def test_a_broken_character_does_not_hide_a_verdict_or_an_answer():
    assert read_verdict("Yes\ud83d") == "yes"
    assert read_answer("ANSWER: K\ud83d", OPTIONS) == ("answered", "K")


def test_invisible_characters_are_left_out_and_wide_ones_made_plain():
    assert visible("Ｙ\u200bes：") == "Yes:"


def test_json_inside_prose_is_found_and_what_is_cut_is_read_from_inside():
    found = [value for _, _, value in json_values('a {"x": {"y": 1}} b {"z": [{"y": 2}, {"y"')]
    assert found == [{"x": {"y": 1}}, {"y": 2}]
    assert [v for *_, v in json_values(json.dumps([1, {"a": 2}]), "{[")] == [[1, {"a": 2}]]
