"""The judge's cache: what makes two questions the same, and what a broken disk costs."""

import json
import logging
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
    return cache.folder, cache.key(messages)


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


# --- the disk --------------------------------------------------------------------------------


def test_a_reply_comes_back_with_what_it_cost(tmp_path):
    cache = VerdictCache(tmp_path / "new" / "folder", "me")
    assert cache.get(KEY) is None
    reply = "Yes – 😀 é\n and half of one \ud83d"
    cache.put(KEY, reply, TOKENS)
    found = cache.get(KEY)
    assert (found.reply, found.usage) == (reply, TOKENS)
    assert cache.get(KEY.replace("0", "1")) is None


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"3", b'"yes"', b"null", b'{"other": "yes"}', b"\xff\xfe\x00",
        b'{"reply": "yes"}', b'{"reply": "yes", "usage": 3}', b'{"reply": "yes", "usage": {"cal',
    ],
)  # fmt: skip
def test_a_damaged_file_is_a_miss_and_is_healed(tmp_path, content):
    cache = VerdictCache(tmp_path, "me")
    cache.put(KEY, "yes", TOKENS)
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(content)
    assert cache.get(KEY) is None
    cache.put(KEY, "no", TOKENS)
    assert cache.get(KEY).reply == "no"


def test_a_folder_that_cannot_be_written_costs_a_warning_and_no_more(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache = VerdictCache(tmp_path / "file" / "verdicts", "me")
    with caplog.at_level(logging.WARNING):
        cache.put(KEY, "yes", TOKENS)
    assert "not cached" in caplog.text
    assert cache.get(KEY) is None


def test_a_cache_without_any_place_is_none(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        assert VerdictCache.of(model(), "judge", 1) is None
    assert "not cached" in caplog.text


def replies(writer: int) -> list[str]:
    return [f"{writer}" * (1 + 997 * i % 70_000) for i in range(60)]


def write(folder: Path, writer: int) -> None:
    for reply in replies(writer):
        VerdictCache(folder, "me").put(KEY, reply, TOKENS)


def test_many_writers_of_one_key_leave_a_readable_file_at_every_moment(tmp_path):
    whole = {r for writer in range(4) for r in replies(writer)}
    cache = VerdictCache(tmp_path, "me")
    cache.put(KEY, replies(0)[0], TOKENS)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=write, args=(tmp_path, writer)) for writer in (0, 1)]
    for process in processes:
        process.start()
    with ThreadPoolExecutor() as threads:
        writing = [threads.submit(write, tmp_path, writer) for writer in (2, 3)]
        while not all(w.done() for w in writing) or any(p.is_alive() for p in processes):
            found = cache.get(KEY)
            assert found is not None, "a half-written file was seen"
            assert found.reply in whole
    assert [w.result() for w in writing] == [None, None]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(list(tmp_path.rglob("*"))) == 2, "left-overs beside the one file in its folder"


# --- what is stored --------------------------------------------------------------------------


async def ask(judge: Model, cache: VerdictCache) -> tuple[str | None, Ballot]:
    ballot = Ballot("judge")
    answer = await Judge(judge, 3, cache, ballot).ask(
        MESSAGES, lambda reply, cut: read_verdict(reply)
    )
    return answer.value, ballot


async def test_only_a_reply_that_could_be_read_is_stored(tmp_path):
    cache = VerdictCache(tmp_path, "me")
    said = iter(["hmm", output("", "max_tokens"), "Yes."])
    assert (await ask(mock(lambda _: next(said)), cache))[0] == "yes"
    (path,) = tmp_path.rglob("*.json")
    assert json.loads(path.read_text(encoding="utf-8"))["reply"] == "Yes."
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
    await ask(always(said), VerdictCache(tmp_path, "me"))
    assert not list(tmp_path.rglob("*.json"))


async def test_a_stored_reply_that_can_no_longer_be_read_is_asked_for_again(tmp_path):
    cache = VerdictCache(tmp_path, "me")
    cache.put(cache.key(MESSAGES), "perhaps", TOKENS)
    value, ballot = await ask(always("no"), cache)
    assert value == "no"
    assert ballot.usage["calls"] == 1
    assert cache.get(cache.key(MESSAGES)).reply == "no"
