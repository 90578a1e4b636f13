"""`compare` on MoReBench: every figure from the verdicts in the logs, by an independent way."""

import hashlib
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, write_eval_log

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import DIMENSIONS
from moral_evals.reports.compare.command import compare
from moral_evals.reports.form.document import OutOf, Report, Table
from moral_evals.reports.runs.choice import Choice
from moral_evals.reports.runs.remarks import UNCONTRASTED
from moral_evals.scorers.rubric_judge import rubric_judge
from moral_evals.scorers.stats.bootstrap import Interval
from tests.mocks import always, mock, run, thinking
from tests.reports import by_hand
from tests.reports.conftest import SKILL, chance, dilemmas, grader, small_log

EXACT = {"rel": 0, "abs": 1e-9}

TRACES = Choice(("rubric_judge",))


def table(report: Report, name: str) -> Table:
    (found,) = [t for t in report.tables if t.name == name]
    return found


def cells(found: Table) -> dict[str, dict]:
    """Cells by row and column."""
    columns = found.columns[1:]
    return {row[0]: dict(zip(columns, row[1:], strict=True)) for row in found.rows}


def ends(cell: Interval) -> tuple[float, float, float]:
    return cell.estimate, cell.lower, cell.upper


# --- from the verdicts in a log's samples to scores -------------------------------------------


@dataclass
class Measured:
    """One number a sample, nan where there is none."""

    score: np.ndarray
    length: np.ndarray
    graded: np.ndarray
    refused: np.ndarray
    dimensions: dict[str, np.ndarray]


def share(criteria: list[dict], verdicts: dict[str, str]) -> float:
    """Weight earned over weight graded."""
    earned = graded = 0.0
    for c in criteria:
        if verdicts.get(c["id"]) in ("yes", "no"):
            graded += abs(c["weight"])
            earned += abs(c["weight"]) * (verdicts[c["id"]] == ("yes" if c["weight"] > 0 else "no"))
    return earned / graded if graded else np.nan


def measured(log: EvalLog, scorer: str = "rubric_judge", judged: str = "trace") -> Measured:
    """Scores from verdicts, weights and the candidate's output, in an order of the dilemmas."""

    def content(sample: EvalSample) -> tuple[str, str, str]:
        digest = hashlib.sha256(sample.input.encode()).hexdigest()[:10]
        return digest, sample.metadata.get("theory") or "", str(sample.id)

    rows = []
    for sample in sorted(log.samples, key=content):
        entry = (sample.scores or {}).get(scorer)
        verdicts = (entry.metadata or {}).get("verdicts") if entry else None
        criteria = sample.metadata["criteria"]
        by_dimension = {d: [c for c in criteria if c["dimension"] == d] for d in DIMENSIONS}
        if verdicts is None:
            refused = 1.0 if entry and entry.reason == "refusal" else np.nan
            rows.append((np.nan, np.nan, np.nan, refused, dict.fromkeys(DIMENSIONS, np.nan)))
            continue
        thought, said = sample.output.choices[0].message.content
        weight = sum(abs(c["weight"]) for c in criteria)
        known = [c for c in criteria if verdicts[c["id"]] != "ungraded"]
        rows.append(
            (
                share(criteria, verdicts),
                len(thought.reasoning if judged == "trace" else said.text),
                sum(abs(c["weight"]) for c in known) / weight,
                0.0,
                {d: share(cs, verdicts) for d, cs in by_dimension.items()},
            )
        )
    score, length, graded, refused, dimensions = zip(*rows, strict=True)
    return Measured(
        *map(np.array, (score, length, graded, refused)),
        {d: np.array([row[d] for row in dimensions]) for d in DIMENSIONS},
    )


def known(*values: np.ndarray) -> np.ndarray:
    """Indices where there is any of some values."""
    return np.flatnonzero(~np.all([np.isnan(v) for v in values], axis=0))


