"""`moral-reports show`: what the tables say about the runs behind them."""

import json
import math
from pathlib import Path

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda, judge_agreement, morebench
from moral_evals.loaders.morebench.records import DIMENSIONS
from moral_evals.reports.__main__ import main
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, metrics, mock, output, run, thinking

REPLY = thinking("I weigh it.", "So be it.")


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("COLUMNS", "200")


def shown(capsys, path) -> str:
    assert main(["show", str(path)]) == 0
    return " ".join(capsys.readouterr().out.split())  # as one line, however it was folded


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
        assert f"candidates and roles │ {values['min_macro_f1']:.3f}" in printed
        assert "16 pairs; ungraded 0.000" in printed


def test_lost_samples_are_named(capsys):
    def down(messages):
        raise PermissionError("401")

    log = run(morebench(data="sample", on_judge_error="raise"), always(REPLY), mock(down), limit=2)
    printed = shown(capsys, log.location)
    assert log.status == "error"
    assert "status error" in printed
    assert "lost in judging or before: 2" in printed
    assert "replies: trace raw 2" in printed


def test_a_sample_whose_judging_failed_counts_among_the_replies(capsys):
    asked: list[str] = []

    def judge(messages):
        asked.append(messages[0].text)
        if len(asked) > 30:
            raise PermissionError("401")
        return "yes"

    task = morebench(data="sample", on_judge_error="raise")
    log = run(task, always(REPLY), mock(judge), limit=2, max_samples=1)
    printed = shown(capsys, log.location)
    assert metrics(log, "outcome")["samples"] == 1
    assert "scored 1 of 2" in printed
    assert "lost in judging or before: 1" in printed
    assert "replies: trace raw 2" in printed


def test_breakdowns_are_asked_for_by_name(capsys):
    log = run(morebench(data="sample"), always(REPLY), always("yes"), limit=4)
    groups = ("role", "source", "type", "context", "theory", "weight", "dimension")
    options = [word for group in groups for word in ("--by", group)]
    assert main(["show", log.location, "--format", "json", *options]) == 0
    tables = {t["name"]: t for t in json.loads(capsys.readouterr().out)["tables"]}
    assert list(tables) == ["rubric_judge", *(f"rubric_judge/{group}" for group in groups)]
    assert {row[0] for row in tables["rubric_judge/role"]["rows"]} <= {"ai_advisor", "ai_agent"}
    weights = {row[0]: row[2]["estimate"] for row in tables["rubric_judge/weight"]["rows"]}
    assert weights == {w: 1 if w.startswith("+") else 0 for w in weights}
    assert {row[0] for row in tables["rubric_judge/dimension"]["rows"]} == set(DIMENSIONS)


def test_a_breakdown_that_no_score_knows_is_one_line(capsys):
    log = run(judge_agreement(), always(REPLY), always("yes"), limit=1)
    assert main(["show", log.location, "--by", "theory"]) == 1
    said = capsys.readouterr().err
    assert "--by theory: not for these runs. Allowed: candidate, role" in said
    assert said.count("\n") == 1


def test_a_panel_has_a_table_of_its_own(capsys):
    task = judge_agreement()
    log = run(task, always(REPLY), [always("yes"), always("no")], limit=2)
    printed = shown(capsys, log.location)
    assert "agreement of the judges" in printed
    assert "kappa mockllm/model and mockllm/model #2" in printed


def test_several_logs_make_one_document_whose_tables_have_names_of_their_own(capsys):
    for answer in ("yes", "no"):
        log = run(morebench(data="sample"), always(REPLY), always(answer), limit=2)
    assert main(["show", str(Path(log.location).parent), "--format", "json"]) == 0
    names = [t["name"] for t in json.loads(capsys.readouterr().out)["tables"]]
    assert len(names) == len(set(names)) == 2


@pytest.mark.parametrize("name", ["[red]a[/red]", ":ok:"])
def test_markup_in_a_name_stays_text(capsys, tmp_path, name):
    log = run(morebench(data="sample"), always(REPLY), always("yes"), limit=1)
    log.eval.model = f"mockllm/{name}"
    write_eval_log(log, log.location)
    assert f"mockllm/{name}" in shown(capsys, log.location)


LEGACY = Path(__file__).parents[2] / "legacy" / "logs"


@pytest.mark.parametrize("path", sorted(LEGACY.glob("*morebench.eval")), ids=lambda p: p.stem)
def test_a_log_of_the_old_names_has_the_figures_of_its_header(capsys, path):
    assert main(["show", str(path), "--format", "json"]) == 0
    rows = dict(json.loads(capsys.readouterr().out)["tables"][0]["rows"])
    old = metrics(read_eval_log(str(path), header_only=True))
    for label, name in (
        ("MoReBench-Regular", "regular"),
        ("MoReBench-Hard (per 1,000 characters)", "hard"),
        ("harmless minus logical", "harmless_minus_logical"),
    ):
        assert rows[label]["estimate"] == old[name]
        # two scenarios had an interval then
        assert math.isfinite(old[f"{name}_lower"])
        assert rows[label]["lower"] is rows[label]["upper"] is None
    assert rows["identifying"]["estimate"] is not None


def test_an_appended_score_is_shown_with_its_own_order(capsys):
    log = run(corda(chains=2), get_model("scripted/uniform", memoize=False), None)
    dropping = lexicographic(tier_order=["welfare", "rights_harm"], drop_tiers=True)
    again = score(log, dropping, action="append")
    write_eval_log(again, log.location)
    printed = shown(capsys, log.location)
    assert "rights_harm > honesty_fairness > welfare > convention" in printed
    assert "welfare > rights_harm" in printed
    assert "only 2 chains" in printed
    assert "-0.000" not in printed


def test_a_folder_without_logs_is_one_line(capsys, tmp_path):
    assert main(["show", str(tmp_path)]) == 1
    assert "no Inspect log here" in capsys.readouterr().err
