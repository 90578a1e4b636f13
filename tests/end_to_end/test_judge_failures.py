"""A judge that fails for good: what it costs, and the command that makes it good."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai.event import ScoreEvent
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.scorer import Score

from benchmarks.stub_server import Fault, StubServer, unit
from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.morebench.jsonl import read_jsonl
from tests.end_to_end.in_process import Bench, replies
from tests.mocks import metrics

SCENARIOS, CRITERIA = 8, 12
RATE = 0.05
LASTING = Fault("500", RATE, "judge", attempts=0)


@pytest.fixture
def data(dilemmas) -> Path:
    return dilemmas(SCENARIOS, CRITERIA)


def failing(data: Path) -> set[str]:
    """Criteria that `LASTING` hits."""
    texts = [c.text for s in read_jsonl(data) for c in s.criteria]
    found = {t for t in texts if unit("500", t) < RATE}
    assert 0 < len(found) < len(texts) / 5
    return found


def judged(log: EvalLog) -> list[tuple[object, str, Score]]:
    """Sample id, scorer and rubric score."""
    return [
        (s.id, name, score)
        for s in log.samples or []
        for name, score in (s.scores or {}).items()
        if name != "outcome"
    ]


def printed(caplog: pytest.LogCaptureFixture) -> tuple[int, int, str]:
    """Samples, verdicts and command of the one line at the run's end."""
    said = [r.getMessage() for r in caplog.records if " samples lack " in r.getMessage()]
    (line,) = said
    found = re.search(r"(\d+) samples lack (\d+) verdicts.*asked for by: (inspect .*)$", line)
    assert found, line
    caplog.clear()
    return int(found[1]), int(found[2]), found[3]


def undisturbed(bench: Bench, log: EvalLog, stub: StubServer) -> EvalLog:
    """The same replies, judged from the start by a judge that never failed."""
    log = log.model_copy(deep=True)
    for sample in log.samples or []:
        sample.scores = {}
        sample.events = [e for e in sample.events if not isinstance(e, ScoreEvent)]
    path = str(bench.folder / "undisturbed.eval")
    write_eval_log(log, path)
    bench.clear_verdicts()
    stub.stats.pairs.clear()
    bench.run(f"inspect score '{path}' --action overwrite --overwrite")
    return read_eval_log(path)


def figures(log: EvalLog) -> dict[str, dict[str, str]]:
    assert log.results is not None
    return {s.name: {k: repr(m.value) for k, m in s.metrics.items()} for s in log.results.scores}


def lacking(log: EvalLog) -> dict[tuple[object, str], list[str]]:
    """Ids of the criteria without a verdict, each judge's, by sample and scorer."""
    found = {
        (i, name): [c for seat in score.metadata["judges"] for c in seat.get("missing", [])]
        for i, name, score in judged(log)
    }
    return {place: missing for place, missing in found.items() if missing}


def pairs(log: EvalLog, data: Path) -> dict[tuple[str, str], int]:
    """The same as criterion and judged text."""
    words = {(s.id, c.id): c.text for s in read_jsonl(data) for c in s.criteria}
    texts = {(i, name): score.answer for i, name, score in judged(log)}
    return {(words[i, c], texts[i, name]): 1 for (i, name), cs in lacking(log).items() for c in cs}


@pytest.mark.parametrize(
    ("options", "judges", "fault"),
    [
        ({}, "judge", LASTING),
        ({"judged": "both"}, "judge", LASTING),
        ({"judge_mode": "rubric", "rubric_chunk": 3}, "judge", replace(LASTING, rate=0.2)),
        ({}, ["one", "two"], replace(LASTING, model="two")),
        ({}, ["one", "two"], LASTING),
    ],
    ids=["criterion", "both", "rubric", "one_of_a_panel", "a_panel"],
)
def test_the_printed_command_asks_exactly_what_is_missing(
    bench, stub, data, caplog, options, judges, fault
):
    stub.faults = [fault]
    (log,) = bench.eval(morebench(data=str(data), **options), judges)
    assert log.status == "success"
    before, missing = replies(log), lacking(log)
    samples, verdicts, command = printed(caplog)
    assert samples == len({i for i, _ in missing})
    assert verdicts == sum(map(len, missing.values())) > 0
    if "judge_mode" not in options:
        assert {c for c, _ in pairs(log, data)} == failing(data)
    for i, name, score in judged(log):
        lost = set(missing.get((i, name), []))
        if lost and fault.model == "":
            assert score.reason == "grader_failed"
            assert "InternalServerError: Error code: 500" in score.explanation
        assert len(score.metadata["verdicts"]) == CRITERIA - (len(lost) if not fault.model else 0)

    wanted = pairs(log, data)
    both = 2 if judges != "judge" and not fault.model else 1
    bench.clear_verdicts()
    stub.faults = []
    stub.stats.pairs.clear()
    bench.run(command)
    assert dict(stub.stats.pairs) == dict.fromkeys(wanted, both)
    assert stub.stats.calls["candidate"] == SCENARIOS
    repaired = bench.newest()
    assert replies(repaired) == before
    assert not lacking(repaired)
    assert metrics(repaired)["scored"] == SCENARIOS
    assert figures(repaired) == figures(undisturbed(bench, repaired, stub))
    each = 2 if judges != "judge" or "judged" in options else 1
    assert sum(stub.stats.pairs.values()) == SCENARIOS * CRITERIA * each


def test_where_errors_are_wanted_a_retry_takes_over_replies_and_verdicts(bench, stub, data, caplog):
    stub.faults = [LASTING]
    (log,) = bench.eval(morebench(data=str(data), on_judge_error="raise"))
    assert log.status == "error"
    failed = [s for s in log.samples or [] if s.error]
    assert 0 < len(failed) < SCENARIOS
    assert "InternalServerError: Error code: 500" in failed[0].error.message
    before = replies(log)
    stub.faults = []
    stub.stats.pairs.clear()
    (again,) = eval_retry(log, log_dir=str(bench.logs), display="none")
    assert again.status == "success"
    assert replies(again) == before
    assert stub.stats.calls["candidate"] == SCENARIOS
    assert {c: n for (c, _), n in stub.stats.pairs.items()} == dict.fromkeys(failing(data), 1)
    assert figures(again) == figures(undisturbed(bench, again, stub))


def test_a_sample_that_is_tried_again_takes_over_its_reply(bench, stub, data):
    stub.faults = [Fault("422", 0.1, "judge")]
    (log,) = bench.eval(morebench(data=str(data), on_judge_error="raise"), retry_on_error=1)
    assert log.status == "success"
    assert any(s.error_retries for s in log.samples or [])
    assert stub.stats.calls["candidate"] == SCENARIOS
    assert stub.stats.calls["judge"] == SCENARIOS * CRITERIA + sum(stub.stats.faults.values())


def test_a_second_run_is_served_no_reply_of_the_first(bench, stub, data):
    first, second = (bench.eval(morebench(data=str(data), judged="response"))[0] for _ in "12")
    assert stub.stats.calls["candidate"] == 2 * SCENARIOS
    assert not set(replies(first).values()) & set(replies(second).values())