def figures(m: Measured, at: np.ndarray) -> dict[str, by_hand.Figure]:
    """Regular and Hard over some of the samples."""
    return {
        "Regular": by_hand.share(m.score[at]),
        "Hard": by_hand.share(m.score[at], m.length[at], scale=1000),
    }


@pytest.fixture(scope="module")
def report(rubric_logs) -> Report:
    (found,) = compare(list(rubric_logs.values()))
    return found


@pytest.fixture(scope="module")
def found(rubric_logs) -> dict[str, Measured]:
    return {f"mockllm/{n}": measured(read_eval_log(path)) for n, path in rubric_logs.items()}


# --- three models with known differences ------------------------------------------------------


def test_the_models_lack_different_scenarios(found):
    missing = {frozenset(np.flatnonzero(np.isnan(m.score))) for m in found.values()}
    assert len(missing) == 3
    assert all(missing)


def test_regular_hard_and_coverage(report, found):
    shown = cells(table(report, "scores"))
    assert list(shown) == [f"mockllm/{n}" for n in SKILL], "best first"
    for name, m in found.items():
        row, n, used = shown[name], len(m.score), known(m.score)
        for title, figure in figures(m, np.arange(n)).items():
            bounds = (0, 1) if title == "Regular" else (0, np.inf)
            expected = by_hand.interval(figure, n, used, bounds=bounds)
            assert ends(row[title]) == pytest.approx(expected, **EXACT)
            assert row[title].n == len(used)
        assert row["Regular"].estimate == pytest.approx(np.nanmean(m.score), **EXACT)
        assert row["characters"] == round(np.nanmean(m.length))
        assert row["scored"] == OutOf(len(used), 27)
        assert row["graded"] == pytest.approx(np.nanmean(m.graded), **EXACT)
        assert row["refused"] == pytest.approx(np.nanmean(m.refused), **EXACT)
        assert row["trace"] == "raw"
    assert {len(known(m.score)) for m in found.values()} != {27}
    assert max(r["refused"] for r in shown.values()) > 0
    assert max(r["graded"] for r in shown.values()) < 1


def test_dimensions_and_the_gap_between_two(report, found):
    shown = cells(table(report, "dimensions"))
    for name, m in found.items():
        n, by = len(m.score), m.dimensions
        for dimension in DIMENSIONS[:-1]:
            x = by[dimension]
            expected = by_hand.interval(by_hand.share(x), n, known(x), bounds=(0, 1))
            assert ends(shown[name][dimension]) == pytest.approx(expected, **EXACT)
        harmless, logical = by["harmless outcome"], by["logical process"]
        gap = by_hand.minus(by_hand.share(harmless), by_hand.share(logical))
        expected = by_hand.interval(gap, n, known(harmless, logical), bounds=(-1, 1))
        assert ends(shown[name]["harmless − logical"]) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("figure", ["Regular", "Hard"])
def test_paired_differences_and_holms_verdicts(report, found, figure):
    shown = cells(table(report, f"pairs_{figure.lower()}"))
    chances, estimates = {}, {}
    for first, second in combinations(found, 2):
        at = np.flatnonzero(~np.isnan(found[first].score + found[second].score))
        a, b = (figures(found[model], at)[figure] for model in (first, second))
        row = shown[pair := f"{first} − {second}"]
        expected = by_hand.interval(by_hand.minus(a, b), len(at))
        assert ends(row["difference [95%]"]) == pytest.approx(expected, **EXACT)
        assert row["shared"] == len(at)
        estimates[pair] = row["difference [95%]"].estimate
        sides = [np.stack([found[m].score, found[m].length], axis=1)[at] for m in (first, second)]
        if figure == "Regular":
            measure, sides = np.mean, [side[:, 0] for side in sides]
        else:
            measure = lambda v: 1000 * v[:, 0].sum() / v[:, 1].sum()  # noqa: E731
        parts = (
            by_hand.p_value(by_hand.minus(a, b), len(at)),
            by_hand.t_p(by_hand.minus(a, b), len(at)),
            by_hand.flip_p(measure, *sides),
        )
        chances[pair] = max(parts)
        assert row["p"] == pytest.approx(chances[pair], abs=by_hand.RESOLUTION)
        leaves_out = expected[1] > 0 or expected[2] < 0
        assert (parts[0] < 0.05) == leaves_out
        if leaves_out and row["verdict"] == "no difference shown":
            assert row["remark"].startswith("interval leaves out 0")
    for (pair, row), adjusted in zip(
        shown.items(), by_hand.holm([chances[pair] for pair in shown]), strict=True
    ):
        assert row["Holm p"] == pytest.approx(adjusted, abs=3 * by_hand.RESOLUTION)
        first, second = pair.split(" − ")
        verdict = f"leans {first if estimates[pair] > 0 else second} ({row['shared']} units)"
        assert row["verdict"] == (verdict if adjusted < 0.05 else "no difference shown")
    assert {len(np.flatnonzero(~np.isnan(m.score))) for m in found.values()}.isdisjoint(
        {row["shared"] for row in shown.values()}
    )


