"""A report's CSV is a table for programs: one type a column, plain names, every run told apart."""

import csv
import io
import math
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from moral_evals.reports.__main__ import main
from moral_evals.reports.form.document import Between, OutOf, Report, RunName, Table, shown
from moral_evals.reports.form.long_csv import HEADER, column_name, to_csv
from moral_evals.reports.runs.naming import run_ids
from moral_evals.scorers.stats.bootstrap import Interval
from tests.reports.builders import rubric_run

NAN, INF = math.nan, math.inf
FIRST, SECOND = RunName("mock/a", "one"), RunName("mock/a #2", "two")
COLUMNS = ["model", "score [95%]", "Δ − n", "Holm p (ΔLMS)", "scored", "bounds", "verdict"]
ROWS = [
    [FIRST, Interval(0.5, 0.1, 0.2, 7, "small_n"), 1234, 0.0421, OutOf(6, 8), Between(0.25, 0.75),
     "a − b higher"],
    [FIRST.minus(SECOND), Interval(NAN, NAN, NAN, 0), 0, NAN, OutOf(0, 0), Between(NAN, NAN), "–"],
    ["the mean", Interval(2.5, 0.0, INF, 30), -3, INF, OutOf(1, 1), Between(0.0, 1.0), "two\nlines"],
]  # fmt: skip
TABLE = Table("first", "A title", COLUMNS, ROWS, run="whole")
NUMBERS = ("value", "lower", "upper", "n")


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def frame(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), float_precision="round_trip")


def test_each_cell_is_a_line_of_numbers_or_of_text():
    found = lines(to_csv(Report("R", [TABLE])))
    assert tuple(found[0]) == HEADER
    assert len(found) == len(ROWS) * (len(COLUMNS) - 1)
    by = {(r["row"], r["column"]): [r[k] for k in (*NUMBERS, "flag", "text")] for r in found}
    assert by["mock/a", "score"] == ["0.5", "0.1", "0.2", "7", "small_n", ""]
    assert by["mock/a", "difference_minus_n"] == ["1234", "", "", "", "", ""]
    assert by["mock/a", "holm_p_difference_lms"] == ["0.0421", "", "", "", "", ""]
    assert by["mock/a", "scored"] == ["6", "", "", "8", "", ""]
    assert by["mock/a", "bounds"] == ["", "0.25", "0.75", "", "", ""]
    assert by["mock/a", "verdict"] == ["", "", "", "", "", "a - b higher"]
    pair = "mock/a - mock/a #2"
    assert by[pair, "score"] == ["", "", "", "0", "", ""]
    assert by[pair, "verdict"] == by[pair, "holm_p_difference_lms"] == [""] * 6
    assert by["the mean", "score"] == ["2.5", "0.0", "", "30", "", ""]
    assert by["the mean", "verdict"][-1] == "two\nlines"


def test_rows_name_their_runs():
    found = {(r["row"], r["run_id"], r["run_id_2"]) for r in lines(to_csv(Report("R", [TABLE])))}
    assert found == {
        ("mock/a", "one", ""), ("mock/a - mock/a #2", "one", "two"), ("the mean", "whole", ""),
    }  # fmt: skip


def test_figures_have_names_and_no_two_are_one():
    rows = [["  missing answers (worst)", 1.0], ["Missing answers: worst", 2.0]]
    table = Table("t", "T", ["figure", "value"], rows)
    assert [r["row"] for r in lines(to_csv(Report("R", [table])))] == [
        "missing_answers_worst", "missing_answers_worst #2",
    ]  # fmt: skip
    twice = replace(table, columns=["model", "A b", "a-B"], rows=[["m", 1, 2]])
    assert [r["column"] for r in lines(to_csv(Report("R", [twice])))] == ["a_b", "a_b_2"]


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("difference [95%]", "difference"), ("harmless − logical", "harmless_minus_logical"),
        ("ΔLMS", "difference_lms"), ("P_lex", "p_lex"), ("yes/no", "yes_no"),
        ("Fürsorge", "fursorge"), ("公平", "column"),
    ],
)  # fmt: skip
def test_a_heading_as_a_name(heading, name):
    assert column_name(heading) == name


def test_other_forms_show_counts_and_bounds_as_before():
    assert shown(OutOf(6, 8)) == "6/8"
    assert shown(Between(0.25, NAN)) == "0.250 to –"


# --- of real commands ---------------------------------------------------------------------------


COMMANDS = (
    ["show"], ["compare", "--scorer", "rubric_judge"], ["findings"], ["cost"],
)  # fmt: skip


@pytest.fixture(scope="module")
def twins(both_logs, tmp_path_factory) -> list[str]:
    """Two runs of one model, and one of another."""
    folder = tmp_path_factory.mktemp("twins")
    again = read_eval_log(both_logs[0])
    again.eval.eval_id, again.eval.task_id = "again", "again"
    write_eval_log(again, str(folder / "again.eval"))
    for i, log in enumerate(both_logs):
        shutil.copy(log.removeprefix("file://"), folder / f"{i}.eval")
    return [str(folder)]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_program_reads_every_report(words, twins, corda_logs, capsys):
    command, *rest = words
    logs = [*twins, *(corda_logs.values() if command == "show" else ())]
    assert main([command, *logs, *rest, "--format", "csv"]) == 0
    found = frame(capsys.readouterr().out)
    assert tuple(found.columns) == HEADER
    for name in NUMBERS:
        assert pd.api.types.is_numeric_dtype(found[name]), name
    for name in ("table", "column"):
        assert all(map(str.isascii, found[name]))
    assert not found.duplicated(["table", "row", "run_id", "run_id_2", "column"]).any()
    texts = pd.concat([found["text"], found["row"]]).dropna()
    assert not texts.str.contains("[−Δ†]").any()
    assert not texts.str.fullmatch(r"[-\d.,/ ]+").any(), "a number written as text"
    assert found["run_id"].notna().mean() > 0.5


def test_two_runs_of_one_model_are_told_apart(twins, capsys):
    assert main(["compare", *twins, "--scorer", "rubric_judge", "--format", "csv"]) == 0
    found = frame(capsys.readouterr().out)
    scores = found[found["table"].str.endswith("scores") & (found["column"] == "regular")]
    assert len(scores) == scores["run_id"].nunique() == 3
    assert "again" in {*scores["run_id"]}
    pairs = found[found["table"].str.endswith("pairs_regular")]
    assert len(pairs.groupby(["run_id", "run_id_2"])) == 3
    verdicts = pairs[pairs["column"] == "verdict"]
    assert verdicts["text"].notna().all() and verdicts["value"].isna().all()


def test_run_ids_of_copies_differ():
    runs = [rubric_run(location=f"{n}.eval").log for n in "abc"]
    for log, name in zip(runs, ("x", "x", "y"), strict=True):
        log.eval.eval_id = name
    assert run_ids(runs) == {"a.eval": "x", "b.eval": "x#2", "c.eval": "y"}
