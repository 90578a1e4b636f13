"""The judge's cache: what makes two questions the same, and what a broken disk costs."""

import json
import logging
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ContentText,
    GenerateConfig,
    Model,
    get_model,
)

from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.judging.call import Judge
from moral_evals.scorers.judging.panel import Ballot
from moral_evals.scorers.judging.prompt import judge_messages, suite_prompt
from moral_evals.scorers.judging.verdict import read_verdict
from moral_evals.scorers.judging.verdict_store import StoredReply
from tests.mocks import always, mock, output

KEY = "0" * 64
TOKENS = {"calls": 1, "input_tokens": 10, "output_tokens": 5}
MESSAGES = judge_messages(suite_prompt(), "I weigh both.", ["Names the duty."])[0]


def model(name: str = "judge", url: str = "http://127.0.0.1:9/v1", **options) -> Model:
    config = GenerateConfig(**options.pop("config", {}))
    return get_model(
        f"openai-api/stub/{name}", config=config, base_url=url, api_key="none", memoize=False,
        **options,
    )  # fmt: skip


def key(
    judge: Model, messages: list[ChatMessage] = MESSAGES, vote: int = 1, seat: str = ""
) -> tuple[Path, str]:
    """Where a reply lies: folder and key together."""
    cache = VerdictCache.of(judge, seat or str(judge), vote)
    assert cache is not None
    (found,) = cache.keys([messages])
    return cache.older, found


def asked(system: str = "", text: str = "I weigh both.", criterion: str = "Names the duty."):
    (messages,) = judge_messages(suite_prompt(), text, [criterion])
    return [ChatMessageSystem(content=system), messages[1]] if system else messages


# --- what a reply depends on -----------------------------------------------------------------


def test_the_same_question_has_the_same_key():
    assert key(model()) == key(model(), asked())


@pytest.mark.parametrize(
    ("change", "other"),
    [
        ("model", lambda: key(model("other"))),
        ("temperature", lambda: key(model(config={"temperature": 0.5}))),
        ("effort", lambda: key(model(config={"reasoning_effort": "high"}))),
        ("max_tokens", lambda: key(model(config={"max_tokens": 5}))),
        ("seed", lambda: key(model(config={"seed": 5}))),
        ("system_message", lambda: key(model(config={"system_message": "Be strict."}))),
        ("base_url", lambda: key(model(url="http://127.0.0.1:10/v1"))),
        ("model args", lambda: key(model(emulate_tools=True))),
        ("vote", lambda: key(model(), vote=2)),
        ("seat", lambda: key(model(), seat="openai-api/stub/judge #2")),
        ("system text", lambda: key(model(), asked(system="Be strict."))),
        ("judged text", lambda: key(model(), asked(text="I weigh both. "))),
        ("criterion", lambda: key(model(), asked(criterion="Names the duty"))),
    ],
)
def test_all_that_can_change_a_reply_changes_the_key(change, other):
    assert other() != key(model()), change


@pytest.mark.parametrize(
    "setting",
    [
        {"max_retries": 3}, {"timeout": 9}, {"attempt_timeout": 9}, {"max_connections": 3},
        {"adaptive_connections": True}, {"stream_idle_timeout": 9}, {"batch": True},
        {"cache": True}, {"cache_prompt": True}, {"fail_on_refusal": True},
    ],
)  # fmt: skip
def test_how_a_reply_is_fetched_does_not_change_the_key(setting):
    assert set(setting) <= set(GenerateConfig.model_fields), "no such setting of Inspect's"
    assert key(model(config=setting)) == key(model())


def test_parts_joined_differently_have_different_keys():
    def user(*parts: str) -> ChatMessage:
        return ChatMessageUser(content=[ContentText(text=p) for p in parts])

    questions = [
        [user("ab", "c")],
        [user("a", "bc")],
        [user("abc")],
        [user("ab"), user("c")],
        [ChatMessageUser(content="abc")],
        [ChatMessageUser(content='ab", "c')],
        [ChatMessageSystem(content="ab"), ChatMessageUser(content="c")],
        [ChatMessageUser(content="ab"), ChatMessageSystem(content="c")],
        [ChatMessageSystem(content="abc")],
        [ChatMessageSystem(content="abuserc")],
    ]
    assert len({key(model(), q) for q in questions}) == len(questions)


@pytest.mark.parametrize("name", ["mockllm/model", "embedded/overlap-judge"])
def test_models_whose_name_does_not_say_what_they_answer_are_not_cached(name):
    judge = get_model(name)
    assert VerdictCache.of(judge, str(judge), 1) is None


