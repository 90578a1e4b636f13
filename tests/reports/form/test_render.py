"""Every form of a report says the same, whatever a model is called, and lands in one piece."""

import csv
import io
import json
import math
import os
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.files import write_whole
from moral_evals.reports.__main__ import main
from moral_evals.reports.form.document import Report, Table, merged, number, remarks, shown
from moral_evals.reports.form.render import (
    FORMATS,
    to_json,
    to_latex,
    to_markdown,
    to_terminal,
)
from moral_evals.scorers.stats.bootstrap import Interval
from moral_evals.scorers.stats.pvalue import PValue

NAN, INF = math.nan, math.inf
NAMES = (
    "openrouter/meta|llama_3_*8b*",
    "[bold]loud[/bold] `x` <i> :ok:",
    "50% & $5 #1 {a} ~b^c \\d",
    "two\nlines",
)
COLUMNS = ["model", "score [95%]", "Δ − n", "p", "[bold]a | b", "verdict"]
ROWS = [
    [NAMES[0], Interval(0.5, 0.1, 0.2, 7, "small_n"), 1234, 0.0421, INF, "a_b higher"],
    [NAMES[1], Interval(NAN, NAN, NAN, 0), 0, NAN, -INF, "not tested"],
    [NAMES[2], Interval(-0.00001, NAN, NAN, 1), -3, -0.0004, 1.0, "x | y"],
    [NAMES[3], Interval(2.5, 0.0, INF, 30), 5, 1.0, 2.0, "–"],
]
TABLE = Table("first", "A [red] title, a_b", COLUMNS, ROWS, ["Beware of [95%] | _this_ :ok:."])
REPORT = Report("Runs: [bold] & more", [TABLE, Table("second", "B", ["k", "v"], [["r", 1]])],
                ["Judge m_1 [red]; 100% of $ :ok:."])  # fmt: skip


def flat(text: str) -> str:
    return " ".join(text.split())


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.12345, "0.123"), (-0.0001, "0.000"), (-0.0006, "-0.001"), (NAN, "–"), (INF, "∞"),
        (-INF, "-∞"), (1234, "1,234"), ("as is", "as is"),
        (Interval(0.5, 0.1, 0.2, 7), "0.500 [0.100, 0.200]"),
        (Interval(0.5, 0.1, INF, 7), "0.500 [0.100, ∞]"),
        (Interval(0.5, 0.1, 0.2, 7, "small_n"), "0.500 [0.100, 0.200]‡"),
        (Interval(0.5, 0.1, 0.2, 7, "degenerate"), "0.500 [0.100, 0.200]†‡"),
        (Interval(0.5, 0.1, 0.2, 12, "degenerate"), "0.500 [0.100, 0.200]†"),
        (PValue(0.0004), "<0.001"), (PValue(0.9996), "1.000"), (PValue(NAN), "–"),
        (Interval(0.5, NAN, NAN, 1), "0.500"), (Interval(NAN, NAN, NAN, 0), "–"),
    ],
)  # fmt: skip
def test_a_cell_as_text(cell, text):
    assert shown(cell) == text


def test_decimals():
    assert number(0.98765, 1) == "1.0"


# --- forms ------------------------------------------------------------------------------------


def test_a_markdown_table_parses_back_to_its_cells():
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(REPORT))
    said = ["".join(c.content for c in t.children) for t in tokens if t.type == "inline"]
    kinds = [t.type for t in tokens]
    assert kinds.count("table_open") == 2
    assert kinds.count("tr_open") == 1 + len(ROWS) + 2
    assert all(f"{tag}_open" not in kinds for tag in ("html_block", "code_block"))
    want = [REPORT.title, TABLE.title, *COLUMNS, *(shown(c) for row in ROWS for c in row)]
    assert said[: len(want)] == [flat(w) for w in want]
    assert said[len(want) :] == [*remarks(TABLE), "B", "k", "v", "r", "1", REPORT.notes[0]]


def test_json_is_strict_and_null_where_nothing_was_measured():
    def refuse(constant: str):
        raise AssertionError(f"{constant} is not JSON")

    document = json.loads(to_json(REPORT), parse_constant=refuse)
    assert document["title"] == REPORT.title
    assert document["notes"] == REPORT.notes
    first = document["tables"][0]
    assert (first["name"], first["title"], first["columns"]) == ("first", TABLE.title, COLUMNS)
    assert first["notes"] == TABLE.notes
    whole = {"estimate": 0.5, "lower": 0.1, "upper": 0.2, "n": 7, "flag": "small_n"}
    assert first["rows"][0] == [NAMES[0], whole, 1234, 0.0421, None, "a_b higher"]
    unknown = {"estimate": None, "lower": None, "upper": None, "n": 0}
    assert first["rows"][1] == [NAMES[1], unknown, 0, None, None, "not tested"]


def test_latex_is_escaped_and_balanced():
    text = to_latex(REPORT)
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 2
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0 or r"\$" in text
    commands = re.sub(r"\\[&%$#_{}]|\\\\|\\[a-zA-Z]+", "", text)
    assert not set("\\%#_~^<>|") & set(re.sub(r"\$[<>-]\$", "", commands))
    assert text.isascii()
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip()
    rows = [re.split(r"(?<!\\)&", line) for line in re.split(r"\\\\(?:\n|$)", body) if line]
    assert [len(row) for row in rows] == [len(COLUMNS)] * len(ROWS)
    assert rows[0][0].strip() == r"openrouter/meta\textbar{}llama\_3\_*8b*"
    assert rows[2][0].strip() == (
        r"50\% \& \$5 \#1 \{a\} \textasciitilde{}b\textasciicircum{}c \textbackslash{}d"
    )
    assert [cell.strip() for cell in rows[1][1:5]] == ["--", "0", "--", r"-$\infty$"]
    assert r"$\Delta$ $-$ n" in text


