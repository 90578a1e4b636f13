"""Folders of logs as they really are: what counts, what is left out, and that it is said."""

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalError, EvalLog, read_eval_log, write_eval_log
from inspect_ai.scorer import match

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.__main__ import main
from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.frames import criteria_df, scenarios_df
from moral_evals.reports.runs.rubric_runs import rubric_runs
from tests.mocks import always, run, thinking
from tests.reports.conftest import corda_log, dilemmas, grader

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> EvalLog:
    """Four dilemmas, all scored."""
    folder = tmp_path_factory.mktemp("whole")
    task = morebench(data=dilemmas(folder), judge_cache=False)
    reply = always(thinking("steady thinks.", "steady decides."))
    return read_eval_log(run(task, reply, grader(), log_dir=str(folder)).location)


@pytest.fixture(scope="module")
def chains(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("chains")
    return corda_log(folder, "welfare-first", ["unconditioned"], chains=4).removeprefix("file://")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory) -> EvalLog:
    """A run of a task that is none of ours."""
    folder = str(tmp_path_factory.mktemp("foreign"))
    task = Task(MemoryDataset([Sample("1?", target="1")]), scorer=match(), name="sums")
    (log,) = eval(task, model="mockllm/model", display="none", log_dir=folder)
    return read_eval_log(log.location)


@pytest.fixture
def make(whole, tmp_path) -> Make:
    """Writes the log, changed: its name, its eval id, how many samples are done, when."""

    def write(
        name: str, eval_id: str = "", done: int = 4, minute: int = 0, status: str = ""
    ) -> Path:
        log = whole.model_copy(deep=True)
        log.eval.eval_id = eval_id or log.eval.eval_id
        log.eval.created = f"2026-01-01T00:{minute:02d}:00+00:00"
        log.status = status or ("success" if done == 4 else "cancelled")
        for sample in log.samples:
            sample.uuid = f"{sample.id} {sample.epoch} of {log.eval.eval_id}"
        for sample in log.samples[done:]:
            sample.scores, sample.error = (
                None,
                EvalError(message="x", traceback="", traceback_ansi=""),
            )
        if done < 4:
            log.results.completed_samples = done
            _count(log, done)
        return written(log, tmp_path / name)

    return write


def _count(log: EvalLog, scored: int) -> None:
    """Figures of the header as an interrupted run would write them."""
    for score in log.results.scores:
        if "regular" in score.metrics:
            score.metrics["scored"].value = scored
            numbers = [s.scores["rubric_judge"].value["score"] for s in log.samples if s.scores]
            score.metrics["regular"].value = sum(numbers) / len(numbers) if numbers else 0


def written(log: EvalLog, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, str(path))
    return path


def names(folder: Path | str) -> list[str]:
    return [Path(log.name).name for log in find_logs([str(folder)]).logs]


def lines(folder: Path) -> list[str]:
    return [line.replace(f"{folder}/", "") for line in find_logs([str(folder)]).lines]


# --- a run and its continuations ----------------------------------------------------------------


def test_a_run_and_its_continuation_count_once(make, tmp_path):
    make("first.eval", "one", done=2)
    make("second.eval", "two", minute=5)
    assert names(tmp_path) == ["second.eval"]
    assert lines(tmp_path) == [
        "Left out: first.eval: superseded by second.eval, the newest complete log of the same "
        "task id."
    ]


def test_of_several_complete_logs_the_newest_counts(make, tmp_path):
    make("a.eval", "one")
    make("b.eval", "two", minute=9)
    make("c.eval", "three", minute=5)
    assert names(tmp_path) == ["b.eval"]


def test_a_complete_log_stands_before_a_newer_one_that_is_not(make, tmp_path):
    make("a.eval", "one")
    make("b.eval", "two", done=3, minute=9)
    make("c.eval", "three", done=3, minute=10, status="success")
    assert names(tmp_path) == ["a.eval"]


