"""Keys, models and requests that a provider refuses: how many calls they cost."""

import pytest
from inspect_ai import eval_set
from inspect_ai.log import list_eval_logs, read_eval_log

from benchmarks.stub_server import Fault
from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.faults import FIRST_CALLS
from tests.mocks import metrics

SCENARIOS, CRITERIA, CONNECTIONS = 4, 12, 5


@pytest.mark.parametrize("status", ["401", "403", "404"])
def test_a_refused_judge_costs_a_call_for_each_connection(bench, stub, dilemmas, caplog, status):
    data = str(dilemmas(SCENARIOS, CRITERIA))
    stub.faults = [Fault(status, 1, "judge", attempts=0)]
    (log,) = bench.eval(morebench(data=data), max_connections=CONNECTIONS)
    assert log.status == "success"
    assert 1 <= stub.stats.calls["judge"] <= CONNECTIONS
    assert stub.stats.calls["candidate"] == SCENARIOS
    scores = [s.scores["rubric_judge"] for s in log.samples]
    assert {s.reason for s in scores} == {"grader_failed"}
    (line,) = [r.getMessage() for r in caplog.records if f"HTTP {status}" in r.getMessage()]
    assert f"{SCENARIOS} samples lack {SCENARIOS * CRITERIA} verdicts" in line
    assert "\n" not in line
    # with a key that is taken, the same process goes on
    stub.faults = []
    bench.run(line.rpartition("asked for by: ")[2])
    assert metrics(bench.newest())["scored"] == SCENARIOS


@pytest.mark.parametrize("status", ["400", "413", "422"])
def test_a_refused_request_costs_its_verdict_alone(bench, stub, dilemmas, status):
    stub.faults = [Fault(status, 0.2, "judge", attempts=0)]
    (log,) = bench.eval(morebench(data=str(dilemmas(SCENARIOS, CRITERIA))))
    refused = sum(stub.stats.faults.values())
    assert 0 < refused < SCENARIOS * CRITERIA / 2
    assert stub.stats.calls["judge"] == SCENARIOS * CRITERIA, "a refused request was sent again"
    seats = [s.scores["rubric_judge"].metadata["judges"][0] for s in log.samples]
    assert sum(len(seat.get("missing", [])) for seat in seats) == refused


@pytest.mark.parametrize("status", ["400", "413", "422"])
def test_requests_that_are_refused_from_the_start_end_the_judging(bench, stub, dilemmas, status):
    stub.faults = [Fault(status, 1, "judge", attempts=0)]
    data = str(dilemmas(SCENARIOS, CRITERIA))
    (log,) = bench.eval(morebench(data=data), max_connections=CONNECTIONS)
    assert FIRST_CALLS <= stub.stats.calls["judge"] <= FIRST_CALLS + CONNECTIONS
    failures = [s.scores["rubric_judge"].metadata["judges"][0]["failure"] for s in log.samples]
    assert any(f"the first {FIRST_CALLS} calls were all refused" in f for f in failures)


@pytest.mark.parametrize("status", ["401", "404"])
def test_a_refused_candidate_ends_its_run_and_no_other(bench, stub, dilemmas, status):
    stub.faults = [Fault(status, 1, "candidate", attempts=0, model="bad")]
    many = 20
    done, _ = eval_set(
        [morebench(data=str(dilemmas(many, 2)))],
        log_dir=str(bench.logs),
        model=[bench.model("bad"), bench.model("good")],
        model_roles={"grader": bench.model("judge")},
        max_connections=CONNECTIONS,
        retry_attempts=2,
        retry_on_error=1,
        retry_wait=0.1,
        display="none",
    )
    assert not done
    assert 1 <= stub.stats.models["bad"] <= CONNECTIONS
    assert stub.stats.models["good"] == many
    logs = [read_eval_log(info.name) for info in list_eval_logs(str(bench.logs))]
    assert any(log.status == "success" and metrics(log)["scored"] == many for log in logs)
