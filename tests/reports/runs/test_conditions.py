"""Runs that differ in a condition are refused, with every reason at once, until it is allowed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.reports.compare.command import compare
from moral_evals.reports.runs.conditions import NAMES, Conditions, differences
from moral_evals.reports.runs.rubric_runs import rubric_runs
from tests.mocks import always, output, run
from tests.reports.conftest import corda_log, dilemmas, grader, small_log

TRACE_ONLY = "rubric_judge"


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> str:
    return dilemmas(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def first(tmp_path_factory, data) -> EvalLog:
    return small_log(tmp_path_factory.mktemp("first"), "steady", data=data)


def changed(log: EvalLog, folder: Path, change: Callable[[EvalLog], Any]) -> str:
    """A copy of a log as another model's, with one thing changed."""
    copy = log.model_copy(deep=True)
    copy.eval.model, copy.eval.eval_id = "mockllm/other", "other"
    change(copy)
    path = str(folder / "changed.eval")
    write_eval_log(copy, path)
    return path


def refusal(*paths: str, **options: Any) -> str:
    with pytest.raises(SuiteError, match="not comparable") as refused:
        compare(paths, **options)
    return str(refused.value)


def in_scores(**facts: Any) -> Callable[[EvalLog], None]:
    def change(log: EvalLog) -> None:
        for sample in log.samples:
            score = sample.scores[TRACE_ONLY]
            if "judge" in score.metadata:
                score.metadata |= facts

    return change


def in_metadata(**facts: Any) -> Callable[[EvalLog], None]:
    return lambda log: log.eval.metadata.update(facts)


def in_plan(**params: Any) -> Callable[[EvalLog], None]:
    return lambda log: log.plan.steps[0].params.update(params)


def other_solver(log: EvalLog) -> None:
    log.plan.steps[0].solver, log.plan.steps[0].params = "german", {"formal": True}


def version(log: EvalLog) -> None:
    log.eval.task_version = "2-A"


COPIES = {
    "version": (version, "version differs: 1; 2"),
    "data": (
        in_metadata(data={"file": "other.jsonl", "sha256": "f" * 64}),
        "; small.jsonl",
    ),
    "protocol": (in_plan(protocol="upstream"), "; upstream "),
    "solver": (other_solver, "solver differs: elicit_reasoning; german(formal=true)"),
    "judged": (in_scores(judged="response"), "judged differs: "),
    "judge": (
        in_scores(judge="mockllm/else", judges=[{"model": "mockllm/else", "settings": {}}]),
        "judge differs: mockllm/else; mockllm/judge",
    ),
    "judge_mode": (in_scores(judge_votes=3), "judge_mode differs: criterion; criterion, 3 votes"),
    "judge_prompts": (in_scores(prompt_sha256="0123456789abcdef"), "0123456789abcdef; "),
}


@pytest.mark.parametrize("name", COPIES)
def test_each_difference_is_refused_and_can_be_allowed(first, tmp_path, name):
    change, part = COPIES[name]
    other = changed(first, tmp_path, change)
    said = refusal(first.location, other)
    assert part in said
    assert said.count(" differs: ") == 1
    assert "--allow NAME" in said
    others = [n for n in NAMES if n != name]
    assert refusal(first.location, other, allowed=others) == said
    (report,) = compare([first.location, other], allowed=[name])
    assert len(report.tables[0].rows) == 2


def test_the_candidates_prompts_are_part_of_the_protocol(first, tmp_path):
    other = changed(first, tmp_path, in_scores(candidate_prompts_sha256="feed"))
    assert "protocol differs: suite " in refusal(first.location, other)


def test_the_interface_part_of_a_version_does_not_matter(first, tmp_path):
    def change(log: EvalLog) -> None:
        log.eval.task_version = "1-Z"

    (report,) = compare([first.location, changed(first, tmp_path, change)])
    assert len(report.tables[0].rows) == 2


def test_all_reasons_are_in_one_message(first, tmp_path):
    def change(log: EvalLog) -> None:
        for name in told:
            COPIES[name][0](log)

    # a solver of the user's own has no protocol of ours
    told = [name for name in COPIES if name != "protocol"]

    other = changed(first, tmp_path, change)
    said = refusal(first.location, other)
    for name in told:
        assert f"{name} differs: " in said
    assert said.count(" differs: ") == len(told)
    assert "\n" not in said
    left = refusal(first.location, other, allowed=["judge", "version"])
    assert left.count(" differs: ") == len(told) - 2
    compare([first.location, other], allowed=list(COPIES))


def test_an_unknown_allowance_is_refused_with_those_there_are(first):
    with pytest.raises(OptionError, match="--allow jugde, moon: no such condition") as refused:
        compare([first.location], allowed=["moon", "judge", "jugde"])
    assert str(refused.value).endswith(f"Allowed: {', '.join(NAMES)}.")


# --- real runs --------------------------------------------------------------------------------


