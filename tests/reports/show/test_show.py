"""`moral-reports show`: what the tables say about the runs behind them."""

import pytest
from inspect_ai import score
from inspect_ai.log import write_eval_log
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda, judge_agreement, morebench
from moral_evals.reports.__main__ import main
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, metrics, output, run, thinking

REPLY = thinking("I weigh it.", "So be it.")


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("COLUMNS", "200")


def shown(capsys, path) -> str:
    assert main(["show", str(path)]) == 0
    return capsys.readouterr().out


def test_a_rubric_table_says_what_was_judged_and_by_whom(capsys):
    log = run(morebench(data="sample", judged="both"), always(REPLY), always("yes"), limit=2)
    printed = shown(capsys, log.location)
    assert "rubric_judge: trace" in printed
    assert "rubric_judge_response: response" in printed
    assert "judge mockllm/model" in printed
    assert "these are not MoReBench scores" in printed
    assert "only 2 scored samples" in printed


def test_a_score_that_was_added_names_its_own_judge(capsys):
    log = run(morebench(data="sample"), always(REPLY), always("yes"), limit=2)
    other = get_model("mockllm/other", memoize=False, custom_outputs=lambda *_: output("no"))
    judging = rubric_judge(judge_mode="rubric")
    again = score(log, judging, action="append", model_roles={"grader": other})
    write_eval_log(again, log.location)
    printed = shown(capsys, log.location)
    assert "rubric_judge: trace, suite prompts, judge mockllm/model" in printed
    assert "rubric_judge1: trace, suite prompts, judge mockllm/other" in printed
    assert printed.count("not comparable with the paper") == 1


@pytest.mark.parametrize("attack", [False, True])
def test_an_examination_of_a_judge_has_its_chief_figures(capsys, attack):
    task = judge_agreement(attack=attack)
    log = run(task, always(REPLY), always("yes"), limit=2)
    printed = shown(capsys, log.location)
    if attack:
        assert "verdicts that an attack turned" in printed
        assert "8 pairs; 2 attacks" in printed
    else:
        values = metrics(log, "judge_labels")
        (line,) = [x for x in printed.splitlines() if "its minimum over" in x]
        assert f"{values['min_macro_f1']:.3f}" in line
        assert "16 pairs; ungraded 0.000" in printed


def test_lost_samples_are_named(capsys):
    log = run(morebench(data="sample"), always(REPLY), None, limit=2)
    printed = shown(capsys, log.location)
    assert log.status == "error"
    assert "status error" in printed
    assert "lost in judging or before: 2" in printed


def test_an_appended_score_is_shown_with_its_own_order(capsys):
    log = run(corda(chains=2), get_model("scripted/uniform", memoize=False), None)
    again = score(log, lexicographic(tier_order=["welfare", "rights_harm"]), action="append")
    write_eval_log(again, log.location)
    printed = shown(capsys, log.location)
    assert "rights_harm > honesty_fairness > welfare > convention" in printed
    assert "welfare > rights_harm" in printed
    assert "only 2 chains" in printed
    assert "-0.000" not in printed


def test_a_folder_without_logs_is_one_line(capsys, tmp_path):
    assert main(["show", str(tmp_path)]) == 1
    assert "no Inspect log here" in capsys.readouterr().err
