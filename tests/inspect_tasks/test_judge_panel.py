"""Panels, repeated votes and whole rubrics through real runs, with scripted judges."""

import json
from collections import Counter

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, Model

from moral_evals.inspect_tasks import judge_agreement, morebench
from moral_evals.loaders.paths import bundled
from moral_evals.loaders.tables.judge_pairs import read_pairs
from moral_evals.reports.runs.sample_scores import sample_scores
from moral_evals.scorers.rubric.panel_metrics import panel_figures
from moral_evals.scorers.rubric_judge import rubric_judge
from moral_evals.scorers.stats.bootstrap import Interval
from tests.cases import cases, one_case
from tests.mocks import always, criteria_of, criterion_of, metrics, mock, run, thinking

TRACE = thinking("I weigh the promise.", "Keep the promise.")
NAMES = ["mockllm/model", "mockllm/model #2", "mockllm/model #3"]


def judge(letters: str) -> Model:
    """Says y, n, or something unreadable about the criteria in turn; `!` is a call that fails."""

    def answer(messages: list[ChatMessage]) -> str:
        letter = letters[int(criterion_of(messages).split()[-1].rstrip("."))]
        if letter == "!":
            raise PermissionError("401")
        return {"y": "yes", "n": "no"}.get(letter, "hmm")

    return mock(answer)


def facts(log: EvalLog) -> dict:
    return log.samples[0].scores["rubric_judge"].metadata


def panel(log: EvalLog) -> dict[str, float]:
    """The figures of the panel, without their intervals."""
    found = panel_figures(sample_scores(log, "rubric_judge"))
    return {k: v.estimate if isinstance(v, Interval) else v for k, v in found.items()}


def table_row(log: EvalLog, criterion: str) -> list[str]:
    lines = log.samples[0].scores["rubric_judge"].explanation.splitlines()
    (line,) = [line for line in lines if criterion in line]
    return line.strip("| ").split(" | ")


def test_three_judges_decide_by_majority(tmp_path):
    judges = [judge("yyny"), judge("ynnn"), judge("ynnu")]
    log = run(morebench(data=one_case(tmp_path, [3, 2, -2, 1])), always(TRACE), judges)
    found, kept = metrics(log) | panel(log), facts(log)
    assert metrics(log)["alpha"] == found["alpha"]
    assert log.status == "success"
    assert kept["verdicts"] == {"c0": "yes", "c1": "no", "c2": "no", "c3": "ungraded"}
    assert kept["ungraded"] == {"c3": "votes_missing"}
    assert kept["votes"] == {
        "c0": ["yes", "yes", "yes"],
        "c1": ["yes", "no", "no"],
        "c2": ["no", "no", "no"],
        "c3": ["yes", "no", "ungraded"],
    }
    assert [j["model"] for j in kept["judges"]] == NAMES
    assert kept["judge"] == " + ".join(NAMES)
    assert found["regular"] == pytest.approx((3 + 2) / 7)  # c1 not met, c3 left out
    # coincidences: yes-yes 3, no-no 4, the mixed ones 2 each, so 5 yes and 6 no
    assert found["alpha"] == pytest.approx(1 - 10 * 4 / (2 * 5 * 6))
    assert found[f"kappa.{NAMES[0]}|{NAMES[1]}"] == pytest.approx(0.2)  # (.5 - .375) / (1 - .375)
    assert found["no_majority_share"] == pytest.approx(1 / 4)
    assert found["votes_missing_share"] == pytest.approx(1 / 12)
    assert table_row(log, "| verdict |")[-3:] == NAMES
    assert table_row(log, "Says point 1.")[0] == "no"
    assert table_row(log, "Says point 1.")[-3:] == ["yes", "no", "no"]
    assert table_row(log, "Says point 3.")[-3:] == ["yes", "no", "ungraded"]


def test_two_judges_that_differ_leave_a_tie(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [3, 2])), always(TRACE), [judge("yy"), judge("yn")])
    assert facts(log)["ungraded"] == {"c1": "tie"}
    assert metrics(log)["regular"] == 1
    assert metrics(log)["graded_share"] == pytest.approx(3 / 5)


def test_a_judge_that_fails_on_every_call_stops_nobody(tmp_path):
    judges = [judge("yyn"), judge("!!!"), judge("yny")]
    log = run(morebench(data=one_case(tmp_path, [3, 2, 1])), always(TRACE), judges)
    kept = facts(log)
    assert log.status == "success"
    assert kept["verdicts"] == {"c0": "yes", "c1": "ungraded", "c2": "ungraded"}
    assert kept["votes"]["c0"] == ["yes", "ungraded", "yes"]
    assert kept["ungraded"] == {"c1": "votes_missing", "c2": "votes_missing"}
    assert (kept["judges"][1]["failed"], kept["judges"][1]["failure"]) == (
        3,
        "PermissionError: 401",
    )
    assert "failed" not in kept["judges"][0]
    assert panel(log)["votes_missing_share"] == pytest.approx(1 / 3)
    assert metrics(log)["alpha"] == pytest.approx(1 - 5 * 4 / (2 * 4 * 2))


