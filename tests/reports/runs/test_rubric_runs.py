"""Arrays over scenarios from summaries alone: the same as from full samples, in any form of log."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
from inspect_ai.log import EvalError, EvalLog, EvalSample, read_eval_log, write_eval_log
from inspect_ai.scorer import SampleScore

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_key
from moral_evals.reports.runs.logs import log_files, read
from moral_evals.reports.runs.rubric_runs import VALUES, RubricRun, prefix_of, rubric_runs
from moral_evals.scorers.rubric.scenario_table import GROUPS, ScenarioTable
from tests.mocks import always, mock, run, thinking
from tests.reports.conftest import SKILL, candidate, dilemmas, grader

LONG = "A long text that a summary would cut. " * 300


def of_samples(log: EvalLog, scorer: str = "rubric_judge") -> ScenarioTable:
    """The table that the metrics themselves are made from."""
    scores = [
        SampleScore(score=s.scores[scorer], sample_id=s.id, sample_metadata=s.metadata)
        for s in log.samples
        if s.scores and scorer in s.scores
    ]
    return ScenarioTable.build(scores, prefix_of(scorer))


def in_order_of_content(log: EvalLog) -> list[str]:
    """Ids by the dilemma's hash, then the theory: neither the file's order nor the ids lead."""

    def content(sample: EvalSample) -> tuple[str, str, str]:
        text = "\n".join([sample.input] if isinstance(sample.input, str) else [
            message.text for message in sample.input
        ])  # fmt: skip
        theory = sample.metadata.get("theory") or ""
        return hashlib.sha256(text.encode()).hexdigest(), theory, str(sample.id)

    return list(dict.fromkeys(str(s.id) for s in sorted(log.samples, key=content)))


def same(found: RubricRun, log: EvalLog) -> None:
    """Refuse any number or label that the full samples do not have."""
    table = of_samples(log, found.scorer)
    every = in_order_of_content(log)
    assert list(found.ids) == every
    at = [every.index(i) for i in table.ids]
    lost = np.setdiff1d(np.arange(len(every)), at)
    for key in VALUES:
        np.testing.assert_array_equal(found.values[key][at], table.mean_of(key), key)
        assert np.isnan(found.values[key][lost]).all()
    by_id = {str(s.id): s.metadata for s in log.samples}
    for group in GROUPS:
        assert list(found.labels[group]) == [by_id[i].get(group) or "" for i in every]
    assert found.scored == table.scored
    assert found.samples == len(log.samples)


@pytest.mark.parametrize("name", SKILL)
def test_summaries_give_the_arrays_of_full_samples(rubric_logs, name):
    (found,) = rubric_runs([rubric_logs[name]])
    log = read_eval_log(rubric_logs[name])
    same(found, log)
    assert found.model == f"mockllm/{name}"
    assert found.scorer == "rubric_judge"
    assert 0 < found.scored < found.samples == 27
    assert found.trace == "raw"
    assert set(VALUES) >= {"score", "length", *map(dimension_key, DIMENSIONS)}


def test_two_scores_of_a_log_are_two_runs(both_logs):
    log = read_eval_log(both_logs[0])
    found = rubric_runs([both_logs[0]])
    assert [r.scorer for r in found] == ["rubric_judge", "rubric_judge_response"]
    for one in found:
        same(one, log)
    assert not np.array_equal(found[0].values["length"], found[1].values["length"], True)


def test_long_texts_and_many_criteria_lose_nothing(tmp_path):
    judge = mock(lambda m: "yes" if "Sees 0" in m[-1].text else "no")
    log = run(
        morebench(data=dilemmas(tmp_path), judge_cache=False), always(thinking(LONG, LONG)), judge,
        log_dir=str(tmp_path), log_realtime=False,
    )  # fmt: skip
    (found,) = rubric_runs([log.location])
    same(found, read_eval_log(log.location))
    assert found.values["length"].tolist() == [len(LONG.strip())] * 4


def test_epochs_are_averaged_and_samples_counted_twice(tmp_path):
    count = iter(range(1000))
    judge = mock(lambda m: "yes" if next(count) % 3 else "no")
    log = run(
        morebench(data=dilemmas(tmp_path), judge_cache=False), always(thinking("I weigh.", "So.")),
        judge, epochs=2, log_dir=str(tmp_path), log_realtime=False,
    )  # fmt: skip
    (found,) = rubric_runs([log.location])
    same(found, read_eval_log(log.location))
    assert (len(found.ids), found.scored, found.samples) == (4, 8, 8)


# --- samples that have no score ---------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> EvalLog:
    folder = tmp_path_factory.mktemp("plain")
    task = morebench(data=dilemmas(folder, 6), judge_cache=False)
    log = run(task, candidate("quick"), grader(), log_dir=str(folder), log_realtime=False)
    assert log.status == "success"
    return log


def written(log: EvalLog, folder: Path, name: str = "log.eval") -> str:
    path = str(folder / name)
    write_eval_log(log, path)
    return path


def test_errors_missing_scores_and_absent_samples(log, tmp_path):
    log = log.model_copy(deep=True)
    error = EvalError(message="lost", traceback="", traceback_ansi="")
    log.samples[0].error = error
    log.samples[0].scores = None
    log.samples[1].scores = {}
    del log.samples[2].scores["rubric_judge"]
    log.samples[3].scores["rubric_judge"].value = {"score": math.nan}
    lost = [log.samples[i].id for i in range(4)]
    (found,) = rubric_runs([written(log, tmp_path)])
    same(found, log)
    assert len(found.ids) == 6
    assert np.isnan(found.over(lost, "score")).all()
    assert found.scored == 2
    del log.samples[:4]
    log.results.total_samples = 6
    (found,) = rubric_runs([written(log, tmp_path)])
    assert (len(found.ids), found.scored, found.samples) == (2, 2, 6)
    assert np.isnan(found.over([lost[0]], "score")[0])
    assert found.over(found.ids, "score").tolist() == found.values["score"].tolist()


def test_kinds_of_trace_are_counted_among_the_scored(log, tmp_path):
    log = log.model_copy(deep=True)
    for sample, kind in zip(log.samples, ("raw", "summary", "summary", "none"), strict=False):
        sample.scores["rubric_judge"].metadata["trace_kind"] = kind
    log.samples[3].scores["rubric_judge"].value["score"] = math.nan
    (found,) = rubric_runs([written(log, tmp_path)])
    assert found.traces == {"raw": 3, "summary": 2}
    assert found.trace in ("mixed: 3 raw, 2 summary", "mixed: 2 summary, 3 raw")
    log.samples[:] = log.samples[3:4]
    (found,) = rubric_runs([written(log, tmp_path)])
    assert found.trace == "unknown"


def test_a_log_without_scores_is_no_run(log, tmp_path, corda_logs):
    log = log.model_copy(deep=True)
    log.results = None
    assert rubric_runs([written(log, tmp_path), *corda_logs.values()]) == []


# --- files and folders ------------------------------------------------------------------------


def test_a_json_log_gives_the_same(log, tmp_path):
    (binary,) = rubric_runs([written(log, tmp_path)])
    (text,) = rubric_runs([written(log, tmp_path, "log.json")])
    same(text, log)
    assert text.conditions == binary.conditions
    assert text.traces == binary.traces
    for key in VALUES:
        np.testing.assert_array_equal(text.values[key], binary.values[key])


def test_files_and_folders_each_log_once(log, tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    dated = "2026-01-02T03-04-05+00-00_morebench_abc.json"  # Inspect lists no other .json
    for name in ("a.eval", dated, "deep/c.eval"):
        written(log, tmp_path, name)
    monkeypatch.chdir(tmp_path)
    assert len(log_files([str(tmp_path)])) == 3
    assert len(log_files(["."])) == 3
    for paths in (
        ["a.eval", str(tmp_path / "a.eval"), f"file://{tmp_path}/a.eval", "./a.eval"],
        ["deep", "deep/c.eval"],
    ):
        assert len(log_files(paths)) == 1
        assert len(rubric_runs(paths)) == 1
    assert log_files(["a.eval", "."])[0] == "a.eval", "in the order given"
    assert len(log_files(["a.eval", "."])) == 3


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none.eval", "none.eval: no such file."),
        ("none.json", "none.json: no such file."),
        ("none", "none: no Inspect log here."),
        ("empty", "empty: no Inspect log here."),
        ("nowhere://bucket", "nowhere://bucket: cannot be listed ("),
        ("broken.eval", "broken.eval: not a readable Inspect log ("),
        ("broken.json", "broken.json: not a readable Inspect log ("),
        ("other.json", "other.json: not a readable Inspect log ("),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(tmp_path, monkeypatch, path, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in ("broken.eval", "broken.json"):
        (tmp_path / name).write_text("not a log", encoding="utf-8")
    (tmp_path / "other.json").write_text('{"version": 2, "a": [1, 2]}', encoding="utf-8")
    with pytest.raises(SuiteError) as refused:
        rubric_runs([path])
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_log_cut_in_the_middle_is_named(log, tmp_path):
    path = Path(written(log, tmp_path))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(SuiteError, match=r"log\.eval: not a readable Inspect log"):
        rubric_runs([str(path)])


def test_headers_are_read_without_samples(log, tmp_path):
    header = read(written(log, tmp_path), header_only=True)
    assert header.samples is None
    assert header.eval.model == "mockllm/quick"
