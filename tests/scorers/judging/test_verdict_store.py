"""The store of judge replies: damage, many processes, a full disk, a kill."""

import multiprocessing
import os
import resource
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moral_evals.scorers.judging.verdict_store import StoredReply, VerdictStore

TOKENS = {"calls": 1, "input_tokens": 10}
CONTEXT = multiprocessing.get_context("fork")


@pytest.fixture
def store(tmp_path):
    found = VerdictStore(tmp_path)
    yield found
    found.close()


def put(store: VerdictStore, key: str, reply: str, judge: str = "stub/judge") -> None:
    store.put(key, judge, reply, TOKENS)


def own_file(folder: Path) -> Path:
    (path,) = folder.glob("*.sqlite")
    return path


@pytest.mark.parametrize(
    "entry",
    ["", "{", "[" * 5000, "3", "null", '{"reply": 3, "usage": {}}', '{"reply": "yes"}',
     '{"reply": "yes", "usage": {"calls": "three"}}', '{"reply": "yes", "usage": [1]}'],
)  # fmt: skip
def test_a_damaged_entry_is_a_miss_and_is_replaced(store, tmp_path, entry):
    put(store, "k", "yes")
    with sqlite3.connect(own_file(tmp_path)) as other:
        other.execute("UPDATE replies SET entry = ?", (entry,))
    other.close()
    assert store.get(["k"]) == {}
    put(store, "k", "no")
    assert store.get(["k"]) == {"k": StoredReply("no", TOKENS)}