def test_questions_of_one_sample_share_their_text_and_not_their_keys():
    cache = VerdictCache.of(model(), "judge", 1)
    together = judge_messages(suite_prompt(), "I weigh both.", ["One.", "Two.", "One."])
    keys = cache.keys(together)
    assert keys == [cache.keys([messages])[0] for messages in together]
    assert keys[0] == keys[2] != keys[1]


# --- the disk --------------------------------------------------------------------------------


def cache_in(folder: Path) -> VerdictCache:
    return VerdictCache(folder / "new", "stub/judge", "me", folder / "older")


def stored(cache: VerdictCache, key: str = KEY) -> StoredReply | None:
    return cache.get([key]).get(key)


def test_a_reply_comes_back_with_what_it_cost(tmp_path):
    cache = cache_in(tmp_path)
    assert stored(cache) is None
    reply = "Yes – 😀 é\n and half of one \ud83d"
    cache.put(KEY, reply, TOKENS)
    assert stored(cache) == StoredReply(reply, TOKENS)
    assert stored(cache, KEY.replace("0", "1")) is None


def test_a_reply_of_the_older_form_is_found(tmp_path):
    cache = cache_in(tmp_path)
    path = tmp_path / "older" / KEY[:2] / f"{KEY}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"reply": "Yes", "usage": TOKENS}), encoding="utf-8")
    assert stored(cache) == StoredReply("Yes", TOKENS)
    path.write_bytes(b"[[[[")
    assert stored(cache) is None


def test_a_folder_that_cannot_be_written_costs_a_warning_and_no_more(tmp_path, caplog):
    (tmp_path / "new").write_text("in the way", encoding="utf-8")
    cache = cache_in(tmp_path)
    with caplog.at_level(logging.WARNING):
        cache.put(KEY, "yes", TOKENS)
    assert "not cached" in caplog.text
    assert stored(cache) is None


def test_a_cache_without_any_place_is_none(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        assert VerdictCache.of(model(), "judge", 1) is None
    assert "not cached" in caplog.text


# --- what is stored --------------------------------------------------------------------------


async def ask(judge: Model, cache: VerdictCache) -> tuple[str | None, Ballot]:
    ballot = Ballot("judge")
    seat = Judge(judge, 3, cache, ballot)
    ((key, known),) = seat.look_up([MESSAGES])
    answer = await seat.ask(MESSAGES, lambda reply, cut: read_verdict(reply), key, known)
    return answer.value, ballot


async def test_only_a_reply_that_could_be_read_is_stored(tmp_path):
    cache = cache_in(tmp_path)
    said = iter(["hmm", output("", "max_tokens"), "Yes."])
    assert (await ask(mock(lambda _: next(said)), cache))[0] == "yes"
    assert stored(cache, cache.keys([MESSAGES])[0]).reply == "Yes."
    value, ballot = await ask(always("no, never asked"), cache)
    assert value == "yes"
    assert ballot.usage["calls"] == 0
    assert ballot.usage["saved_calls"] == 1


@pytest.mark.parametrize(
    "said",
    ["hmm", "", output("yes", "max_tokens"), output("yes", "model_length"),
     output("yes", "content_filter")],
)  # fmt: skip
async def test_an_unreadable_or_cut_reply_is_never_stored(tmp_path, said):
    cache = cache_in(tmp_path)
    await ask(always(said), cache)
    assert not cache.get(cache.keys([MESSAGES]))


async def test_a_stored_reply_that_can_no_longer_be_read_is_asked_for_again(tmp_path):
    cache = cache_in(tmp_path)
    (key,) = cache.keys([MESSAGES])
    cache.put(key, "perhaps", TOKENS)
    value, ballot = await ask(always("no"), cache)
    assert value == "no"
    assert ballot.usage["calls"] == 1
    assert stored(cache, key).reply == "no"


async def test_a_question_in_flight_is_waited_for(tmp_path):
    calls = []

    async def slow(messages, *_):
        calls.append(messages)
        await anyio.sleep(0.05)
        return output("yes")

    cache, seats = cache_in(tmp_path), []
    judge = mock(slow)

    async def one():
        seats.append(await ask(judge, cache))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(one)
    assert len(calls) == 1
    assert [value for value, _ in seats] == ["yes"] * 5
    assert sum(ballot.usage["saved_calls"] for _, ballot in seats) == 4


async def test_those_who_waited_ask_themselves_if_nothing_came_of_it(tmp_path):
    said = iter(["hmm", "hmm", "hmm", "no"])
    judge, found = mock(lambda _: next(said)), []
    cache = cache_in(tmp_path)

    async def one():
        found.append((await ask(judge, cache))[0])

    async with anyio.create_task_group() as group:
        group.start_soon(one)
        group.start_soon(one)
    assert sorted(map(str, found)) == ["None", "no"]