def test_unscored_scenarios_bound_the_difference_in_regular(report, found):
    shown = cells(table(report, "pairs_regular"))
    for first, second in combinations(found, 2):
        a, b = found[first].score, found[second].score
        # each missing score is 0 or 1, whichever moves the difference further
        low = np.mean(np.nan_to_num(a, nan=0) - np.nan_to_num(b, nan=1))
        high = np.mean(np.nan_to_num(a, nan=1) - np.nan_to_num(b, nan=0))
        remark = shown[f"{first} − {second}"]["remark"]
        assert remark.endswith(f"unscored scenarios allow {low:.3f} to {high:.3f}")
    assert not any("allow" in r["remark"] for r in cells(table(report, "pairs_hard")).values())


def test_holm_takes_back_what_chance_explains(report):
    shown = cells(table(report, "pairs_regular"))
    assert [row["p"] < 0.05 for row in shown.values()] == [True, True, False]
    assert {row["verdict"] for row in shown.values()} == {"no difference shown"}
    why = "interval leaves out 0, not so after Holm"
    remarks = [row["remark"].partition("unscored")[0].rstrip("; ") for row in shown.values()]
    assert remarks == [why, why, ""]


def test_remarks_name_what_is_lost_and_what_the_data_are(report):
    text = "\n".join(report.notes)
    assert "Judge mockllm/judge; trace judged; data dilemmas.jsonl" in text
    for name in SKILL:
        assert f"mockllm/{name}: status error, some samples are missing." in text
    (bundled,) = [note for note in report.notes if note.startswith("Bundled sample")]
    assert all(f"mockllm/{name}" in bundled for name in SKILL)


# --- a baseline -------------------------------------------------------------------------------


def test_a_baseline_makes_fewer_tests(rubric_logs, report):
    (found,) = compare(list(rubric_logs.values()), baseline="steady")
    with_it = cells(table(found, "pairs_regular"))
    every = cells(table(report, "pairs_regular"))
    assert list(with_it) == ["mockllm/steady − mockllm/kind", "mockllm/steady − mockllm/quick"]
    chances = [row["p"] for row in with_it.values()]
    assert chances == [every[pair]["p"] for pair in with_it]
    assert [r["Holm p"] for r in with_it.values()] == pytest.approx(by_hand.holm(chances), **EXACT)
    assert with_it["mockllm/steady − mockllm/quick"]["verdict"].startswith("leans mockllm/steady")


@pytest.mark.parametrize("baseline", ["nobody", "mockllm"])
def test_a_baseline_must_be_one_of_the_runs(rubric_logs, baseline):
    with pytest.raises(SuiteError, match="--baseline") as refused:
        compare(list(rubric_logs.values()), baseline=baseline)
    assert all(f"mockllm/{name}" in str(refused.value) for name in SKILL)


# --- small data: epochs, panels, responses, scores added later --------------------------------


