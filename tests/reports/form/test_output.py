"""Text on standard output whatever its encoding, and in files."""

import io
import json
import os
import subprocess
import sys

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from moral_evals.loaders.files import write_whole
from moral_evals.reports.__main__ import main
from moral_evals.reports.form.output import fit_streams

LETTERS = "− – → † Δ é 中 😀 \ud83d"


def printed(encoding: str, monkeypatch, act) -> bytes:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    act()
    stream.flush()
    return raw.getvalue()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "shift_jis", "utf-8"])
def test_any_text_is_written(encoding, monkeypatch):
    def act():
        fit_streams()
        print(LETTERS)

    text = printed(encoding, monkeypatch, act).decode(encoding)
    assert "\\ud83d" in text
    if encoding == "ascii":
        assert text == "- - -> + d \\u00e9 \\u4e2d \\ud83d\\ude00 \\ud83d\n"


def test_json_in_another_encoding_reads_back(monkeypatch):
    def act():
        fit_streams()
        sys.stdout.write(json.dumps({"name": "é 中 😀"}, ensure_ascii=False))

    assert json.loads(printed("ascii", monkeypatch, act)) == {"name": "é 中 😀"}


def test_a_file_is_utf_8_and_holds_no_half_letter(tmp_path):
    write_whole(tmp_path / "a.txt", LETTERS)
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == LETTERS[:-1] + "?"


COMMANDS = (
    ["show"], ["compare"], ["compare", "--latex-row"], ["findings"], ["cost"], ["judgings"],
    *(["compare", "--format", form] for form in ("csv", "json", "latex", "markdown")),
    ["page", "--no-figures", "--out", "OUT/p.html"], ["export-rewards", "--out", "OUT/rewards"],
    ["export-upstream", "--out", "OUT/up.jsonl", "--scorer", "rubric_judge"], ["estimate"],
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_every_report_ends_well(encoding, command, both_logs, tmp_path, monkeypatch):
    first, *rest = (word.replace("OUT", str(tmp_path)) for word in command)
    logs = both_logs if first != "export-upstream" else both_logs[:1]
    if first == "judgings":  # two logs of the same replies
        again = read_eval_log(logs[0])
        again.eval.eval_id = again.eval.task_id = "again"
        write_eval_log(again, str(tmp_path / "again.eval"))
        logs, rest = [logs[0], str(tmp_path / "again.eval")], ["--scorer", "rubric_judge"]
    places = ["morebench", "-T", "data=sample"] if first == "estimate" else logs
    if first == "compare" and "--latex-row" not in rest:
        rest += ["--scorer", "rubric_judge"]
    codes = []
    out = printed(encoding, monkeypatch, lambda: codes.append(main([first, *places, *rest])))
    assert codes == [0]
    assert out.decode(encoding)


def test_a_process_of_its_own_under_another_encoding(both_logs):
    arguments = ["compare", *both_logs, "--scorer", "rubric_judge"]
    done = subprocess.run(
        [sys.executable, "-m", "moral_evals.reports", *arguments],
        capture_output=True, env=os.environ | {"PYTHONIOENCODING": "cp1252"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"mockllm/steady - mockllm/quick" in done.stdout
