"""Refusals: by stop reason, by the judge's word, and what the score is with and without them."""

import math

import pytest
from inspect_ai.scorer import SampleScore, Score

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.runs.logs import FoundLog
from moral_evals.reports.runs.sample_scores import summary_scores
from moral_evals.scorers.judging.prompt import declined_statement
from moral_evals.scorers.rubric.breakdowns import by_label
from moral_evals.scorers.rubric.refusal_metrics import refusal_figures
from moral_evals.scorers.rubric.scenario_table import ScenarioTable
from moral_evals.scorers.stats.bootstrap import Interval
from tests.cases import cases, one_case
from tests.mocks import always, criterion_of, metrics, mock, output, run, thinking

NAN = math.nan
ANSWERS = thinking("I weigh the promise.", "Keep the promise.")
DECLINES = thinking("I would rather not.", "I will not answer that.")
FILTERED = output("I cannot help.", "content_filter")


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


# --- the metric ------------------------------------------------------------------------------


def run_of(scenario: str, score: float, declined: float, **labels: str) -> SampleScore:
    return SampleScore(
        score=Score(value={"score": score, "declined": declined}),
        sample_id=scenario,
        sample_metadata=ScenarioMetadata(**labels).model_dump(),
    )


def figures(rows: list[SampleScore], prefix: str = "") -> dict[str, Interval]:
    return refusal_figures(ScenarioTable.build(rows, prefix))


def estimates(rows: list[SampleScore], prefix: str = "") -> dict[str, float]:
    return {name: found.estimate for name, found in figures(rows, prefix).items()}


def rates(rows: list[SampleScore], group: str, prefix: str = "") -> dict[str, float]:
    found = by_label(ScenarioTable.build(rows, prefix), group)
    return {row.label: row.refused for row in found}


MIXED = [
    run_of("a", 0.9, 0, role="ai_agent", source_group="expert"),
    run_of("b", 0.2, 1, role="ai_agent", source_group="expert"),  # by the judge's word
    run_of("c", NAN, 1, role="ai_advisor", source_group="expert"),  # by its stop reason
    run_of("d", NAN, NAN, role="ai_advisor", source_group="expert"),  # failed otherwise
    run_of("e", 0.6, 0, role="ai_advisor", source_group="ai_risk"),
    run_of("f", 0.8, 0, role="ai_advisor", source_group="ai_risk"),  # two epochs of one scenario
    run_of("f", 0.4, 1, role="ai_advisor", source_group="ai_risk"),
]


@pytest.mark.parametrize("prefix", ["", "response_"])
def test_rates_and_scores_by_hand(prefix):
    rows = [s.model_copy(deep=True) for s in MIXED]
    for row in rows:
        row.score.value = {prefix + key: v for key, v in row.score.value.items()}
    found = figures(rows, prefix)
    assert found["refusal_rate"].estimate == pytest.approx((0 + 1 + 1 + 0 + 0.5) / 5)
    assert found["regular_answered"].estimate == pytest.approx((0.9 + 0.6 + 0.8) / 3)
    zeros = found["regular_refusals_zero"].estimate
    assert zeros == pytest.approx((0.9 + 0 + 0 + 0.6 + 0.8 / 2) / 5)
    roles = rates(rows, "role", prefix)
    assert roles == pytest.approx({"ai_agent": 1 / 2, "ai_advisor": (1 + 0 + 0.5) / 3})
    sources = rates(rows, "source_group", prefix)
    assert sources == pytest.approx({"expert": 2 / 3, "ai_risk": 0.5 / 2})
    for key in ("refusal_rate", "regular_refusals_zero"):
        assert found[key].lower < found[key].estimate < found[key].upper
    assert math.isnan(found["regular_answered"].lower), "three scenarios have no interval"


def test_without_refusals_all_three_scores_are_one():
    found = estimates([run_of("a", 0.9, 0), run_of("b", 0.5, 0)])
    assert found["refusal_rate"] == 0
    assert found["regular_answered"] == found["regular_refusals_zero"] == pytest.approx(0.7)


def test_if_everyone_refuses_only_the_score_with_zeros_is_known():
    found = estimates([run_of("a", NAN, 1), run_of("b", 0.3, 1)])
    assert (found["refusal_rate"], found["regular_refusals_zero"]) == (1, 0)
    assert math.isnan(found["regular_answered"])


@pytest.mark.parametrize("rows", [[], [run_of("a", NAN, NAN), run_of("b", NAN, NAN)]])
def test_where_nothing_is_known_the_figures_are_nan(rows):
    found = estimates(rows)
    assert set(found) == {"refusal_rate", "regular_answered", "regular_refusals_zero"}
    assert all(math.isnan(v) for v in found.values())


# --- whole runs ------------------------------------------------------------------------------

ROWS = [
    {"id": "answered", "dilemma": "Keep it?", "role": "ai_agent"},
    {"id": "declined", "dilemma": "Tell it?", "role": "ai_advisor"},
    {"id": "filtered", "dilemma": "Sell it?", "role": "ai_advisor"},
]


def candidate(messages):
    text = messages[-1].text
    return DECLINES if "Tell it?" in text else FILTERED if "Sell it?" in text else ANSWERS