def test_epochs_are_averaged_within_a_scenario_first(tmp_path):
    lengths = iter(range(100, 10_000, 37))

    def reply(*_):
        return thinking("steady thinks. " + "x" * next(lengths), "So be it.")

    count = iter(range(10_000))
    judge = mock(lambda m: "yes" if chance("epoch", str(next(count))) < 0.5 else "no")
    task = morebench(data=dilemmas(tmp_path, 6), judge_cache=False)
    log = run(task, mock(reply), judge, epochs=2, log_dir=str(tmp_path), log_realtime=False)
    (report,) = compare([log.location])
    row = cells(table(report, "scores"))["mockllm/model"]
    m = measured(read_eval_log(log.location))
    score, length = (x.reshape(6, 2).mean(axis=1) for x in (m.score, m.length))
    assert any(a != b for a, b in m.score.reshape(6, 2)), "the epochs do not differ"
    expected = by_hand.interval(by_hand.share(score), 6, bounds=(0, 1))
    assert ends(row["Regular"]) == pytest.approx(expected, **EXACT)
    hard = by_hand.share(score, length, scale=1000)
    expected = by_hand.interval(hard, 6, bounds=(0, np.inf))
    assert ends(row["Hard"]) == pytest.approx(expected, **EXACT)
    assert row["scored"] == OutOf(12, 12)
    assert row["Regular"].n == 6
    assert [t.name for t in report.tables] == ["scores", "dimensions"], "one run makes no pair"


def test_a_panels_majority_is_what_is_compared(tmp_path):
    panel = [grader(name) for name in ("judge", "second", "third")]
    data = dilemmas(tmp_path)
    paths = [small_log(tmp_path, n, panel, data).location for n in ("steady", "quick")]
    (report,) = compare(paths)
    shown = cells(table(report, "scores"))
    for log in map(read_eval_log, paths):
        facts = [s.scores["rubric_judge"].metadata for s in log.samples]
        votes = [v for f in facts for v in f.get("votes", {}).values()]
        assert any(len(set(v)) > 1 for v in votes), "the judges never differ"
        row = shown[log.eval.model]
        expected = np.nanmean(measured(log).score)
        assert row["Regular"].estimate == pytest.approx(expected, **EXACT)
    assert "Judge mockllm/judge + mockllm/second + mockllm/third;" in report.notes[1]


def test_trace_and_response_of_the_same_logs_are_two_reports(both_logs):
    reports = compare(both_logs)
    assert [r.title for r in reports] == [
        "morebench, trace judged: 2 runs",
        "morebench, response judged: 2 runs",
    ]
    scorers = ("rubric_judge", "rubric_judge_response")
    for report, scorer, judged in zip(reports, scorers, ("trace", "response"), strict=True):
        shown = cells(table(report, "scores"))
        dimensions = cells(table(report, "dimensions"))
        for path in both_logs:
            log = read_eval_log(path)
            m = measured(log, scorer, judged)
            row = shown[log.eval.model]
            assert row["Regular"].estimate == pytest.approx(np.nanmean(m.score), **EXACT)
            hard = 1000 * np.nansum(m.score) / np.nansum(m.length)
            assert row["Hard"].estimate == pytest.approx(hard, **EXACT)
            assert row["scored"] == OutOf(len(known(m.score)), 6)
            found = dimensions[log.eval.model]["identifying"].estimate
            assert found == pytest.approx(np.nanmean(m.dimensions["identifying"]), **EXACT)
        assert f"{judged} judged" in report.notes[1]


def test_one_score_of_several_is_taken_by_name(both_logs):
    (report,) = compare(both_logs, choice=Choice(("rubric_judge_response",)))
    assert report.title == "morebench, response judged: 2 runs"
    with pytest.raises(SuiteError, match="--scorer other: in none of these logs") as refused:
        compare(both_logs, choice=Choice(("other",)))
    assert "rubric_judge, rubric_judge_response" in str(refused.value)


