"""Frames of CORDA agree with the logs' own records, and with the figures of `show`."""

import math
import shutil
import warnings

import pandas as pd
import pytest
from inspect_ai.analysis import samples_df
from inspect_ai.log import read_eval_log

from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.reports.runs.frames import MixedRowsWarning, corda_steps_df, rollouts_df


@pytest.fixture
def log(corda_logs) -> str:
    return corda_logs["history-sensitive"]


def quietly(make, *arguments, **options) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedRowsWarning)
        return make(*arguments, **options)


def test_a_row_a_step_as_the_log_holds_it(log):
    frame = quietly(corda_steps_df, log).reset_index().set_index(["sample_id", "step"])
    samples = read_eval_log(log).samples or []
    for sample in samples:
        logged = sample.scores["lexicographic"].metadata["steps"]
        rows = frame.loc[sample.uuid].to_dict("records")
        assert [r["step_id"] for r in rows] == [s["step_id"] for s in logged]
        for row, step, shown in zip(rows, logged, sample.metadata["shown"], strict=True):
            assert row["id"] == sample.id
            assert row["condition"] == sample.metadata["condition"]
            assert row["status"] == step["status"] == "answered"
            assert row["chosen"] == step["chosen"]
            place = shown[int(row["position"]) - 1]
            assert (place["option_id"], place["label"]) == (step["chosen"], row["label"])
            assert row["options"] == len(shown)
            if row["informative"]:
                assert row["u"] == step["u"]
            else:
                assert math.isnan(row["u"]) and "u" not in step
    assert len(frame) == sum(len(s.metadata["shown"]) for s in samples)


def test_a_row_a_rollout_with_the_samples_score(log):
    frame = quietly(rollouts_df, log).reset_index().set_index("id")
    for sample in read_eval_log(log).samples or []:
        row, score = frame.loc[sample.id], sample.scores["lexicographic"]
        assert round(row["score"], 4) == score.value["score"]
        assert round(row["answered"] / row["steps"], 4) == score.value["answered"]
        assert row["informative"] == sum("u" in s for s in score.metadata["steps"])
    assert frame["steps"].sum() == len(quietly(corda_steps_df, log))


def test_lms_is_made_of_the_steps(log):
    (run,) = corda_runs([log])
    for condition in ("unconditioned", "own"):
        frame = corda_steps_df(log, condition=condition)
        steps = frame.groupby(["chain_id", "step"])["u"].mean()
        lms = steps.groupby("chain_id").mean().mean()
        assert lms == pytest.approx(run.figures[f"{condition}.lms"].estimate, abs=1e-12)


def test_conditions_are_told_apart_and_one_alone_is_no_mixture(log, recwarn):
    corda_steps_df(log, condition="own")
    rollouts_df(log, scorer="lexicographic", condition="own")
    assert not [w for w in recwarn if w.category is MixedRowsWarning]
    with pytest.warns(MixedRowsWarning, match="condition: own, unconditioned") as said:
        frame = corda_steps_df(log)
    assert [w.filename for w in said if w.category is MixedRowsWarning] == [__file__]
    assert frame.index.names == ["scorer", "tier_order", "condition"]


def test_it_joins_with_inspects_own_frame(log):
    joined = quietly(rollouts_df, log).merge(samples_df(log, quiet=True), on="sample_id")
    assert len(joined) == len(read_eval_log(log).samples or [])


def test_other_scores_give_the_columns_and_no_row(both_logs):
    frame = corda_steps_df(both_logs)
    assert len(frame) == 0
    assert {"model", "chain_id", "shuffle"} <= {*frame.columns}


def test_a_folder_of_logs_says_what_it_leaves_out(log, tmp_path):
    shutil.copy(log.removeprefix("file://"), tmp_path / "a.eval")
    (tmp_path / "cut.eval").write_bytes(b"PK")
    with pytest.warns(UserWarning, match=r"Left out: .*cut\.eval") as said:
        frame = rollouts_df(str(tmp_path), condition="own")
    assert len(frame) > 0
    assert {w.filename for w in said if "Left out" in str(w.message)} == {__file__}