def test_a_panel_that_fails_as_a_whole_is_an_error_and_in_a_rescoring_unscored(tmp_path):
    dead = [judge("!y"), judge("!n"), judge("!y")]
    data = one_case(tmp_path, [3, 2])
    log = run(morebench(data=data, on_judge_error="raise"), always(TRACE), dead)
    assert log.status == "error"
    assert "failed on 1 of 2 criteria, first on c0: PermissionError" in log.samples[0].error.message
    assert "rubric_judge" not in log.samples[0].scores
    plain = run(morebench(data=data), always(TRACE), None, score=False)
    again = score(plain, rubric_judge(), model_roles={"grader": dead}, display="none")
    kept = again.samples[0].scores["rubric_judge"]
    assert again.status == "success"
    assert kept.reason == "grader_failed"
    assert "PermissionError: 401" in kept.explanation
    assert metrics(again)["unscored"] == 1


def test_three_votes_of_one_judge(tmp_path):
    times: Counter[str] = Counter()

    def wavering(messages: list[ChatMessage]) -> str:
        criterion = criterion_of(messages)
        times[criterion] += 1
        return "no" if times[criterion] == 2 and "0" in criterion else "yes"

    task = morebench(data=one_case(tmp_path, [3, 2]), votes=3)
    log = run(task, always(TRACE), mock(wavering))
    kept = facts(log)
    assert kept["verdicts"] == {"c0": "yes", "c1": "yes"}
    assert sorted(kept["votes"]["c0"]) == ["no", "yes", "yes"]
    assert [j.get("vote", 1) for j in kept["judges"]] == [1, 2, 3]
    assert (kept["judge"], kept["judge_votes"]) == ("mockllm/model", 3)
    assert set(times.values()) == {3}
    assert panel(log)["flip_rate.mockllm/model"] == pytest.approx(2 / 6)
    assert "alpha" not in metrics(log)
    assert table_row(log, "| verdict |")[-3:] == [
        "mockllm/model",
        *(f"mockllm/model, vote {i}" for i in (2, 3)),
    ]


def test_one_judge_asked_once_has_its_words_and_no_panel_figures(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [3])), always(TRACE), always("Yes, plainly so."))
    assert "votes" not in facts(log)
    assert table_row(log, "Says point 0.")[-1] == "Yes, plainly so."
    assert "alpha" not in metrics(log)
    assert panel(log) == {}


def test_every_judge_of_a_panel_has_the_role_and_its_own_settings(tmp_path):
    judges = [always("yes"), always("no")]
    judges[1].config.temperature = 0.5
    log = run(morebench(data=one_case(tmp_path, [3])), always(TRACE), judges, temperature=0.1)
    calls = [e for e in log.samples[0].events if e.event == "model" and e.role == "grader"]
    assert sorted(str(e.config.temperature) for e in calls) == ["0.5", "None"]
    assert all(e.config.attempt_timeout for e in calls), "a judge without a limit can hang a run"
    assert facts(log)["judges"][1]["settings"]["temperature"] == 0.5


# --- whole rubrics ---------------------------------------------------------------------------


def test_the_order_in_which_a_rubric_was_shown_stands_in_the_log(tmp_path):
    shown: list[list[str]] = []

    def whole(messages: list[ChatMessage]) -> str:
        numbered = criteria_of(messages)
        shown.append(list(numbered.values()))
        return "\n".join(f"{n}: {'yes' if '1' in text else 'no'}" for n, text in numbered.items())

    data = cases(tmp_path, [1] * 8, [{"id": i, "dilemma": f"{i}?"} for i in ("a", "b")])
    orders = []
    for seed in (0, 0, 7):
        task = morebench(data=data, judge_mode="rubric", rubric_seed=seed, rubric_chunk=8)
        log = run(task, always(TRACE), mock(whole))
        ids = facts(log)["criteria_order"]
        assert shown[-1] == shown[-2] == [f"Says point {i[1:]}." for i in ids]
        assert facts(log)["verdicts"]["c1"] == "yes"
        assert metrics(log)["regular"] == pytest.approx(1 / 8)
        assert log.eval.metadata.items() >= {
            "judge_mode": "rubric", "rubric_seed": seed, "rubric_chunk": 8
        }.items()  # fmt: skip
        assert "+" in facts(log)["prompt_sha256"]
        orders.append(ids)
    assert orders[0] == orders[1] != orders[2]
    assert len(shown) == 6
    assert "null" not in json.dumps(facts(log))


def test_a_criterion_a_call_has_no_order(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [1])), always(TRACE), always("yes"))
    assert "criteria_order" not in facts(log)
    assert "rubric_seed" not in log.eval.metadata


@pytest.mark.parametrize("options", [{}, {"rubric_chunk": 5}])
def test_the_judges_examination_takes_panels_and_whole_lists(options):
    texts = read_pairs(bundled("judge_pairs") / "pairs.jsonl")[:3]
    known = {p.criterion: p.label for t in texts for p in t.pairs}
    calls: Counter[int] = Counter()

    def knowing(messages: list[ChatMessage]) -> str:
        numbered = criteria_of(messages)
        calls[len(numbered)] += 1
        return "\n".join(f"{n}: {known[text]}" for n, text in numbered.items())

    task = judge_agreement(judge_mode="rubric", **options)
    log = run(task, always("not asked"), [mock(knowing), mock(knowing)], limit=3)
    found = metrics(log, "judge_labels")
    assert found["macro_f1"] == found["alpha"] == 1
    assert found["pairs"] == len(known)
    most = options.get("rubric_chunk", 50)
    assert sum(calls.values()) == 2 * sum(-(-len(t.pairs) // most) for t in texts)
    assert max(calls) <= most
