"""A broken log that is named by hand is one line with its name, from every report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from moral_evals.reports.__main__ import main

LEGACY = Path(__file__).parents[2] / "legacy" / "logs"
RUBRIC, CORDA = LEGACY / "checkout-morebench.eval", LEGACY / "checkout-corda.eval"
COMMANDS = {
    "show": ["show"],
    "show as json": ["show", "--format", "json"],
    "compare": ["compare"],
    "latex row": ["compare", "--latex-row"],
    "findings": ["findings"],
    "page": ["page", "--no-figures", "--out", "page.html"],
    "plot": ["plot", "--out", "figures"],
    "judgings": ["judgings"],
    "cost": ["cost"],
    "export-upstream": ["export-upstream", "--out", "judged.jsonl"],
    "export-rewards": ["export-rewards", "--out", "rewards"],
}


def _cut(path: Path) -> None:
    whole = RUBRIC.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def _records_of_numbers(path: Path) -> None:
    log = read_eval_log(str(CORDA))
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            score.metadata = dict.fromkeys(score.metadata or {}, 3)
    write_eval_log(log, str(path))


FILES: dict[str, Callable[[Path], Any]] = {
    "cut.eval": _cut,
    "empty.eval": lambda path: path.write_bytes(b""),
    "bytes.eval": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "folder.eval": Path.mkdir,
    "unrelated.json": lambda path: path.write_text(json.dumps({"a": 1})),
    "list.json": lambda path: path.write_text("[1]"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", FILES)
def test_no_log_at_all(name, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FILES[name](tmp_path / name)
    _refused([COMMANDS[command][0], name, *COMMANDS[command][1:]], name, capsys)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p.name != name]


@pytest.mark.parametrize("command", ["show", "show as json", "compare", "page", "plot"])
def test_records_that_no_scorer_wrote(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _records_of_numbers(tmp_path / "records.eval")
    words = COMMANDS[command]
    _refused([words[0], "records.eval", *words[1:]], "records.eval", capsys)


def test_show_puts_logs_with_and_without_scores_into_one_document(tmp_path, capsys):
    log = read_eval_log(str(RUBRIC))
    log.results = None
    write_eval_log(log, str(tmp_path / "bare.eval"))
    paths = [str(tmp_path / "bare.eval"), str(CORDA)]
    assert main(["show", *paths, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert any("bare.eval" in note for note in shown["notes"])
    assert shown["tables"]


def _refused(words: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert name in line
