"""Judge calls in a provider's batches, and what happens when a batch brings nothing."""

import tempfile
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import BatchConfig, GenerateConfig, get_model

from benchmarks.stub_batches import BatchingStubServer
from moral_evals.inspect_tasks.morebench import morebench
from tests.end_to_end.test_morebench_stub import metrics

QUICK = BatchConfig(send_delay=0.2, tick=0.1)  # else 15 s each


def run(stub: BatchingStubServer, **judge: Any) -> EvalLog:
    address = {"base_url": stub.base_url, "api_key": "none", "memoize": False}
    (log,) = eval(
        morebench(data="sample", judge_cache=False),
        model=get_model("openai-api/stub/candidate", **address),
        model_roles={
            "grader": get_model(
                "openai/judge", config=GenerateConfig(**judge), responses_api=False, **address
            )
        },
        limit=3,
        max_retries=0,
        display="none",
        log_dir=tempfile.mkdtemp(),
    )
    return log


def test_batched_verdicts_give_the_scores_of_single_calls():
    with BatchingStubServer() as stub:
        batched = run(stub, batch=QUICK)
        asked = stub.stats.calls["batched_judge"]
        assert dict(stub.stats.calls) == {"candidate": 3, "batched_judge": asked}
        assert len(stub.sizes) <= 3 < asked == sum(stub.sizes)
        single = run(stub)
    assert stub.stats.calls["judge"] == asked
    assert batched.status == single.status == "success"
    assert metrics(batched) == pytest.approx(metrics(single), nan_ok=True)
    assert metrics(batched)["graded_share"] == 1


@pytest.mark.parametrize("end", ["failed", "expired"])
def test_a_batch_without_results_is_an_error_and_no_verdict(end):
    # an expired batch without a result file is asked about without end but for attempt_timeout
    with BatchingStubServer(end=end) as stub:
        log = run(stub, batch=QUICK, attempt_timeout=1)
    assert stub.sizes
    scores = [s.scores["rubric_judge"] for s in log.samples]
    assert {score.reason for score in scores} == {"grader_failed"}
    assert not any(score.metadata["verdicts"] for score in scores)
    assert metrics(log)["scored"] == 0