def test_another_judge_and_other_settings_of_one(first, data, tmp_path):
    other = small_log(tmp_path / "judge", "kind", grader("second"), data)
    assert "judge differs: mockllm/judge; mockllm/second." in refusal(
        first.location, other.location
    )
    warm = small_log(tmp_path / "warm", "kind", grader(temperature=0.5, seed=3), data)
    assert "mockllm/judge (seed=3, temperature=0.5)" in refusal(first.location, warm.location)


def test_how_a_judges_replies_are_fetched_does_not_matter(first, data, tmp_path):
    patient = grader(
        max_retries=99, timeout=5000, attempt_timeout=77, max_connections=3,
        stream_idle_timeout=60, cache_prompt=True,
    )  # fmt: skip
    other = small_log(tmp_path, "kind", patient, data)
    settings = next(
        s.scores[TRACE_ONLY].metadata["judges"][0]["settings"]
        for s in other.samples
        if "judges" in s.scores[TRACE_ONLY].metadata
    )
    assert settings["max_connections"] == 3, "the settings did not reach the log"
    (report,) = compare([first.location, other.location])
    assert report.notes[1].startswith("Judge mockllm/judge; ")


def test_whole_rubrics_are_not_single_criteria(first, data, tmp_path):
    judge = get_model(
        "mockllm/judge", memoize=False, custom_outputs=lambda *_: output('["yes","no","yes","no"]')
    )
    whole = small_log(tmp_path / "whole", "kind", judge, data, judge_mode="rubric")
    said = refusal(first.location, whole.location)
    assert "judge_mode differs: criterion; rubric" in said
    assert "judge_prompts differs: " in said
    halves = changed(whole, tmp_path, in_scores(rubric_chunk=2))
    assert "judge_mode differs: rubric by 2; rubric by 50" in refusal(whole.location, halves)
    bare = changed(whole, tmp_path, lambda log: log.results.scores[-1].params.clear())
    compare([whole.location, bare])  # `inspect score` records only the options that were given
    (report,) = compare([whole.location])
    assert any("not comparable with the paper" in note for note in report.notes)


def test_other_data_and_another_judged_text(first, tmp_path):
    other = small_log(
        tmp_path, "kind", data=dilemmas(tmp_path, 5, "small.jsonl"), judged="response"
    )
    said = refusal(first.location, other.location)
    assert said.count("small.jsonl") == 2, "the name alone does not tell the files apart"
    assert "judged differs: response; trace" in said


def test_a_panel_is_not_its_first_judge(first, data, tmp_path):
    panel = small_log(tmp_path, "kind", [grader(), grader("second")], data)
    said = refusal(first.location, panel.location)
    assert "judge differs: mockllm/judge; mockllm/judge + mockllm/second" in said


def test_a_model_that_shows_nothing_to_judge_is_still_comparable(first, data, tmp_path):
    silent = run(
        morebench(data=data, judge_cache=False), always("Do it."), grader("unheard"),
        log_dir=str(tmp_path), log_realtime=False,
    )  # fmt: skip
    (report,) = compare([silent.location, first.location])
    assert report.notes[1].startswith("Judge mockllm/judge; ")
    with pytest.raises(SuiteError, match="judge differs: mockllm/judge; not recorded"):
        compare([first.location, changed(first, tmp_path, in_scores(judge="", judges=None))])


def test_another_tier_order_is_refused(tmp_path):
    conditions = ["unconditioned"]
    options = {"chains": 2, "shuffles": 1}
    stated = corda_log(tmp_path / "a", "uniform", conditions, **options)
    other = corda_log(
        tmp_path / "b", "welfare-first", conditions, **options,
        tier_order="welfare,rights_harm,honesty_fairness,convention",
    )  # fmt: skip
    said = refusal(stated, other)
    assert "tier_order differs: rights_harm > honesty_fairness > welfare > convention; welf" in said
    assert said.count(" differs: ") == 1
    (report,) = compare([stated, other], allowed=["tier_order"])
    assert len(report.tables[0].rows) == 2
    abstaining = corda_log(tmp_path / "c", "uniform", conditions, **options, allow_abstain=True)
    assert "protocol differs: tags " in refusal(stated, abstaining)


# --- the conditions themselves ----------------------------------------------------------------


def test_a_score_made_later_is_asked_before_the_header(both_logs):
    traces, responses = [rubric_runs([both_logs[0]])[i].conditions for i in (0, 1)]
    assert (traces.judged, responses.judged) == ("trace", "response")
    assert traces.judge == responses.judge == "mockllm/judge"
    assert traces.judge_prompts == responses.judge_prompts != ""
    assert read_eval_log(both_logs[0], header_only=True).eval.metadata["judged"] == "both"


def test_what_a_log_does_not_say_differs_from_what_it_says():
    assert differences([Conditions(), Conditions()]) == []
    assert differences([Conditions(judge="a"), Conditions()]) == ["judge differs: a; not recorded"]