def test_a_score_added_later_stands_beside_the_first(both_logs, tmp_path):
    log = read_eval_log(both_logs[0])
    again = score(
        log, rubric_judge(judge_cache=False), action="append",
        model_roles={"grader": grader("second")}, display="none",
    )  # fmt: skip
    path = str(tmp_path / "again.eval")
    write_eval_log(again, path)
    with pytest.raises(SuiteError, match=r"judge differs: mockllm/judge.*; mockllm/second"):
        compare([path])
    traces, responses = compare([path], allowed=["judge"])
    names = [row[0] for row in table(traces, "scores").rows]
    assert names == ["mockllm/steady", "mockllm/steady #2"]
    assert [t.name for t in traces.tables] == ["scores", "dimensions"]
    assert UNCONTRASTED in traces.notes
    assert len(table(responses, "scores").rows) == 1
    (alone,) = compare([path], choice=Choice(("rubric_judge1",)))
    expected = np.nanmean(measured(read_eval_log(path), "rubric_judge1").score)
    row = cells(table(alone, "scores"))["mockllm/steady"]
    assert row["Regular"].estimate == pytest.approx(expected, **EXACT)
    first = cells(table(compare([path], choice=TRACES)[0], "scores"))["mockllm/steady"]
    assert row["Regular"].estimate != first["Regular"].estimate
    assert "Judge mockllm/second" in alone.notes[1]


def test_a_log_is_compared_once_however_often_it_is_named(both_logs):
    folder = str(Path(both_logs[0].removeprefix("file://")).parent)
    (report,) = compare([both_logs[0], folder], choice=TRACES)
    assert [row[0] for row in table(report, "scores").rows] == ["mockllm/steady"]


def test_two_runs_of_one_model_are_told_apart(both_logs, tmp_path):
    log = read_eval_log(both_logs[0])
    copy = str(tmp_path / "copy.eval")
    write_eval_log(log, copy)
    (report,) = compare([both_logs[0], copy], choice=TRACES)
    assert len(report.tables[0].rows) == 1, "a copy of a log is the same run"
    log.eval.eval_id = log.eval.task_id = "another run"
    write_eval_log(log, copy)
    (report,) = compare([both_logs[0], copy], choice=TRACES)
    (row,) = table(report, "pairs_regular").rows
    assert row[0] == "mockllm/steady − mockllm/steady #2"
    (again,) = compare([both_logs[0], copy], choice=TRACES, baseline="mockllm/steady")
    assert table(again, "pairs_regular").rows == [row], "the whole name of one run, part of both"
    assert row[1].estimate == 0
    assert row[3:-1] == [1, 1, "too few units (5)"]
    (hard,) = table(report, "pairs_hard").rows
    assert hard[2:-1] == row[2:-1], "figures of one page go by one rule for data alike"
    assert (row[1].flag, hard[1].flag) == ("degenerate", "degenerate")
    assert np.isfinite([row[1].lower, hard[1].lower]).all()


def test_runs_without_a_shared_scenario_are_not_tested(tmp_path):
    paths = [
        small_log(tmp_path, n, data=dilemmas(tmp_path, 4, f"{n}.jsonl", first)).location
        for n, first in (("steady", 0), ("quick", 4))
    ]
    (report,) = compare(paths, allowed=["data"])
    (row,) = table(report, "pairs_regular").rows
    assert row[2] == 0
    assert np.isnan(row[1].estimate)
    assert row[-2:] == ["not tested", ""]


def test_a_run_without_any_score_comes_last_and_is_not_tested(both_logs, tmp_path):
    log = run(
        morebench(data=dilemmas(tmp_path, 6), judge_cache=False), always("No trace."), grader(),
        log_dir=str(tmp_path), log_realtime=False,
    )  # fmt: skip
    (report,) = compare([log.location, both_logs[0]], choice=TRACES)
    last = table(report, "scores").rows[-1]
    assert (last[0], last[4]) == ("mockllm/model", OutOf(0, 6))
    assert np.isnan([last[1].estimate, last[3]]).all()
    assert table(report, "pairs_regular").rows[0][-2] == "not tested"
