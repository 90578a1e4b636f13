"""`moral-reports show`: what the tables say about the runs behind them."""

import pytest
from inspect_ai import score
from inspect_ai.log import write_eval_log
from inspect_ai.model import get_model

from inspect_tasks import corda, morebench
from reports.__main__ import main
from scorers.lexicographic_score import lexicographic
from tests.mocks import always, run, thinking

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
