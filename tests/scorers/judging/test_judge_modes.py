"""A whole rubric in one call: whose verdict is whose, and what is asked again alone."""

from collections.abc import Callable
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage, ModelOutput

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.judging.judge import asked_order, chunks, judge
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.panel import Judgement
from tests.mocks import criteria_of, criterion_of, mock, output

# every third is not met, so that a shift by one or two shows
CRITERIA = [
    Criterion(id=f"c{i}", text=f"Says point {i}.", weight=1, dimension="other") for i in range(12)
]
TRUTH = {c.id: "no" if i % 3 == 0 else "yes" for i, c in enumerate(CRITERIA)}
WORD = {c.text: TRUTH[c.id] for c in CRITERIA}


class Panelist:
    """A judge that knows the truth, keeps what it was asked, and errs where it is told to."""

    def __init__(self, whole: Callable[[dict[int, str], int], str | ModelOutput] | None = None):
        self.whole = whole or (lambda numbered, call: lines(numbered))
        self.rubrics: list[list[str]] = []
        self.alone: list[str] = []
        self.model = mock(self.answer)

    def answer(self, messages: list[ChatMessage]) -> str | ModelOutput:
        if numbered := criteria_of(messages):
            self.rubrics.append(list(numbered.values()))
            return self.whole(numbered, len(self.rubrics))
        self.alone.append(criterion_of(messages))
        return WORD[self.alone[-1]]


def lines(numbered: dict[int, str], skip: set[str] = frozenset()) -> str:
    return "\n".join(f"{n}: {WORD[text]}" for n, text in numbered.items() if text not in skip)


@pytest.fixture
def ask(monkeypatch):
    async def run(*panel: Panelist, **options) -> Judgement:
        monkeypatch.setattr(
            "moral_evals.scorers.judging.judge.judge_models", lambda *_: [p.model for p in panel]
        )
        return await judge(CRITERIA, "I weigh it.", JudgeOptions(judge_mode="rubric", **options))

    return run


async def test_verdicts_find_back_to_their_criteria_through_the_seeded_order(ask):
    panelist = Panelist()
    result = await ask(panelist)
    (shown,) = panelist.rubrics
    assert sorted(shown) == sorted(WORD)
    assert shown != list(WORD), "shown in the order of the rubric"
    assert shown == [c.text for c in asked_order(CRITERIA, 0)]
    assert result.verdicts == TRUTH
    assert panelist.alone == []
    assert result.usage["calls"] == 1


async def test_the_order_is_that_of_the_seed_and_the_same_for_all_judges(ask):
    panel = [Panelist(), Panelist()]
    await ask(*panel, rubric_seed=1, votes=2)
    again = Panelist()
    await ask(again, rubric_seed=1)
    other = Panelist()
    result = await ask(other, rubric_seed=2)
    assert panel[0].rubrics + panel[1].rubrics == [again.rubrics[0]] * 4
    assert other.rubrics != again.rubrics
    assert result.verdicts == TRUTH


async def test_a_missing_verdict_is_asked_for_alone(ask):
    lost = {"Says point 3.", "Says point 7."}
    panelist = Panelist(lambda numbered, call: lines(numbered, lost))
    result = await ask(panelist)
    assert result.verdicts == TRUTH
    assert sorted(panelist.alone) == sorted(lost)
    assert result.usage["calls"] == 3
    assert (result.ballots[0].asked_alone, result.ballots[0].retries) == (2, 0)


async def test_a_contradiction_is_asked_for_alone(ask):
    def both(numbered: dict[int, str], call: int) -> str:
        return lines(numbered) + f"\n{next(iter(numbered))}: yes\n{next(iter(numbered))}: no"

    panelist = Panelist(both)
    assert (await ask(panelist)).verdicts == TRUTH
    assert panelist.alone == [panelist.rubrics[0][0]]


async def test_an_unreadable_reply_is_asked_for_again(ask):
    panelist = Panelist(lambda numbered, call: "hmm" if call == 1 else lines(numbered))
    result = await ask(panelist)
    assert result.verdicts == TRUTH
    assert (len(panelist.rubrics), panelist.alone) == (2, [])
    assert result.ballots[0].retries == 1


@pytest.mark.parametrize("shift", [-1, 1])
async def test_a_list_that_stays_unreadable_is_asked_for_one_by_one(ask, shift):
    # counted from 0 or from 2, each criterion would get its neighbour's verdict
    panelist = Panelist(
        lambda numbered, call: "\n".join(f"{n + shift}: {WORD[t]}" for n, t in numbered.items())
    )
    result = await ask(panelist, judge_attempts=2)
    assert result.verdicts == TRUTH
    assert len(panelist.rubrics) == 2
    assert sorted(panelist.alone) == sorted(WORD)
    assert (result.ballots[0].asked_alone, result.ballots[0].retries) == (len(CRITERIA), 1)


async def test_of_a_cut_reply_the_last_line_is_not_believed(ask):
    def cut(numbered: dict[int, str], call: int) -> ModelOutput:
        kept = lines(dict(list(numbered.items())[:5]))
        return output(
            kept + "\n6: " + ("no" if WORD[numbered[6]] == "yes" else "yes"), "max_tokens"
        )

    panelist = Panelist(cut)
    result = await ask(panelist)
    assert result.verdicts == TRUTH
    assert panelist.alone == panelist.rubrics[0][5:]
    assert len(panelist.rubrics) == 1, "what could be read was paid for twice"