def test_a_retry_of_a_retry_that_none_completed_leaves_the_fullest(make, tmp_path):
    make("a.eval", "one", done=1)
    make("b.eval", "two", done=3, minute=5)
    make("deep/c.eval", "three", done=2, minute=9)
    assert names(tmp_path) == ["b.eval"]
    assert lines(tmp_path)[-1].endswith("the fullest log of the same task id, 3 samples scored.")


def test_equal_times_still_leave_one(make, tmp_path):
    make("a.eval", "one")
    make("b.eval", "two")
    assert len(names(tmp_path)) == 1
    assert len(lines(tmp_path)) == 1


def test_the_same_task_id_under_another_model_is_another_run(make, whole, tmp_path):
    make("a.eval", "one")
    other = whole.model_copy(deep=True)
    other.eval.model = "mockllm/other"
    written(other, tmp_path / "b.eval")
    assert sorted(names(tmp_path)) == ["a.eval", "b.eval"]


# --- copies -------------------------------------------------------------------------------------


def test_a_copy_is_called_a_copy(make, tmp_path):
    original = make("z/original.eval")
    shutil.copy(original, tmp_path / "copy.eval")
    assert len(names(tmp_path)) == 1
    (line,) = lines(tmp_path)
    assert line.startswith("Left out: ")
    assert ": copy of " in line


@pytest.mark.parametrize("eval_id", ["", "new"])
def test_of_a_rescored_copy_every_score_counts_once(make, whole, tmp_path, eval_id):
    make("a.eval")
    log = read_eval_log(str(tmp_path / "a.eval"))
    log.eval.eval_id = eval_id or log.eval.eval_id
    for sample in log.samples:
        sample.scores["rubric_judge1"] = sample.scores["rubric_judge"].model_copy(deep=True)
        sample.scores["rubric_judge1"].metadata["judge"] = "mockllm/other"
    extra = [s.model_copy(update={"scorer": "rubric_judge1"}) for s in log.results.scores[:1]]
    log.results.scores += extra
    written(log, tmp_path / "b.eval")
    assert names(tmp_path) == ["b.eval"]
    assert [r.scorer for r in rubric_runs([str(tmp_path)])] == ["rubric_judge", "rubric_judge1"]


def test_a_copy_with_another_judging_in_place_of_the_first_counts_too(make, tmp_path):
    make("a.eval")
    log = read_eval_log(str(tmp_path / "a.eval"))
    for sample in log.samples:
        sample.scores["rubric_judge"].metadata["judges"] = [{"model": "mockllm/other"}]
    written(log, tmp_path / "b.eval")
    assert sorted(names(tmp_path)) == ["a.eval", "b.eval"]
    assert len(rubric_runs([str(tmp_path)])) == 2


# --- files that give nothing --------------------------------------------------------------------


