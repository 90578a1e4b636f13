"""`moral-reports cache`: what is shown, what is cleared, what is refused."""

import contextlib
import sqlite3
import time

import pytest

from moral_evals.reports.__main__ import main
from moral_evals.scorers.judging.cache import store_folder
from moral_evals.scorers.judging.verdict_store import VerdictStore

HOSTILE = "[red]evil[/red]/../x\n| a | b; DROP TABLE replies; --' \x1b[31m"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    found = VerdictStore(store_folder())
    for i, judge in enumerate(["openai/gpt-5", "openai/gpt-5", HOSTILE]):
        found.put(f"k{i}", judge, "yes", {"calls": 1})
    found.close()
    (path,) = store_folder().glob("*.sqlite")
    with sqlite3.connect(path) as other:
        old = (time.time() - 40 * 86_400,)
        other.execute("UPDATE replies SET stored = ? WHERE key = 'k0'", old)
    other.close()
    return found


def run(*arguments: str) -> None:
    main(["cache", *arguments])


def keys(store: VerdictStore) -> set[str]:
    return set(store.get(["k0", "k1", "k2"]))


def test_what_is_kept_is_shown_judge_by_judge(store, capsys):
    run()
    shown = capsys.readouterr().out
    assert "openai/gpt-5" in shown
    assert str(store.folder) in shown.replace("\n", "")
    assert "\x1b[31m" not in shown, "a judge's name moves the terminal"
    assert "DROP TABLE" in shown


def test_an_empty_cache_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "none"))
    run()
    assert "nothing is kept" in capsys.readouterr().out
    run("--clear")
    assert "0 replies removed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--older-than", "30d"], {"k1", "k2"}),
        (["--older-than", "8w"], {"k0", "k1", "k2"}),
        (["--judge", "openai/gpt-5", "--older-than", "30d"], {"k1", "k2"}),
        (["--judge", "openai/gpt-5"], {"k2"}),
        (["--judge", HOSTILE], {"k0", "k1"}),
        ([], set()),
    ],
)
def test_what_is_cleared(store, capsys, options, left):
    run("--clear", *options)
    assert f"{3 - len(left)} replies removed" in capsys.readouterr().out
    assert keys(store) == left


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--judge", "openai/gpt-5"], "go with --clear"),
        (["--clear", "--judge", "openai/gpt"], "nothing is kept of it"),
        (["--clear", "--older-than", "soon"], "allowed are a number and h, d or w"),
        (["--clear", "--older-than", "-3d"], "--older-than"),
        (["--clear", "--older-than", "999999w"], "removed"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(store, capsys, options, said):
    with contextlib.suppress(SystemExit):  # of the parser, for what looks like an option
        run(*options)
    out = capsys.readouterr()
    assert said in out.out + out.err
    assert keys(store) == {"k0", "k1", "k2"}
