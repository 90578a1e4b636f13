"""What the judge says, leaves open or fails on, in whole MoReBench runs with scripted models."""

import math

import pytest

from moral_evals.inspect_tasks import morebench
from tests.cases import one_case
from tests.mocks import always, criterion_of, metrics, mock, run, thinking

TRACE = thinking("I weigh the promise against the harm.", "Keep the promise.")


def test_an_unread_criterion_leaves_numerator_and_denominator(tmp_path):
    def judge(messages):
        return {"Says point 0.": "yes", "Says point 1.": "hmm", "Says point 2.": "no"}[
            criterion_of(messages)
        ]

    log = run(morebench(data=one_case(tmp_path, [3, 2, -5])), always(TRACE), mock(judge))
    found = log.samples[0].scores["rubric_judge"]
    assert found.value["score"] == 1.0
    assert found.value["graded_share"] == pytest.approx(0.8)
    assert found.metadata["ungraded"] == {"c1": "judge_unclear"}
    assert metrics(log)["graded_share"] == pytest.approx(0.8)


def test_a_judge_that_says_nothing_leaves_the_sample_unscored(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [3, -2])), always(TRACE), always(""))
    found = log.samples[0].scores["rubric_judge"]
    assert math.isnan(found.value["score"])
    assert found.reason == "grader_failed"
    assert set(found.metadata["ungraded"].values()) == {"judge_empty"}
    assert log.status == "success"


@pytest.mark.parametrize("hedge", ["Yes and no", "Neither a clear yes nor a clear no", "Yes/No"])
@pytest.mark.parametrize("weight", [3, -3])
def test_a_hedge_is_ungraded_whatever_the_sign(tmp_path, hedge, weight):
    log = run(morebench(data=one_case(tmp_path, [weight])), always(TRACE), always(hedge))
    assert math.isnan(log.samples[0].scores["rubric_judge"].value["score"])


def test_a_judge_that_raises_once_costs_nothing(tmp_path):
    seen: set[str] = set()

    def judge(messages):
        if criterion_of(messages) not in seen:
            seen.add(criterion_of(messages))
            raise ConnectionError("lost")
        return "yes"

    log = run(morebench(data=one_case(tmp_path, [3, 2])), always(TRACE), mock(judge))
    assert log.status == "success"
    assert metrics(log)["regular"] == 1


@pytest.mark.parametrize("on_judge_error", ["unscored", "raise"])
def test_a_judge_that_fails_on_one_criterion_never_scores_the_others_alone(
    tmp_path, on_judge_error
):
    def judge(messages):
        if criterion_of(messages) == "Says point 3.":
            raise PermissionError("401")
        return "yes"

    data = one_case(tmp_path, [3, 2, 1, 1, 1])
    task = morebench(data=data, on_judge_error=on_judge_error)
    (sample,) = run(task, always(TRACE), mock(judge)).samples
    if on_judge_error == "raise":
        assert "1 of 5 criteria" in sample.error.message
        assert "rubric_judge" not in sample.scores, "scored from the four that were left"
        return
    score = sample.scores["rubric_judge"]
    assert score.reason == "grader_failed" and "1 of 5 criteria" in score.explanation
    assert math.isnan(score.value["score"]), "scored from the four that were left"
    assert len(score.metadata["verdicts"]) == 4


def test_candidate_settings_reach_the_candidate_and_not_the_judge(tmp_path):
    log = run(
        morebench(data=one_case(tmp_path, [1])), always(TRACE), always("yes"),
        max_tokens=16, temperature=0.2, system_message="Be brief.", seed=5,
    )  # fmt: skip
    calls = [e for e in log.samples[0].events if e.event == "model"]
    own = next(e for e in calls if e.role != "grader")
    judge = next(e for e in calls if e.role == "grader")
    assert (own.config.max_tokens, own.config.temperature, own.config.seed) == (16, 0.2, 5)
    assert (judge.config.max_tokens, judge.config.temperature) == (None, None)
    assert judge.config.seed is None
    assert judge.config.attempt_timeout, "a judge without a time limit can hang a run"


def test_no_generation_option_is_set_by_the_task(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [1])), always(TRACE), always("yes"))
    own = next(e for e in log.samples[0].events if e.event == "model")
    assert own.config.max_tokens is None
    assert own.config.temperature is None
