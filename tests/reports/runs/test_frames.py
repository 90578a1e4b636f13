"""Data frames over logs agree with the logs' own scores and criteria."""

import math

import pandas as pd
import pytest
from inspect_ai.analysis import samples_df
from inspect_ai.log import read_eval_log

from moral_evals.inspect_tasks.morebench import morebench
from moral_evals.reports.runs.frames import MixedRowsWarning, criteria_df, scenarios_df
from moral_evals.scorers.rubric.aggregate import fulfilled
from tests.mocks import always, mock, output, run, thinking


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    def reply(messages):
        return (
            output("")
            if len(messages[-1].text) % 4 == 0
            else thinking("I weigh both sides.", "I decide.")
        )

    def verdict(messages):
        return "hm" if len(messages[-1].text) % 3 == 0 else "yes"

    folder = tmp_path_factory.mktemp("logs")
    task = morebench(data="sample", judged="both", judge_attempts=1)
    return run(task, mock(reply), mock(verdict), log_dir=str(folder), limit=6)


def test_a_row_a_score_with_the_logs_own_values(log):
    with pytest.warns(MixedRowsWarning, match="judged: response, trace"):
        frame = scenarios_df(log.location).reset_index()
    samples = read_eval_log(log.location).samples or []
    assert {s.scores["rubric_judge"].reason for s in samples} == {None, "no_response"}
    assert len(frame) == 2 * len(samples)
    for sample in samples:
        for scorer, prefix in (("rubric_judge", ""), ("rubric_judge_response", "response_")):
            (row,) = frame[(frame["id"] == sample.id) & (frame["scorer"] == scorer)].to_dict(
                "records"
            )
            value = sample.scores[scorer].value
            for key in ("score", "length", "dim_identifying", "graded_share"):
                # the value is rounded for the viewer, the frame is not
                assert row[key] == pytest.approx(value[prefix + key], abs=5.1e-5, nan_ok=True)
            assert row["reason"] == sample.scores[scorer].reason or math.isnan(row["reason"])
            assert row["role"] == sample.metadata["role"]


def test_its_mean_is_the_logs_own_figure(log, recwarn):
    frame = scenarios_df(log.location, scorer="rubric_judge")
    header = read_eval_log(log.location, header_only=True)
    (score,) = (s for s in header.results.scores if s.scorer == "rubric_judge")
    assert frame["score"].mean() == pytest.approx(score.metrics["regular"].value, abs=1e-12)
    assert not [w for w in recwarn if "off the mean" in str(w.message)]


def test_a_row_a_criterion_with_its_verdict(log):
    frame = criteria_df([log.location], scorer="rubric_judge")
    assert {*frame.index} == {("rubric_judge", "trace", "mockllm/model")}
    for sample in read_eval_log(log.location).samples or []:
        verdicts = (sample.scores["rubric_judge"].metadata or {}).get("verdicts", {})
        rows = frame[frame["id"] == sample.id].to_dict("records")
        assert [r["criterion_id"] for r in rows] == [
            c["id"] for c in sample.metadata["criteria"] if verdicts
        ]
        for row in rows:
            assert row["verdict"] == verdicts[row["criterion_id"]]
            assert (row["reason"] == "judge_unclear") == (row["verdict"] == "ungraded")
            assert row["source"] == "criterion"
            if row["verdict"] == "ungraded":
                assert row["fulfilled"] is None
            else:
                assert row["fulfilled"] == fulfilled(row["weight"], row["verdict"])
    assert set(frame["verdict"]) == {"yes", "ungraded"}


def test_it_joins_with_inspects_own_frame(log):
    own = [scenarios_df(log.location, scorer=s) for s in ("rubric_judge", "rubric_judge_response")]
    joined = pd.concat(own).merge(samples_df(log.location, quiet=True), on="sample_id")
    assert len(joined) == 12


def test_rows_that_no_mean_goes_over_are_warned_of_and_told_apart(log):
    with pytest.warns(
        MixedRowsWarning, match="scorer: rubric_judge, rubric_judge_response"
    ) as said:
        frame = criteria_df(log.location)
    (warned,) = [w for w in said if w.category is MixedRowsWarning]
    assert "judge:" not in str(warned.message), "an unscored sample is no second judge"
    assert warned.filename == __file__
    counts = frame.groupby(["scorer", "judged", "judge", "dimension"])["fulfilled"].size()
    alone = criteria_df(log.location, scorer="rubric_judge")
    assert counts.xs("rubric_judge").sum() == len(alone) < len(frame)


def test_one_score_alone_is_no_mixture(log, recwarn):
    criteria_df(log.location, scorer="rubric_judge")
    assert not [w for w in recwarn if w.category is MixedRowsWarning]


def test_a_log_without_a_score_gives_the_columns_and_no_row(tmp_path):
    found = run(
        morebench(data="sample"), always(output("")), always("yes"), log_dir=str(tmp_path), limit=1
    )
    assert {"model", "judge_mode"} <= set(criteria_df(found.location).columns)
    assert len(criteria_df(found.location)) == 0


def test_votes_of_a_panel_stand_beside_the_verdict(tmp_path):
    panel = [always("yes"), always("no"), always("yes")]
    found = run(
        morebench(data="sample"), always(thinking("t", "r")), panel, log_dir=str(tmp_path), limit=1
    )
    frame = criteria_df(found.location)
    assert {tuple(v) for v in frame["votes"]} == {("yes", "no", "yes")}
    assert set(frame["verdict"]) == {"yes"}