def spoiled(folder: Path, good: Path) -> None:
    """Every kind of file that is no log, beside a good one."""
    data = good.read_bytes()
    (folder / "cut.eval").write_bytes(data[: len(data) // 2])
    (folder / "empty.eval").write_bytes(b"")
    (folder / "text.eval").write_text("not a log", encoding="utf-8")
    (folder / "2026-01-01T00-00-00_x_y.json").write_text('{"a": 1}', encoding="utf-8")
    (folder / "other.json").write_text("{}", encoding="utf-8")
    (folder / "folder.eval").mkdir()


def test_bad_files_are_named_and_the_rest_reported(make, tmp_path):
    spoiled(tmp_path, make("good.eval"))
    shutil.move(tmp_path / "good.eval", tmp_path / "folder.eval/good.eval")
    assert names(tmp_path) == ["good.eval"]
    bad = sorted(line.split(": ")[1] for line in lines(tmp_path))
    assert bad == ["2026-01-01T00-00-00_x_y.json", "cut.eval", "empty.eval", "text.eval"]
    assert all(": not a readable Inspect log (" in line for line in lines(tmp_path))
    for named in ("cut.eval", "empty.eval"):
        with pytest.raises(SuiteError, match=rf"{named}: not a readable Inspect log"):
            find_logs([str(tmp_path), str(tmp_path / named)])
    assert names(tmp_path / "folder.eval") == ["good.eval"]


def test_where_nothing_is_left_every_file_is_named(make, foreign, tmp_path, capsys):
    spoiled(tmp_path, make("good.eval"))
    (tmp_path / "good.eval").unlink()
    written(foreign, tmp_path / "sums.eval")
    unfinished = foreign.model_copy(update={"results": None, "status": "started"})
    unfinished.eval.task_id += "2"
    written(unfinished, tmp_path / "unfinished.eval")
    for command in (["show"], ["compare"], ["findings"], ["page", "--out", str(tmp_path / "p")]):
        assert main([command[0], str(tmp_path), *command[1:]]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        for name in ("cut.eval", "empty.eval", "text.eval", "sums.eval", "unfinished.eval"):
            assert name in line


def test_samples_that_cannot_be_read_leave_the_other_logs(chains, make, tmp_path):
    """The end of the file, with header and summaries, is whole; a sample is not."""
    make("good.eval")
    bad = tmp_path / "bad.eval"
    data = bytearray(Path(chains).read_bytes())
    at = data.index(b"samples/")
    data[at + 60 : at + 600] = bytes(540)
    bad.write_bytes(data)
    found = find_logs([str(tmp_path)])
    assert corda_runs(found) == []
    assert any("bad.eval: not a readable Inspect log" in line for line in found.lines)
    assert len(rubric_runs(found)) == 1


def test_an_export_takes_no_row_of_a_log_that_breaks_off(make, tmp_path, capsys):
    data = bytearray(make("good.eval").read_bytes())
    at = data.rindex(b"samples/case-3", 0, data.index(b"summaries.json"))
    data[at + 60 : at + 600] = bytes(540)
    (tmp_path / "bad.eval").write_bytes(data)
    arguments = ["--out", str(tmp_path / "set")]
    assert main(["export-rewards", str(tmp_path / "bad.eval"), *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "bad.eval: not a readable Inspect log" in line
    (tmp_path / "other").mkdir()
    log = read_eval_log(str(tmp_path / "good.eval"))
    log.eval.task_id = log.eval.eval_id = "other"
    written(log, tmp_path / "good.eval")
    assert main(["export-rewards", str(tmp_path), *arguments]) == 0
    assert "Left out: " in capsys.readouterr().err
    assert len((tmp_path / "set/rewards.jsonl").read_text("utf-8").splitlines()) == 4


# --- header and samples -------------------------------------------------------------------------


def test_figures_come_from_the_samples_where_the_header_disagrees(whole, tmp_path, capsys):
    log = whole.model_copy(deep=True)
    log.status = "cancelled"
    entry = next(s for s in log.results.scores if "regular" in s.metrics)
    right = entry.metrics["regular"].value
    entry.metrics["scored"].value, entry.metrics["regular"].value = 3, 0.123
    path = written(log, tmp_path / "a.eval")
    found = find_logs([str(path)], figures=True)
    assert lines(tmp_path) == [
        "a.eval: the header counts 3 scored by rubric_judge, the file holds 4; figures are "
        "computed from the samples."
    ]
    (fresh,) = [s for s in found.logs[0].header.results.scores if "regular" in s.metrics]
    assert fresh.metrics["regular"].value == pytest.approx(right)
    assert fresh.metrics["scored"].value == 4
    assert main(["show", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "scored 4 of 4" in printed
    assert "0.123" not in printed
    assert "the header counts 3" in printed


def test_an_edited_score_is_seen_although_the_counts_agree(whole, tmp_path):
    log = whole.model_copy(deep=True)
    log.samples[0].scores["rubric_judge"].value["score"] += 0.25
    written(log, tmp_path / "a.eval")
    (line,) = lines(tmp_path)
    assert "the header's rubric_judge is 0.0625 off the mean of the file's scores" in line


def test_rollouts_that_the_header_does_not_know_are_counted(chains, tmp_path):
    log = read_eval_log(chains)
    total, entry = len(log.samples), log.results.scores[0]
    right = {name: metric.value for name, metric in entry.metrics.items()}
    entry.scored_samples -= 1
    lms = next(name for name in right if name.endswith("lms"))
    entry.metrics[lms].value += 0.25
    written(log, tmp_path / "a.eval")
    found = find_logs([str(tmp_path)])
    assert f"the header counts {total - 1} scored by lexicographic" in found.lines[0]
    (fresh,) = found.logs[0].header.results.scores
    assert fresh.scored_samples == total
    assert fresh.metrics[lms].value == pytest.approx(right[lms])
    assert fresh.metrics.keys() == right.keys()


def test_a_sound_log_is_left_alone(whole, chains, both_logs, tmp_path):
    found = find_logs([whole.location, chains, *both_logs])
    assert found.lines == []
    assert len(found.logs) == 4


# --- the same lines everywhere ------------------------------------------------------------------

REPORTS = {
    "show": [],
    "compare": [],
    "compare --format json": ["--format", "json"],
    "compare --format csv": ["--format", "csv"],
    "compare --format latex": ["--format", "latex"],
    "compare --format markdown": ["--format", "markdown"],
    "compare --latex-row": ["--latex-row"],
    "findings": [],
    "cost": [],
    "page": ["--no-figures", "--out", "OUT/page.html"],
    "export-rewards": ["--out", "OUT/rewards"],
}


@pytest.fixture(scope="module")
def untidy(whole, foreign, tmp_path_factory) -> Path:
    """A folder with everything."""
    folder = tmp_path_factory.mktemp("untidy")
    good = written(whole, folder / "good.eval")
    spoiled(folder, good)
    written(foreign, folder / "sums.eval")
    shutil.copy(good, folder / "again.eval")
    log = whole.model_copy(deep=True)
    log.eval.eval_id, log.status = "older", "cancelled"
    log.eval.created = "2020-01-01T00:00:00+00:00"
    for sample in log.samples:
        sample.uuid += "older"
    written(log, folder / "older.eval")
    return folder


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_names_what_it_left_out(untidy, report, tmp_path, capsys):
    rest = [a.replace("OUT", str(tmp_path)) for a in REPORTS[report]]
    assert main([report.split()[0], str(untidy), *rest]) == 0
    printed = capsys.readouterr()
    said = printed.out + printed.err
    if report == "compare --format json":
        said = "\n".join(json.loads(printed.out)["notes"])
    if report == "compare --format markdown":
        said = said.replace("\\", "")
    expected = find_logs([str(untidy)], scored=report != "cost").lines
    assert len(expected) == (6 if report == "cost" else 7)
    for line in expected:
        assert line in said
    assert said.count("Left out: ") == len(expected)
    if report == "page":
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert page.count("Left out: ") == len(expected)


@pytest.mark.parametrize("frame", [scenarios_df, criteria_df])
def test_frames_hold_what_counts_and_warn_of_the_rest(untidy, frame):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = frame(str(untidy))
    said = [str(w.message) for w in caught if "Left out" in str(w.message)]
    assert said == find_logs([str(untidy)]).lines
    assert len(set(table["log"])) == 1
    assert len(set(table["eval_id"])) == 1


def test_a_log_of_the_other_benchmark_is_named_by_a_report_on_one(whole, chains, tmp_path, capsys):
    written(whole, tmp_path / "rubric.eval")
    shutil.copy(chains, tmp_path / "chains.eval")
    assert main(["findings", str(tmp_path)]) == 0
    assert "chains.eval: no MoReBench score taken" in capsys.readouterr().out
    assert main(["compare", str(tmp_path)]) == 0
    assert "Left out" not in capsys.readouterr().out
