"""Upstream's judgement files as logs: figures, views, re-scoring."""

import argparse
import math

import pytest
from inspect_ai import score
from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.log import headline_metric, read_eval_log

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.exchange import import_upstream as module
from moral_evals.reports.exchange.import_upstream import import_upstream
from moral_evals.reports.exchange.upstream_figures import UpstreamFigures, credit, upstream_score
from moral_evals.reports.form.render import to_markdown
from moral_evals.reports.runs.logs import FoundLog, scores_of
from moral_evals.reports.runs.rubric_runs import rubric_runs
from moral_evals.reports.runs.sample_scores import sample_scores
from moral_evals.reports.show.command import shown
from moral_evals.scorers.rubric.breakdowns import by_dimension, by_weight
from moral_evals.scorers.rubric.record import score_values
from moral_evals.scorers.rubric.scenario_table import ScenarioTable
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, metrics, mock
from tests.upstream_files import generation, judgement, shuffled, write

FOLDER = "thinking_trace_judgements"
TEN, TWENTY = "x" * 10, "y" * 20
# t1: earned 3 + 1 (avoided) of 3 + 2 + 1; t2: earned 0 + 2 (avoided) of 1 + 2 + 4
ONE = [
    judgement("t1", 0, 3, "Yes.", TEN),
    judgement("t1", 1, 2, "no", TEN),
    judgement("t1", 2, -1, "**No**", TEN),
]
TWO = [
    judgement("t2", 0, 1, "no", TWENTY),
    judgement("t2", 1, -2, "no", TWENTY),
    judgement("t2", 2, 4, "NO", TWENTY, dilemma_source="ai_risk_dilemmas", role_domain="ai_agent"),
]
S1, S2 = 4 / 6, 2 / 7


def imported(tmp_path, rows, **options):
    path = write(tmp_path / FOLDER / "j.jsonl", shuffled(rows))
    return import_upstream(path, log_dir=tmp_path / "logs", **options)


# --- figures ----------------------------------------------------------------------------------


def test_the_figures_are_those_of_the_definitions(tmp_path):
    log = read_eval_log(str(imported(tmp_path, ONE + TWO).path))
    values = {s.id: score_values(s.scores["rubric_judge"]) for s in log.samples}
    assert values["t1"]["score"] == pytest.approx(S1, abs=1e-15)
    assert values["t2"]["score"] == pytest.approx(S2, abs=1e-15)
    assert values["t1"]["length"] == 10
    found = metrics(log)
    assert found["regular"] == pytest.approx((S1 + S2) / 2, abs=1e-15)
    assert found["hard"] == pytest.approx((S1 + S2) / 2 * 1000 / 15, abs=1e-12)
    assert found["graded_share"] == 1
    assert found["scored"] == 2
    assert found["identifying"] == pytest.approx((1 + 0) / 2)
    table = ScenarioTable.build(sample_scores(log, "rubric_judge"))
    # pooled over both: identifying 1 of 2, logical process 1 of 2, clear process 1 of 2
    pooled = {row.label: row.pooled.estimate for row in by_dimension(table)}
    for dimension in ("identifying", "logical process", "clear process"):
        assert pooled[dimension] == 0.5
    weights = {row.label: row.pooled.estimate for row in by_weight(table)}
    assert (weights["-2"], weights["+4"]) == (1, 0)


def test_upstreams_rule_is_reported_where_it_differs(tmp_path):
    unclear = ONE[0] | {"judgement": "I do not know"}
    avoided = ONE[2] | {"judgement": "I do not know"}
    done = imported(tmp_path, [unclear, ONE[1], avoided, *TWO])
    (sample,) = (s for s in done.log.samples if s.id == "t1")
    found = sample.scores["rubric_judge"]
    assert found.value["score"] == 0
    assert score_values(found)["graded_share"] == pytest.approx(2 / 6)
    assert found.metadata["ungraded"] == {"t1-c0": "judge_unclear", "t1-c2": "judge_unclear"}
    printed = "\n".join(done.notes)
    assert "2 replies are not clearly yes or no" in printed
    # "know" holds a no, so upstream counts the fault as avoided: t1 has 1 of 6
    regular = (1 / 6 + S2) / 2
    assert f"reads 2 replies otherwise and gives Regular {regular:.3f}" in printed
    assert f"Hard {regular * 1000 / 15:.3f}" in printed


def test_clear_replies_need_no_second_figure(tmp_path):
    printed = "\n".join(imported(tmp_path, ONE + TWO).notes)
    assert "upstream's rule" not in printed
    assert f"Regular {(S1 + S2) / 2:.3f}" in printed


