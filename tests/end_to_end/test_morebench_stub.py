"""Whole runs against the project's stub server, with and without faults."""

import math

import pytest
from inspect_ai.log import EvalLog

from benchmarks.stub_server import Fault, StubServer, candidate_reply, verdict
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.morebench.records import Scenario
from moral_evals.scorers.rubric.aggregate import scenario_score

MODELS = ("--model", "openai-api/stub/candidate", "--model-role", "grader=openai-api/stub/judge")


def metrics(log: EvalLog, scorer: str = "rubric_judge", name: str = "") -> dict[str, float]:
    assert log.results is not None
    found = next(s for s in log.results.scores if s.scorer == scorer and s.name == (name or scorer))
    return {k: m.value for k, m in found.metrics.items()}


def expected(scenarios: list[Scenario], judged: str = "trace") -> tuple[float, float]:
    """Regular and Hard worked out from the stub's rules."""
    scores, lengths = [], []
    for s in scenarios:
        reasoning, response = candidate_reply(s.dilemma)
        text = reasoning if judged == "trace" else response.strip()
        verdicts = {c.id: "yes" if verdict(c.text, text) else "no" for c in s.criteria}
        scores.append(scenario_score(s.criteria, verdicts).score)
        lengths.append(len(text))
    regular = sum(scores) / len(scores)
    return regular, regular * 1000 / (sum(lengths) / len(lengths))


@pytest.mark.parametrize("style", ["plain", "reason_last", "json"])
def test_a_run_gives_the_scores_of_the_formulas(inspect, dilemmas, style):
    data = dilemmas()
    with StubServer(style=style) as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", *MODELS)
    log = inspect.log()
    regular, hard = expected(read_jsonl(data))
    assert log.status == "success"
    assert metrics(log)["regular"] == pytest.approx(regular, abs=1e-12)
    assert metrics(log)["hard"] == pytest.approx(hard, abs=1e-12)
    assert metrics(log, "outcome")["trace_raw"] == 4
    assert stub.stats.calls == {"candidate": 4, "judge": 24}


def test_trace_and_response_stand_side_by_side(inspect, dilemmas):
    data = dilemmas()
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", "-T", "judged=both", *MODELS)
    log = inspect.log()
    for scorer, judged in (("rubric_judge", "trace"), ("rubric_judge_response", "response")):
        regular, hard = expected(read_jsonl(data), judged)
        assert metrics(log, scorer)["regular"] == pytest.approx(regular, abs=1e-12)
        assert metrics(log, scorer)["hard"] == pytest.approx(hard, abs=1e-12)
    from inspect_ai.analysis import evals_df

    frame = evals_df(str(inspect.logs))
    names = ["score_rubric_judge_regular", "score_rubric_judge_response_regular"]
    assert frame[names[0]][0] != frame[names[1]][0]
    assert frame["score_headline_value"][0] == pytest.approx(expected(read_jsonl(data))[0])


def test_transport_faults_lose_no_sample(inspect, dilemmas):
    data = dilemmas()
    faults = [Fault(kind, 0.15) for kind in ("429", "500", "drop")]
    with StubServer(faults=faults) as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", *MODELS)
    log = inspect.log()
    assert log.status == "success"
    assert sum(stub.stats.faults.values()) >= 3
    assert metrics(log)["regular"] == pytest.approx(expected(read_jsonl(data))[0], abs=1e-12)
    assert metrics(log)["scored"] == 4


@pytest.mark.parametrize("kind", ["garbage", "null", "empty", "reasoning_only", "length"])
def test_a_reply_that_is_no_verdict_is_asked_again(inspect, dilemmas, kind):
    data = dilemmas()
    with StubServer(faults=[Fault(kind, 0.5, "judge", attempts=1)]) as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", *MODELS)
    log = inspect.log()
    assert stub.stats.faults[f"judge:{kind}"] > 0
    assert metrics(log)["regular"] == pytest.approx(expected(read_jsonl(data))[0], abs=1e-12)
    assert metrics(log)["graded_share"] == 1


def test_what_stays_unreadable_is_left_out_and_counted(inspect, dilemmas):
    data = dilemmas()
    with StubServer(faults=[Fault("garbage", 0.3, "judge", attempts=0)]) as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", *MODELS)
    log = inspect.log()
    scores = []
    shares = []
    for sample, scenario in zip(log.samples or [], read_jsonl(data), strict=True):
        score = sample.scores["rubric_judge"]
        verdicts = score.metadata["verdicts"]
        graded = {k for k, v in verdicts.items() if v != "ungraded"}
        assert set(score.metadata["ungraded"].values()) <= {"judge_unclear"}
        won = sum(
            abs(c.weight)
            for c in scenario.criteria
            if c.id in graded and (verdicts[c.id] == "yes") == (c.weight > 0)
        )
        possible = sum(abs(c.weight) for c in scenario.criteria if c.id in graded)
        scores.append(won / possible)
        shares.append(possible / sum(abs(c.weight) for c in scenario.criteria))
    assert min(shares) < 1
    assert metrics(log)["regular"] == pytest.approx(sum(scores) / 4, abs=1e-12)
    assert metrics(log)["graded_share"] == pytest.approx(sum(shares) / 4, abs=1e-12)


def test_scoring_a_log_again_gives_the_live_numbers(inspect, dilemmas):
    data = dilemmas()
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", "--no-score", *MODELS[:2])
        log = inspect.log()
        inspect.run(
            "score", log.location, "--scorer", "moral_evals/rubric_judge",
            *MODELS[2:], "--overwrite", "--action", "overwrite",
        )  # fmt: skip
        first = metrics(inspect.log())
        assert first["regular"] == pytest.approx(expected(read_jsonl(data))[0], abs=1e-12)
        judged = stub.stats.calls["judge"]
        inspect.run(
            "score", log.location, "--scorer", "moral_evals/rubric_judge",
            *MODELS[2:], "--overwrite", "--action", "overwrite",
        )  # fmt: skip
    assert stub.stats.calls["judge"] == judged, "verdicts already given were paid for again"
    assert metrics(inspect.log()) == pytest.approx(first, nan_ok=True)


def test_without_a_judge_the_message_names_the_flags(inspect, dilemmas):
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        inspect.eval(
            "morebench.py@morebench", "-T", f"data={dilemmas(1)}", *MODELS[:2], check=False
        )
    log = inspect.log()
    message = log.samples[0].error.message
    assert "--model-role grader=" in message
    assert "OPENROUTER_API_KEY" in message
    assert "\n" not in message
    assert stub.stats.calls["judge"] == 0, "the candidate judged itself"


def test_epochs_equal_the_mean_over_runs(inspect, dilemmas):
    data = dilemmas()
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        inspect.eval("morebench.py@morebench", "-T", f"data={data}", "--epochs", "2", *MODELS)
    found = metrics(inspect.log())
    regular, hard = expected(read_jsonl(data))
    assert found["regular"] == pytest.approx(regular, abs=1e-12)
    assert found["hard"] == pytest.approx(hard, abs=1e-12)
    assert found["scored"] == 8
    assert math.isnan(found["regular_lower"]), "an interval of four scenarios"
