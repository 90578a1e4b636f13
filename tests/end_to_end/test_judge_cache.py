"""The judge's cache through the real commands: what is paid for once is not paid for again."""

import shutil
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from benchmarks.stub_server import Fault, StubServer, verdict
from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.scorers.judging.verdict_store import VerdictStore
from moral_evals.scorers.rubric.aggregate import scenario_score
from tests.mocks import always, metrics, run, thinking

TRACE = "I weigh the promise against the harm."
SCORER = ("--scorer", "moral_evals/rubric_judge")
CRITERIA = 24


@pytest.fixture
def replies(dilemmas, tmp_path) -> tuple[Path, float]:
    """A log of replies that nobody has judged, and the score that the stub will give them."""
    data = dilemmas()
    log = run(
        morebench(data=str(data)), always(thinking(TRACE, "Keep it.")), None,
        score=False, log_dir=str(tmp_path / "replies"),
    )  # fmt: skip
    scores = [
        scenario_score(
            s.criteria, {c.id: "yes" if verdict(c.text, TRACE) else "no" for c in s.criteria}
        ).score
        for s in read_jsonl(data)
    ]
    return Path(log.location), sum(scores) / len(scores)


def scoring(log: Path, judge: str = "judge") -> tuple[str, ...]:
    role = ("--model-role", f"grader=openai-api/stub/{judge}")
    return ("score", str(log), *SCORER, *role, "--overwrite", "--action", "overwrite")


def regular(log: Path) -> float:
    return metrics(read_eval_log(str(log)))["regular"]


def saved(log: Path) -> int:
    """Calls that the cache spared."""
    scores = [s.scores["rubric_judge"] for s in read_eval_log(str(log)).samples or []]
    return sum(s.metadata["judge_usage"].get("saved_calls", 0) for s in scores)


def test_a_second_scoring_asks_nothing_and_another_judge_everything(inspect, replies):
    log, expected = replies
    faults = [Fault("garbage", 0.2, "judge"), Fault("length", 0.2, "judge")]
    with StubServer(faults=faults) as stub:
        inspect.environment |= stub.environment()
        inspect.run(*scoring(log))
        unreadable = sum(stub.stats.faults.values())
        assert unreadable > 3, "no reply was unreadable at first"
        assert stub.stats.calls["judge"] == CRITERIA + unreadable
        assert regular(log) == pytest.approx(expected, abs=1e-12)
        assert saved(log) == 0

        inspect.run(*scoring(log))
        assert stub.stats.calls["judge"] == CRITERIA + unreadable, "asked again"
        assert regular(log) == pytest.approx(expected, abs=1e-12)
        assert saved(log) == CRITERIA

        inspect.run(*scoring(log, "other"))
        assert stub.stats.calls["judge"] == 2 * CRITERIA + unreadable
        assert saved(log) == 0


def test_two_scorings_side_by_side_do_not_disturb_each_other(inspect, replies, tmp_path):
    log, expected = replies
    copies = [Path(shutil.copy(log, log.with_name(f"copy-{i}.eval"))) for i in range(2)]
    with StubServer(latency=0.05) as stub:
        inspect.environment |= stub.environment()
        running = [inspect.start(*scoring(copy)) for copy in copies]
        for process in running:
            printed, _ = process.communicate(timeout=120)
            assert process.returncode == 0, printed
    assert [regular(copy) for copy in copies] == pytest.approx([expected] * 2, abs=1e-12)
    assert CRITERIA <= stub.stats.calls["judge"] <= 2 * CRITERIA
    assert stub.stats.calls["judge"] + sum(map(saved, copies)) == 2 * CRITERIA
    (folder,) = {p.parent for p in tmp_path.joinpath("cache").rglob("*.sqlite")}
    kept = VerdictStore(folder).holdings()
    # what both asked for at once is kept by both
    assert sum(h.replies for h in kept) == stub.stats.calls["judge"]
