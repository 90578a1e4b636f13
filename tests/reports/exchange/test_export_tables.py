"""Tidy tables: their types, their keys, and the figures of `show` made anew from them."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from inspect_ai.log import read_eval_log

from moral_evals.reports.__main__ import main
from moral_evals.reports.exchange.export_tables import tidy_tables, write_tables
from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.rubric_runs import prefix_of
from moral_evals.reports.runs.sample_scores import summary_scores
from moral_evals.scorers.rubric.scenario_table import ScenarioTable, headline
from tests.mocks import always, run, thinking
from tests.reports.conftest import dilemmas, small_log

TABLES = ("runs", "scenarios", "criteria", "corda_steps")
PARQUET = {"text": "large_string", "integer": "int64", "number": "double", "boolean": "bool"}
PAGE = Path(__file__).parents[3] / "docs" / "export.md"


@pytest.fixture(scope="module")
def logs(rubric_logs, both_logs, corda_logs) -> list[str]:
    return [*rubric_logs.values(), *both_logs, *corda_logs.values()]


@pytest.fixture(scope="module")
def tables(logs, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("export") / "tables"
    assert main(["export", *logs, "--words", "--out", str(out)]) == 0
    return out


def read(folder: Path, table: str) -> pd.DataFrame:
    return pd.read_parquet(folder / f"{table}.parquet")


# --- form -------------------------------------------------------------------------------------


def test_every_column_has_the_type_that_the_dictionary_says(tables):
    dictionary = pd.read_csv(tables / "dictionary.csv")
    assert list(dictionary.columns) == ["table", "column", "type", "allowed", "meaning"]
    assert not dictionary.isna().any(axis=None)
    assert {*dictionary["table"]} == {*TABLES, "words"}
    for table, entries in dictionary.groupby("table"):
        schema = pq.read_schema(tables / f"{table}.parquet")
        assert schema.names == [*entries["column"]]
        for name, kind in zip(entries["column"], entries["type"], strict=True):
            assert re.fullmatch("[a-z][a-z0-9_]*", name)
            found = str(schema.field(name).type)
            assert found == PARQUET[kind] or (kind, found) == ("text", "string")
    page = (tables / "dictionary.md").read_text(encoding="utf-8")
    assert all(meaning.split(";")[0][:20] in page for meaning in dictionary["meaning"])


def test_csv_holds_what_parquet_holds(tables):
    types = {"text": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}
    dictionary = pd.read_csv(tables / "dictionary.csv")
    for table, entries in dictionary.groupby("table"):
        kinds = {n: types[k] for n, k in zip(entries["column"], entries["type"], strict=True)}
        csv = pd.read_csv(
            tables / f"{table}.csv", dtype=kinds, keep_default_na=False, na_values=[""],
            float_precision="round_trip",
        )  # fmt: skip
        pd.testing.assert_frame_equal(csv, read(tables, table).astype(kinds), check_exact=True)


def test_the_tables_join(tables):
    runs = read(tables, "runs")
    assert not runs.duplicated(["run_id", "scorer"]).any()
    for table in ("scenarios", "criteria", "corda_steps", "words"):
        joined = read(tables, table).merge(
            runs[["run_id", "scorer", "benchmark"]], on=["run_id", "scorer"], validate="m:1"
        )
        assert len(joined) == len(read(tables, table)) > 0
    keys = ["run_id", "scorer", "sample_id"]
    scenarios, criteria = read(tables, "scenarios"), read(tables, "criteria")
    assert not scenarios.duplicated(keys).any()
    assert not criteria.duplicated([*keys, "criterion_id"]).any()
    assert len(criteria.merge(scenarios, on=keys, validate="m:1")) == len(criteria)


def test_scores_are_made_of_the_criteria(tables):
    keys = ["run_id", "scorer", "sample_id"]
    graded = read(tables, "criteria").dropna(subset="fulfilled")
    size = graded["weight"].abs()
    won = (size * graded["fulfilled"]).groupby([graded[k] for k in keys]).sum()
    shares = won / size.groupby([graded[k] for k in keys]).sum()
    scores = read(tables, "scenarios").set_index(keys)["score"].dropna()
    np.testing.assert_allclose(
        scores.to_numpy(float), shares.loc[scores.index].to_numpy(float), atol=1e-12
    )


def test_judges_words_stand_beside_the_verdicts(tables, both_logs):
    words = read(tables, "words")
    said = {w: words["reply"].str.fullmatch(w).sum() for w in ("yes", "no", "hard to say")}
    assert sum(said.values()) == len(words) and min(said["yes"], said["no"]) > 0
    last = words.groupby(["run_id", "scorer", "sample_id", "criterion_id"])["reply"].last()
    criteria = read(tables, "criteria").merge(last.reset_index(), how="left")
    asked = criteria.dropna(subset="reply")
    assert len(asked) > 0.9 * len(criteria)
    graded = asked[asked["verdict"] != "ungraded"]
    assert (graded["reply"] == graded["verdict"]).all()


def test_votes_of_a_panel_are_counted(tmp_path):
    panel = [always("yes"), always("no"), always("yes")]
    data = dilemmas(tmp_path, 1)
    log = run(_morebench(data), always(thinking("t", "r")), panel, log_dir=str(tmp_path / "logs"))
    (criteria,) = (t.frame for t in tidy_tables([log.location]) if t.name == "criteria")
    assert {*zip(criteria["votes_yes"], criteria["votes_no"], criteria["votes_ungraded"],
                 strict=True)} == {(2, 1, 0)}  # fmt: skip


def _morebench(data: str):
    from moral_evals.inspect_tasks.morebench import morebench

    return morebench(data=data, judge_cache=False)


def test_a_table_without_rows_keeps_its_columns_and_types(corda_logs, tables, tmp_path):
    write_tables(tidy_tables([corda_logs["welfare-first"]]), tmp_path / "out")
    for name in TABLES:
        empty = pq.read_schema(tmp_path / "out" / f"{name}.parquet")
        full = pq.read_schema(tables / f"{name}.parquet")
        fixed = [n for n in full.names if not n.startswith("dim_")]
        assert [str(empty.field(n).type) for n in fixed] == [str(full.field(n).type) for n in fixed]
    assert len(read(tmp_path / "out", "scenarios")) == 0


def test_two_logs_of_one_run_have_two_ids(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    first = small_log(folder, "steady")
    again = read_eval_log(first.location)
    shutil.copy(first.location.removeprefix("file://"), tmp_path / "again.eval")
    found = find_logs([first.location])
    found.logs.append(find_logs([str(tmp_path / "again.eval")]).logs[0])
    (runs,) = (t.frame for t in tidy_tables(found) if t.name == "runs")
    assert [*runs["run_id"]] == [again.eval.eval_id, f"{again.eval.eval_id}#2"]


def test_files_are_not_written_over_unasked_and_lines_are_said(tables, logs, tmp_path, capsys):
    assert main(["export", logs[0], "--out", str(tables)]) == 1
    assert "runs.csv: exists already; say --overwrite" in capsys.readouterr().err
    (tmp_path / "logs").mkdir()
    shutil.copy(logs[0].removeprefix("file://"), tmp_path / "logs" / "a.eval")
    (tmp_path / "logs" / "cut.eval").write_bytes(b"PK")
    assert main(["export", str(tmp_path / "logs"), "--out", str(tmp_path / "out")]) == 0
    assert "Left out" in capsys.readouterr().err


# --- figures ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def anew(tables) -> dict:
    """What the page's own code finds, run beside the tables."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tables.parent)
        exec(compile("\n".join(code), str(PAGE), "exec"), names)
    return names["found"]