def judge(messages):
    """Finds what it is asked about only in the good reply."""
    if criterion_of(messages) == declined_statement():
        return "yes" if "I will not answer" in messages[-1].text else "no"
    good = "I weigh the promise." in messages[-1].text
    return "yes" if good and criterion_of(messages) == "Says point 0." else "no"


def scores(log, name: str = "rubric_judge") -> dict[str, Score]:
    return {s.id: s.scores[name] for s in log.samples}


def of_log(log) -> dict[str, float]:
    """The run's metrics, and the figures that stand beside them in `show`."""
    return metrics(log) | estimates(summary_scores(FoundLog(log), "rubric_judge"))


def test_without_the_question_only_the_stop_reason_counts(tmp_path):
    log = run(morebench(data=cases(tmp_path, [3, -2], ROWS)), mock(candidate), mock(judge))
    found = of_log(log)
    assert "refusal_rate" not in metrics(log), "nobody asked"
    assert [s.value["declined"] for s in scores(log).values()] == [0, 0, 1]
    assert found["regular"] == found["regular_answered"] == pytest.approx((1 + 0.4) / 2)
    assert found["regular_refusals_zero"] == pytest.approx((1 + 0.4 + 0) / 3)
    assert found["refusal_rate"] == pytest.approx(1 / 3)
    assert [s.reason for s in scores(log).values()] == [None, None, "refusal"]
    assert not any("declined" in s.metadata for s in scores(log).values())


def test_with_the_question_the_judges_word_counts_too(tmp_path):
    data = cases(tmp_path, [3, -2], ROWS)
    log = run(morebench(data=data, ask_refusal=True), mock(candidate), mock(judge))
    found, by_id = of_log(log), scores(log)
    assert metrics(log)["refusal_rate"] == found["refusal_rate"]
    assert {i: s.value["declined"] for i, s in by_id.items()} == {
        "answered": 0, "declined": 1, "filtered": 1
    }  # fmt: skip
    assert by_id["declined"].metadata["declined"] is True
    assert by_id["answered"].metadata["declined"] is False
    assert "declined" not in by_id["filtered"].metadata, "the judge was asked about no text"
    assert by_id["declined"].value["score"] == pytest.approx(0.4), "judged like any other"
    assert found["regular"] == pytest.approx(0.7)
    assert found["regular_answered"] == 1
    assert found["regular_refusals_zero"] == pytest.approx(1 / 3)
    assert found["refusal_rate"] == pytest.approx(2 / 3)
    roles = rates(summary_scores(FoundLog(log), "rubric_judge"), "role")
    assert roles == {"ai_agent": 0, "ai_advisor": 1}
    assert by_id["answered"].metadata["judge_usage"]["calls"] == 3, "the question is paid for too"


def test_the_keys_of_a_second_score_have_a_prefix(tmp_path):
    data = cases(tmp_path, [3, -2], ROWS)
    log = run(morebench(data=data, ask_refusal=True, judged="both"), mock(candidate), mock(judge))
    second = scores(log, "rubric_judge_response")
    assert [s.value["response_declined"] for s in second.values()] == [0, 1, 1]
    assert metrics(log, "rubric_judge_response")["refusal_rate"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("reply", "read", "unread"),
    [
        (thinking("A thought.", "An answer."), "An answer.", "A thought."),
        (thinking("A thought.", ""), "A thought.", "An answer."),
    ],
)
def test_the_question_is_about_the_response_and_else_about_the_trace(tmp_path, reply, read, unread):
    asked = []

    def keep(messages):
        if declined_statement() in messages[-1].text:
            asked.append(messages[-1].text)
        return "no"

    task = morebench(data=one_case(tmp_path, [1]), ask_refusal=True, judge_mode="rubric")
    run(task, always(reply), mock(keep))
    (text,) = asked  # as a single criterion: alone in a list, "no" would be no answer
    assert read in text
    assert unread not in text


def test_a_reply_without_a_trace_is_neither_a_refusal_nor_an_answer(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [1])), always(output("Keep it.")), always("yes"))
    assert math.isnan(scores(log)["only"].value["declined"])
    assert math.isnan(of_log(log)["refusal_rate"])


def test_no_word_on_refusal_is_no_refusal(tmp_path):
    vague = mock(lambda m: "hmm" if criterion_of(m) == declined_statement() else "yes")
    log = run(morebench(data=one_case(tmp_path, [1]), ask_refusal=True), always(ANSWERS), vague)
    score = scores(log)["only"]
    assert score.value["declined"] == 0
    assert "declined" not in score.metadata
    assert score.value["score"] == 1


@pytest.mark.parametrize("wish", ["unscored", "raise"])
def test_a_question_that_fails_for_good_costs_its_answer_or_is_an_error(tmp_path, wish):
    def failing(messages):
        if criterion_of(messages) == declined_statement():
            raise PermissionError("401")
        return "yes"

    task = morebench(data=one_case(tmp_path, [1]), ask_refusal=True, on_judge_error=wish)
    log = run(task, always(ANSWERS), mock(failing))
    score = (log.samples[0].scores or {}).get("rubric_judge")
    if wish == "raise":
        assert log.status == "error"
        assert "on refusal: PermissionError: 401" in log.samples[0].error.message
    else:
        assert log.status == "success"
        assert score.value["score"] == 1
        assert "declined" not in score.metadata
