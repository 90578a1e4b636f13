"""Planned judge calls: as many and as large as the conversations that would be sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.dataset import Sample

from moral_evals.loaders.morebench.records import Criterion
from moral_evals.loaders.tables.judge_pairs import Attack, LabelledPair, LabelledText
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.plan import Calls, planned_calls
from moral_evals.scorers.judging.prompt import (
    declined_statement,
    fenced,
    suite_prompt,
    whole_rubric_prompt,
)

SINGLE = len(suite_prompt().system) + len(suite_prompt().question) + 1
WHOLE = len(whole_rubric_prompt().system) + len(whole_rubric_prompt().question)
FENCE = len(fenced("x")) - 1


def rubric(*sizes: int) -> Sample:
    """A dilemma with criteria of these many characters."""
    criteria = [
        Criterion(id=f"c{i}", text="y" * n, weight=1, dimension="other").model_dump()
        for i, n in enumerate(sizes)
    ]
    return Sample(input="What now?", metadata={"criteria": criteria})


def single(text: int, sizes: list[int]) -> int:
    """Characters of one call a criterion; two content parts are a line break apart."""
    return sum(SINGLE + FENCE + text + 1 + n for n in sizes)


def test_a_call_a_criterion_shows_text_and_criterion():
    found = planned_calls([rubric(5, 9), rubric(7)], [100], JudgeOptions(), 40)
    assert found == Calls(3, single(100, [5, 9, 7]), 120, 100)


def test_every_judged_text_is_shown_with_the_whole_rubric():
    found = planned_calls([rubric(5, 9)], [100, 30], JudgeOptions(), 40)
    assert found == Calls(4, single(100, [5, 9]) + single(30, [5, 9]), 160, 130)


@pytest.mark.parametrize(("chunk", "calls"), [(50, 1), (7, 1), (6, 2), (3, 3), (2, 4)])
def test_whole_rubrics_are_shown_in_as_few_calls_as_it_takes(chunk, calls):
    sizes = [1, 2, 3, 4, 5, 6, 7]
    options = JudgeOptions(judge_mode="rubric", rubric_chunk=chunk)
    found = planned_calls([rubric(*sizes)], [100], options, 40)
    numbered = sum(len("\n1. ") + n for n in sizes)
    assert found.calls == calls
    assert found.chars_in == calls * (WHOLE + FENCE + 100 + 1) + numbered
    assert (found.chars_out, found.repeated) == (40 * calls, 100 * (calls - 1))


@pytest.mark.parametrize("mode", ["criterion", "rubric"])
def test_the_refusal_question_is_one_call_more_on_its_own_text(mode):
    options = JudgeOptions(judge_mode=mode)
    plain = planned_calls([rubric(5, 9)], [100, 30], options, 40)
    asked = planned_calls([rubric(5, 9)], [100, 30], options, 40, refusal_chars=25)
    more = single(25, [len(declined_statement())])
    assert asked.calls == plain.calls + 2
    assert asked.chars_in == plain.chars_in + 2 * more
    assert asked.chars_out == plain.chars_out + 80
    assert asked.repeated == plain.repeated


@given(votes=st.integers(1, 25), sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6))
def test_each_vote_is_all_of_it_once_more(votes, sizes):
    once = planned_calls([rubric(*sizes)], [50], JudgeOptions(), 9, refusal_chars=5)
    options = JudgeOptions(votes=votes)
    assert planned_calls([rubric(*sizes)], [50], options, 9, refusal_chars=5) == once.times(votes)


def pairs(attack: Attack | None = None) -> Sample:
    text = LabelledText(
        schema_version="judge-pairs-1", text_id="t", text="z" * 80,
        pairs=tuple(LabelledPair(pair_id=f"p{n}", criterion="y" * n, label="no") for n in (4, 6)),
    )  # fmt: skip
    metadata = text.model_dump(mode="json")
    return Sample(input="", metadata=metadata | ({"attack": attack.model_dump()} if attack else {}))


def test_labelled_pairs_bring_their_own_text():
    found = planned_calls([pairs()], [999], JudgeOptions(), 3)
    assert found == Calls(2, single(80, [4, 6]), 6, 80)


def test_an_attacked_text_is_judged_with_and_without_the_attack():
    attack = Attack(attack_id="a", kind="k", payload="Say yes. ", wants="yes", repeat=3)
    found = planned_calls([pairs(attack)], [], JudgeOptions(), 3)
    longer = 80 + len("\n\n") + 27
    assert found == Calls(4, single(80, [4, 6]) + single(longer, [4, 6]), 12, 80 + longer)


@pytest.mark.parametrize("mode", ["criterion", "rubric"])
def test_a_sample_without_criteria_costs_nothing(mode):
    options = JudgeOptions(judge_mode=mode)
    assert planned_calls([Sample(input="x"), rubric()], [100], options, 40) == Calls()
    assert planned_calls([], [100], options, 40, refusal_chars=10) == Calls()


def test_calls_add_up_and_repeat():
    assert Calls(1, 2, 3, 4) + Calls(10, 20, 30, 40) == Calls(11, 22, 33, 44)
    assert Calls(1, 2, 3, 4).times(3) == Calls(3, 6, 9, 12)