def test_the_page_makes_the_intervals_of_show_anew(anew, rubric_logs, both_logs):
    found = find_logs([*rubric_logs.values(), *both_logs])
    compared = 0
    for log in found.logs:
        for score in (s for s in log.header.results.scores if "regular" in s.metrics):
            # what `show` prints, whatever the order in which it resamples
            scores = summary_scores(log, score.scorer)
            said = headline(ScenarioTable.build(scores, prefix_of(score.scorer)))
            for name in ("regular", "hard"):
                want = said[name]
                if want.flag == "degenerate" or not np.isfinite(want.lower):
                    continue
                got = anew[log.header.eval.eval_id, score.scorer, name]
                np.testing.assert_allclose(
                    got, (want.estimate, want.lower, want.upper), rtol=0, atol=1e-12
                )
                compared += 1
    assert compared >= 6


def test_the_page_makes_lms_anew(anew, corda_logs):
    for made in corda_runs(list(corda_logs.values())):
        for condition in made.table.arms:
            want = made.figures[f"{condition}.lms"]
            got = anew[made.log.eval.eval_id, made.score.scorer, condition]
            assert got[0] == pytest.approx(want.estimate, abs=1e-12)
            if want.flag != "degenerate":
                # cut to what is possible
                ends = np.clip(got[1:], 0, 1)
                np.testing.assert_allclose(ends, (want.lower, want.upper), rtol=0, atol=1e-12)


def test_show_prints_the_same(anew, rubric_logs, capsys):
    log = rubric_logs["steady"]
    assert main(["show", log]) == 0
    printed = capsys.readouterr().out
    estimate, lower, upper = anew[
        read_eval_log(log, header_only=True).eval.eval_id, "rubric_judge", "regular"
    ]
    assert f"{estimate:.3f} [{lower:.3f}, {upper:.3f}]" in printed