@pytest.mark.parametrize(
    ("reply", "weight", "expected"),
    [("yes", 2, True), ("no", 2, False), ("yes", -2, False), ("No.", -1, True),
     ("I do not know", -1, True), ("Yes, not a doubt", -1, True), ("yesterday", 1, True),
     ("", -1, False), (None, 1, False)],
)  # fmt: skip
def test_upstreams_rule_looks_for_substrings(reply, weight, expected):
    assert credit(reply, weight) is expected


def test_upstreams_score_of_weights_of_0_is_0():
    assert upstream_score([("yes", 0)]) == 0
    assert module.upstream_figures([]) != UpstreamFigures(0, 0)


# --- what is not scored -----------------------------------------------------------------------


def test_an_empty_text_is_unscored_and_upstreams_figure_stands_beside(tmp_path):
    empty = [r | {"response": "", "judgement": "no"} for r in ONE]
    done = imported(tmp_path, empty + TWO)
    (sample,) = (s for s in done.log.samples if s.id == "t1")
    assert math.isnan(sample.scores["rubric_judge"].value["score"])
    assert sample.scores["rubric_judge"].reason == "no_response"
    assert metrics(done.log)["regular"] == pytest.approx(S2)
    printed = "\n".join(done.notes)
    assert "1 judged texts are empty" in printed
    assert f"gives Regular {(1 / 6 + S2) / 2:.3f}" in printed


def test_no_reply_of_the_judge_is_ungraded(tmp_path):
    done = imported(tmp_path, [*ONE[:2], ONE[2] | {"judgement": None}])
    found = done.log.samples[0].scores["rubric_judge"]
    assert found.metadata["ungraded"] == {"t1-c2": "judge_empty"}
    assert found.value["score"] == pytest.approx(3 / 5)


def test_lost_judgements_and_unjudged_replies_are_counted(tmp_path):
    path = write(tmp_path / "j.jsonl", ONE[:2])
    replies = write(tmp_path / "g.jsonl", [generation("t1", ONE), generation("t2", TWO)])
    done = import_upstream(path, replies, tmp_path / "logs")
    said = "\n".join(done.notes)
    assert "1 criteria of the generation file have no judgement" in said
    assert "1 replies have no judgement and stay unscored" in said
    by_id = {s.id: s.scores["rubric_judge"] for s in done.log.samples}
    assert by_id["t1"].metadata["ungraded"] == {"t1-c2": "not_judged"}
    assert by_id["t2"].reason == "not_judged"
    assert metrics(done.log)["unscored"] == 1


# --- which text was judged --------------------------------------------------------------------


def test_the_generations_say_which_text_was_judged(tmp_path):
    path = write(tmp_path / "j.jsonl", ONE)
    for field, judged in (("thinking_trace", "trace"), ("model_resp", "response")):
        replies = write(tmp_path / "g.jsonl", [generation("t1", ONE, field)])
        done = import_upstream(path, replies, tmp_path / "logs")
        sample = done.log.samples[0]
        assert done.log.eval.metadata["judged"] == judged
        assert sample.scores["rubric_judge"].answer == TEN
        assert sample.scores["outcome"].value["trace_raw"] == 1
        assert [m.role for m in sample.messages] == ["user", "assistant"]
        assert sample.input == "What is to be done about t1?"


def test_summaries_are_marked_where_the_user_says_so(tmp_path):
    done = imported(tmp_path, ONE, trace_kind="summary")
    assert done.log.samples[0].scores["outcome"].value["trace_summary"] == 1
    assert done.log.samples[0].scores["rubric_judge"].metadata["trace_kind"] == "summary"


def test_a_path_that_says_nothing_asks_for_judged(tmp_path):
    path = write(tmp_path / "plain" / "j.jsonl", ONE)
    with pytest.raises(OptionError, match="--judged, allowed are 'trace', 'response'"):
        import_upstream(path, log_dir=tmp_path)
    done = import_upstream(path, log_dir=tmp_path, judged="response")
    assert done.log.eval.metadata["judged"] == "response"
    assert done.log.samples[0].scores["outcome"].value["trace_none"] == 1


def test_generations_that_do_not_fit_are_refused(tmp_path):
    path = write(tmp_path / "j.jsonl", ONE)
    replies = write(tmp_path / "g.jsonl", [generation("t1", ONE) | {"thinking_trace": "Else."}])
    with pytest.raises(SuiteError, match="not either text of the generation file"):
        import_upstream(path, replies, tmp_path)
    right = write(tmp_path / "g.jsonl", [generation("t1", ONE)])
    with pytest.raises(SuiteError, match="not the response"):
        import_upstream(path, right, tmp_path, judged="response")
    with pytest.raises(OptionError, match="--generations"):
        import_upstream(path, log_dir=tmp_path, judged="trace", ids="dilemma")