def test_the_terminal_swallows_nothing():
    console = Console(file=io.StringIO(), width=400)
    to_terminal(REPORT, console)
    printed = console.file.getvalue()
    for name in (*NAMES[:3], *NAMES[3].split("\n")):
        assert name in printed
    for text in (REPORT.title, TABLE.title, TABLE.notes[0], REPORT.notes[0], *COLUMNS):
        assert text in printed
    assert "0.500 [0.100, 0.200]" in printed
    assert "\x1b" not in printed


def test_a_path_stays_whole_and_words_are_wrapped():
    path = "/a/folder-with-a-long-name/" * 4 + "run.eval"
    console = Console(width=80, file=io.StringIO())
    words = "word " * 40
    to_terminal(Report("t", [Table("t", "t", ["a"], [["b"]], [words])], [f"log: {path}"]), console)
    lines = console.file.getvalue().splitlines()
    assert path in lines
    wrapped = [line for line in lines if "word" in line]
    assert len(wrapped) == 3 and all(line.startswith("  word") for line in wrapped)
    assert max(map(len, wrapped)) <= 80


def test_several_reports_in_one_file_keep_their_remarks_and_names():
    other = Report("Others", [TABLE], ["Only here."])
    both = merged([REPORT, other], "Comparison")
    assert [t.name for t in both.tables] == [
        "runs-bold-more/first", "runs-bold-more/second", "others/first",
    ]  # fmt: skip
    assert both.tables[1].notes == REPORT.notes
    assert both.tables[2].notes == [*TABLE.notes, "Only here."]
    assert both.tables[2].title == "Others. A [red] title, a_b"
    assert merged([REPORT], "Comparison") is REPORT


# --- files ------------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new folder" / "report.md"
    write_whole(path, "first é\n")
    assert path.read_text(encoding="utf-8") == "first é\n"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SuiteError, match=r"report\.md: cannot be written \(No space left"):
        write_whole(path, "second\n")
    assert path.read_text(encoding="utf-8") == "first é\n"
    assert os.listdir(path.parent) == ["report.md"], "the half-written file is left behind"


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for place in (tmp_path / "file" / "report.md", tmp_path):
        with pytest.raises(SuiteError, match="cannot be written") as refused:
            write_whole(place, "text")
        assert str(place) in str(refused.value)
        assert "\n" not in str(refused.value)


# --- the command ------------------------------------------------------------------------------


def command(*arguments: str | Path) -> int:
    return main(["compare", *map(str, arguments)])


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_of_a_comparison_is_one_document(both_logs, corda_logs, tmp_path, capsys, form):
    logs = [*both_logs, *corda_logs.values()]
    out = tmp_path / f"report.{form}"
    assert command(*logs, "--format", form, "--out", out) == 0
    assert capsys.readouterr().out == ""
    written = out.read_text(encoding="utf-8")
    assert command(*logs, "--format", form) == 0
    assert capsys.readouterr().out == written
    if form == "json":
        names = [t["name"] for t in json.loads(written)["tables"]]
        assert len(set(names)) == len(names)
        assert sum(n.endswith("/scores") for n in names) == 2
    if form == "csv":
        keys = [tuple(r[:5]) for r in csv.reader(io.StringIO(written))]
        assert len(set(keys)) == len(keys)
    if form == "latex":
        assert written.isascii()
    for part in ("trace judged", "response judged", "Paired contrasts"):
        assert (part in written) != (form == "csv")


def test_a_comparison_on_the_terminal(both_logs, corda_logs, capsys, monkeypatch):
    assert command(*both_logs, *corda_logs.values()) == 0
    printed = capsys.readouterr().out
    for text in (
        "morebench, trace judged: 2 runs", "morebench, response judged: 2 runs", "corda: 3 runs",
        "difference [95%]", "Paired differences in Hard", "win odds",
    ):  # fmt: skip
        assert text in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such.eval"], "no-such.eval: no such file"),
        (["."], ".: no Inspect log here"),
        (
            ["{0}", "{1}", "--out", "x.md"],
            "--out x.md: say --format too (markdown, csv, json, latex)",
        ),
        (["{0}", "{1}", "--format", "csv", "--out", "{0}/x"], "/x: cannot be written"),
        (
            ["{0}", "{1}", "--allow", "all"],
            "--allow all: no such condition. Allowed: task, version",
        ),
        (
            ["{0}", "{1}", "--scorer", "c"],
            "--scorer c: in none of these logs. Allowed: rubric_judge",
        ),
        (["{0}", "{1}", "--baseline", "c"], "--baseline c: fits 2 of the runs. Allowed: mockllm/"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_1(
    both_logs, tmp_path, monkeypatch, capsys, arguments, said
):
    monkeypatch.chdir(tmp_path)
    code = command(*(a.format(*both_logs) for a in arguments))
    printed = capsys.readouterr()
    assert code == 1
    assert said in printed.err
    assert printed.err.startswith("moral-reports: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_wrong_word_is_exit_code_2(capsys):
    with pytest.raises(SystemExit) as stopped:
        command("x.eval", "--format", "pdf")
    assert stopped.value.code == 2
    assert "invalid choice: 'pdf'" in capsys.readouterr().err