@pytest.mark.parametrize("content", [b"no data base" * 500, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_damaged_file_is_set_aside(tmp_path, content):
    first = VerdictStore(tmp_path)
    put(first, "k", "yes")
    first.close()
    own_file(tmp_path).write_bytes(content)
    again = VerdictStore(tmp_path)
    assert again.get(["k"]) == {}
    put(again, "k", "no")
    assert again.get(["k"])["k"].reply == "no"
    assert list(tmp_path.glob("*.damaged"))
    again.close()


def test_a_damaged_file_of_another_process_costs_only_what_it_held(store, tmp_path):
    (tmp_path / "elsewhere-0.sqlite").write_bytes(b"\0" * 5000)
    put(store, "k", "yes")
    assert set(store.get(["k", "other"])) == {"k"}


def test_more_keys_than_a_statement_takes(store):
    keys = [f"k{i}" for i in range(2500)]
    for key in keys[::5]:
        put(store, key, "yes")
    assert set(store.get(keys)) == set(keys[::5])


def test_the_next_process_goes_on_with_the_same_file(tmp_path):
    for reply in ("a", "b", "c"):
        store = VerdictStore(tmp_path)
        put(store, reply, reply)
        assert reply in store.get([reply])
        store.close()
    own_file(tmp_path)


def _write(folder: Path, writer: int, ready) -> None:
    store = VerdictStore(folder)
    for i in range(150):
        put(store, f"{writer}-{i}", f"reply {writer} {i}")
        put(store, "shared", f"reply {writer} {i}")
    ready.wait(10)
    store.close()


def test_processes_side_by_side_read_what_the_others_wrote(tmp_path):
    ready = CONTEXT.Barrier(4)
    writers = [CONTEXT.Process(target=_write, args=(tmp_path, w, ready)) for w in range(3)]
    for writer in writers:
        writer.start()
    ready.wait(30)  # all hold their files now, so that none took over another's
    for writer in writers:
        writer.join(30)
        assert writer.exitcode == 0
    store = VerdictStore(tmp_path)
    keys = [f"{w}-{i}" for w in range(3) for i in range(150)]
    found = store.get([*keys, "shared"])
    assert {k: r.reply for k, r in found.items() if k != "shared"} == {
        k: "reply " + k.replace("-", " ") for k in keys
    }
    assert found["shared"].reply.endswith(" 149")
    assert len(list(tmp_path.glob("*.sqlite"))) == 3
    store.close()


def test_threads_share_one_store(store):
    def write(writer: int) -> None:
        for i in range(100):
            put(store, f"{writer}-{i}", "yes")

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(write, range(4))) == [None] * 4
    assert len(store.get([f"{w}-{i}" for w in range(4) for i in range(100)])) == 400


def _write_without_end(folder: Path, told) -> None:
    store = VerdictStore(folder)
    for i in range(10**9):
        put(store, f"k{i}", "yes" * 50)
        told.value = i


def test_a_killed_process_loses_nothing_that_it_was_told(tmp_path):
    told = CONTEXT.Value("q", -1)
    process = CONTEXT.Process(target=_write_without_end, args=(tmp_path, told))
    process.start()
    while told.value < 200:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    store = VerdictStore(tmp_path)
    assert len(store.get([f"k{i}" for i in range(told.value + 1)])) == told.value + 1
    store.close()


def test_what_is_held_and_what_is_cleared(store):
    put(store, "a", "yes", "one/judge")
    put(store, "b", "no", "one/judge")
    put(store, "c", "no", "other/judge")
    held = {h.judge: h.replies for h in store.holdings()}
    assert held == {"one/judge": 2, "other/judge": 1}
    assert store.size() > 0
    assert store.clear(judge="one/judge", before=time.time() - 60) == 0
    assert store.clear(judge="one/judge") == 2
    assert set(store.get(["a", "b", "c"])) == {"c"}
    assert store.clear(before=time.time() + 60) == 1
    assert store.holdings() == []


@pytest.mark.parametrize(("folder", "shared"), [(0o2770, True), (0o700, False)])
def test_a_file_is_shared_as_its_folder_is(tmp_path, folder, shared):
    tmp_path.chmod(folder)
    mask = os.umask(0o077)
    try:
        store = VerdictStore(tmp_path)
        put(store, "k", "yes")
        store.close()
    finally:
        os.umask(mask)
    assert bool(own_file(tmp_path).stat().st_mode & 0o040) == shared


def test_a_file_left_in_the_midst_of_an_entry_is_read_on_another_machine(tmp_path, monkeypatch):
    store = VerdictStore(tmp_path)
    for i in range(500):
        put(store, f"k{i}", "yes" * 50)
    store.close()
    process = CONTEXT.Process(target=_killed_in_an_entry, args=(own_file(tmp_path),))
    process.start()
    process.join()
    left = own_file(tmp_path).read_bytes()
    assert own_file(tmp_path).with_name(own_file(tmp_path).name + "-journal").stat().st_size
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    other = VerdictStore(tmp_path)
    found = other.get([f"k{i}" for i in range(500)])
    assert {r.reply for r in found.values()} == {"yes" * 50}
    assert len(found) == 500
    other.close()
    names = {p.name: p for p in tmp_path.glob("*.sqlite")}
    del names["another-0.sqlite"]
    assert [p.read_bytes() for p in names.values()] == [left], "another machine's file was changed"


def _killed_in_an_entry(path: Path) -> None:
    store = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode=TRUNCATE", "synchronous=OFF", "cache_size=1"):
        store.execute(f"PRAGMA {setting}")
    store.execute("BEGIN")
    store.execute("UPDATE replies SET entry = 'half written'")
    os.kill(os.getpid(), signal.SIGKILL)


def test_another_users_file_is_left_to_him(tmp_path, monkeypatch):
    theirs = VerdictStore(tmp_path)
    put(theirs, "k", "yes")
    theirs.close()
    real = os.open

    def refused(path, *arguments, **options):
        if str(path).endswith("-0.lock"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refused)
    mine = VerdictStore(tmp_path)
    put(mine, "m", "no")
    assert set(mine.get(["k", "m"])) == {"k", "m"}
    assert len(list(tmp_path.glob("*.sqlite"))) == 2
    mine.close()


def test_a_folder_that_is_not_ours_is_an_error_and_no_endless_search(tmp_path, monkeypatch):
    def refused(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(PermissionError):
        put(VerdictStore(tmp_path), "k", "yes")


def test_a_full_disk_raises_and_what_was_there_stays(tmp_path):
    store = VerdictStore(tmp_path)
    put(store, "k", "yes")
    store.close()
    process = CONTEXT.Process(target=_write_past_a_limit, args=(tmp_path,))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    again = VerdictStore(tmp_path)
    assert again.get(["k"])["k"].reply == "yes"
    put(again, "l", "no")
    assert again.get(["l"])["l"].reply == "no"
    again.close()


def _write_past_a_limit(folder: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
    store, refused = VerdictStore(folder), 0
    for i in range(20):
        try:
            put(store, f"n{i}", "x" * 10_000)
        except (OSError, sqlite3.Error):
            refused += 1
    os._exit(0 if refused and store.get(["k"]) else 1)


def test_clearing_all_removes_damaged_files_too(tmp_path):
    store = VerdictStore(tmp_path)
    put(store, "k", "yes")
    store.close()
    (tmp_path / "other-0.sqlite").write_bytes(b"no data base" * 500)
    (tmp_path / "old-0.damaged").write_bytes(b"no data base")
    store = VerdictStore(tmp_path)
    assert [h.replies for h in store.holdings()] == [1]
    assert store.clear() == 1
    assert not list(tmp_path.glob("*.damaged"))
    assert store.holdings() == []