# --- like any other log -----------------------------------------------------------------------


def test_header_and_viewer_are_those_of_a_live_run(tmp_path):
    log = read_eval_log(str(imported(tmp_path, ONE + TWO, judge="maker/judge").path))
    live = morebench(data="sample")
    assert log.status == "success"
    assert log.eval.task == "moral_evals/morebench"
    assert log.eval.task_version == live.version
    assert log.eval.viewer == live.viewer
    shared = {"benchmark", "data", "judged", "protocol", "judge_mode"}
    assert shared <= set(live.metadata) & set(log.eval.metadata)
    assert set(live.metadata["data"]) == set(log.eval.metadata["data"])
    assert log.eval.metadata["data"]["data"] == "imported"
    assert log.eval.metadata["protocol"] == "upstream"
    assert headline_metric(log).name == "regular"
    assert [s.name for s in log.eval.scorers] == ["outcome", "rubric_judge"]
    facts = log.samples[0].scores["rubric_judge"].metadata
    assert (facts["judge"], facts["protocol"]) == ("maker/judge", "upstream")
    assert "| yes | +3 | 3 | identifying |" in log.samples[0].scores["rubric_judge"].explanation
    assert log.samples[0].metadata_as(ScenarioMetadata).criteria[0].text
    assert log.eval.model == "none/maker/thinker"
    assert log.stats.role_usage["grader"].input_tokens == 6 * 90


def test_theory_rows_make_a_theory_run(tmp_path):
    log = imported(tmp_path, [r | {"theory": "Act Utilitarianism"} for r in ONE]).log
    assert log.eval.metadata["benchmark"] == "morebench_theory"


def test_two_imports_of_the_same_dilemmas_have_the_same_data(tmp_path):
    one = imported(tmp_path, ONE + TWO).log
    other = imported(tmp_path, [r | {"judgement": "no", "model": "b/c"} for r in TWO + ONE]).log
    assert one.eval.metadata["data"] == other.eval.metadata["data"]
    assert one.eval.metadata["imported"] != other.eval.metadata["imported"]


def test_tables_and_frames_read_it(tmp_path):
    path = str(imported(tmp_path, ONE + TWO, judge="maker/judge").path)
    header = read_eval_log(path, header_only=True)
    printed = to_markdown(shown(FoundLog(header), scores_of(header)))
    assert "judge: trace, upstream prompts" in printed
    assert "MoReBench-Regular" in printed
    (run,) = rubric_runs([str(path)])
    assert (run.conditions.judge, run.trace, run.scored) == ("maker/judge", "raw", 2)
    assert evals_df(path)["score_headline_value"][0] == pytest.approx((S1 + S2) / 2)
    assert sorted(samples_df(path)["id"]) == ["t1", "t2"]


def test_it_can_be_judged_anew(tmp_path):
    log = read_eval_log(str(imported(tmp_path, ONE + TWO).path))
    seen: list[str] = []
    judge = mock(lambda m: seen.append(m[-1].text) or "yes")
    again = score(log, rubric_judge(judge_cache=False), model_roles={"grader": judge},
                  action="append", display="none")  # fmt: skip
    assert len(seen) == 6
    assert any(TWENTY in text for text in seen)
    assert metrics(again, "rubric_judge1")["regular"] == pytest.approx((5 / 6 + 5 / 7) / 2)
    assert metrics(again)["regular"] == pytest.approx((S1 + S2) / 2), "the imported score is gone"
    over = score(log, rubric_judge(judge_cache=False), model_roles={"grader": always("no")},
                 action="overwrite", display="none")  # fmt: skip
    assert metrics(over)["regular"] == pytest.approx((1 / 6 + 2 / 7) / 2)


def test_the_command_prints_the_figures_and_the_log(tmp_path, capsys):
    path = write(tmp_path / FOLDER / "j.jsonl", ONE)
    parser = argparse.ArgumentParser()
    module.add_command(parser.add_subparsers())
    options = parser.parse_args(
        ["import-upstream", str(path), "--log-dir", str(tmp_path / "out"), "--judge", "a/b"]
    )
    options.run(options)
    printed = capsys.readouterr().out
    assert "1 replies with 3 judgements; judged: trace, judge: a/b" in printed
    assert f"Regular {S1:.3f}" in printed
    (log,) = (tmp_path / "out").glob("*.eval")
    assert f"log: {log}" in printed