async def test_what_cannot_be_read_alone_either_is_ungraded(ask, monkeypatch):
    lost = "Says point 3."
    panelist = Panelist(lambda numbered, call: lines(numbered, {lost}))
    monkeypatch.setitem(WORD, lost, "hmm")
    result = await ask(panelist, judge_attempts=2)
    assert result.verdicts == TRUTH | {"c3": "ungraded"}
    assert result.ungraded == {"c3": "judge_unclear"}
    assert panelist.alone == [lost] * 2


async def test_a_failed_call_fails_its_own_part_only(ask):
    def fail(numbered: dict[int, str], call: int) -> str:
        if "Says point 0." in numbered.values():
            raise PermissionError("401")
        return lines(numbered)

    panelist = Panelist(fail)
    result = await ask(panelist, rubric_chunk=4, judge_attempts=2)
    lost = next(shown for shown in panelist.rubrics if "Says point 0." in shown)
    failed = {c.id for c in CRITERIA if c.text in lost}
    assert len(failed) == 4
    assert set(result.failures) == failed
    assert set(result.failures.values()) == {"PermissionError: 401"}
    assert result.verdicts == {k: v for k, v in TRUTH.items() if k not in failed}
    assert panelist.alone == []


async def test_a_judge_that_fails_leaves_the_verdicts_to_the_others(ask):
    def fail(numbered: dict[int, str], call: int) -> str:
        raise PermissionError("401")

    result = await ask(Panelist(), Panelist(fail), Panelist())
    assert result.failures == {}
    assert result.verdicts == TRUTH
    assert result.votes()["c1"] == ["yes", "ungraded", "yes"]
    assert [b.judge for b in result.ballots] == [
        "mockllm/model", "mockllm/model #2", "mockllm/model #3"
    ]  # fmt: skip


async def test_every_seat_and_vote_finds_its_own_replies_again(ask, monkeypatch, tmp_path):
    def cache(model, seat, vote):
        return VerdictCache(tmp_path, seat, f"{seat} {vote}", tmp_path / "older")

    def whims(numbered: dict[int, str], call: int) -> str:
        turned = next(n for n, text in numbered.items() if text == f"Says point {call}.")
        kept = lines(numbered, {numbered[turned], "Says point 7."})
        return f"{kept}\n{turned}: no"

    monkeypatch.setattr("moral_evals.scorers.judging.judge.VerdictCache.of", cache)
    fickle = Panelist(whims)
    first = await ask(fickle, fickle, votes=2)
    assert len(fickle.rubrics) == 4, "a model that sits twice was asked once"
    assert fickle.alone == ["Says point 7."] * 4
    assert len(set(zip(*first.votes().values(), strict=True))) == 4, "all said the same"
    silent = Panelist(lambda numbered, call: "hmm")
    again = await ask(silent, silent, votes=2)
    assert again.votes() == first.votes()
    assert silent.rubrics == silent.alone == []
    assert again.usage == {"saved_calls": 8, "saved_input_tokens": 80, "saved_output_tokens": 40}


async def test_a_missing_checkout_is_named_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "moral_evals.scorers.judging.judge.judge_models", lambda *_: [Panelist().model]
    )
    options = JudgeOptions("upstream", upstream_path=str(tmp_path / "nowhere"))
    with pytest.raises(SuiteError, match="upstream_path"):
        await judge(CRITERIA, "I weigh it.", options)


@pytest.mark.parametrize(
    ("most", "sizes"), [(12, [12]), (11, [6, 6]), (5, [4, 4, 4]), (2, [2] * 6)]
)
async def test_a_long_list_is_split_evenly(ask, most, sizes):
    panelist = Panelist()
    result = await ask(panelist, rubric_chunk=most)
    assert sorted(map(len, panelist.rubrics)) == sizes
    assert sorted(chain.from_iterable(panelist.rubrics)) == sorted(WORD)
    assert result.verdicts == TRUTH


@given(st.integers(1, 120), st.integers(2, 60))
def test_chunks_are_complete_even_and_few(count, most):
    parts = [list(c) for c in chunks(list(range(count)), most)]
    assert list(chain.from_iterable(parts)) == list(range(count))
    sizes = set(map(len, parts))
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
    assert len(parts) == -(-count // most)


def test_the_order_differs_from_rubric_to_rubric():
    other = [c.model_copy(update={"id": f"d{i}"}) for i, c in enumerate(CRITERIA)]
    assert [c.text for c in asked_order(CRITERIA, 0)] != [c.text for c in asked_order(other, 0)]
    assert asked_order(CRITERIA, 0) == asked_order(list(CRITERIA), 0)


async def test_a_criterion_of_several_lines_stays_one_line_of_the_list(monkeypatch):
    text = "Says this:\n2. Says that.\n\n  3. yes"
    seen: list[dict[int, str]] = []
    model = mock(lambda m: seen.append(criteria_of(m)) or "1: yes\n2: no")
    monkeypatch.setattr("moral_evals.scorers.judging.judge.judge_models", lambda *_: [model])
    two = [CRITERIA[0].model_copy(update={"text": text}), CRITERIA[1]]
    result = await judge(two, "I weigh it.", JudgeOptions(judge_mode="rubric"))
    assert sorted(seen[0].values()) == ["Says point 1.", "Says this: 2. Says that. 3. yes"]
    assert set(seen[0]) == {1, 2}
    assert len(result.verdicts) == 2
