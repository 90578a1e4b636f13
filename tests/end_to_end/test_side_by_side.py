"""Runs side by side: what is in flight is not paid twice, and a folder is shared."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from inspect_ai._cli.cache import cache_command
from inspect_ai.log import read_eval_log

from benchmarks.stub_server import StubServer
from moral_evals.inspect_tasks import morebench
from moral_evals.scorers.judging.cache import store_folder
from tests.end_to_end.conftest import ROOT, Command
from tests.mocks import metrics

SCENARIOS, CRITERIA = 4, 8

OTHER_MACHINE = """
import socket, sys
machine = sys.argv.pop(1)
socket.gethostname = lambda: machine
from inspect_ai._cli.main import main
main()
"""


def test_two_tasks_with_the_same_replies_pay_once(bench, stub, dilemmas):
    stub.fresh, stub.latency = False, 0.1
    data = str(dilemmas(SCENARIOS, CRITERIA))
    tasks = [morebench(data=data), morebench(data=data, judge_attempts=2)]
    logs = bench.eval(tasks, max_tasks=2)
    assert [log.status for log in logs] == ["success"] * 2
    assert stub.stats.calls["candidate"] == 2 * SCENARIOS
    assert stub.stats.calls["judge"] == SCENARIOS * CRITERIA
    assert set(stub.stats.pairs.values()) == {1}
    assert metrics(logs[0])["regular"] == metrics(logs[1])["regular"]


def test_inspect_lists_models_and_not_verdicts(bench, stub, dilemmas):
    bench.eval(morebench(data=str(dilemmas(SCENARIOS, CRITERIA))))
    assert list(store_folder().glob("*.sqlite"))
    listed = CliRunner().invoke(cache_command, ["list"])
    assert listed.exit_code == 0
    assert len(listed.output.splitlines()) < 12
    assert "judge" not in listed.output


def test_two_machines_share_a_folder(inspect: Command, dilemmas, tmp_path):
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        arguments = (
            "eval", "inspect_tasks/morebench.py@morebench", "-T",
            f"data={dilemmas(SCENARIOS, CRITERIA)}", "--model", "openai-api/stub/candidate",
            "--model-role", "grader=openai-api/stub/judge", "--display", "plain",
        )  # fmt: skip
        found = []
        for machine in ("one", "two"):
            folder = tmp_path / machine
            done = subprocess.run(
                [sys.executable, "-c", OTHER_MACHINE, machine, *arguments, "--log-dir", folder],
                cwd=ROOT, env=inspect.environment, capture_output=True, text=True, timeout=120,
                check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            (path,) = folder.glob("*.eval")
            found.append(metrics(read_eval_log(str(path)))["regular"])
    assert stub.stats.calls["judge"] == SCENARIOS * CRITERIA
    assert found[0] == found[1]
    files = Path(inspect.environment["INSPECT_CACHE_DIR"]).rglob("*.sqlite")
    # the second had nothing to store, and a place of its own to store it
    assert {p.name for p in files} == {"one-0.sqlite", "two-0.sqlite"}


def test_a_full_disk_costs_a_warning(bench, stub, dilemmas, monkeypatch, caplog):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("moral_evals.scorers.judging.verdict_store.VerdictStore.put", full)
    (log,) = bench.eval(morebench(data=str(dilemmas(SCENARIOS, CRITERIA))))
    assert log.status == "success"
    assert metrics(log)["scored"] == SCENARIOS
    assert sum("No space left" in r.getMessage() for r in caplog.records) == 1
    assert stub.stats.calls["judge"] == SCENARIOS * CRITERIA


def test_a_time_limit_in_scoring_costs_no_verdict_that_had_come(bench, stub, dilemmas):
    stub.hold = {"judge": 5}
    data = str(dilemmas(1, CRITERIA))
    (cut,) = bench.eval(morebench(data=data), time_limit=4)
    assert cut.status == "error"
    stub.hold = {}
    bench.run(f"inspect eval-retry '{cut.location}' --log-dir '{bench.logs}' --display none")
    assert bench.newest().status == "success"
    assert stub.stats.calls["candidate"] == 1
    assert stub.stats.answered["judge"] == CRITERIA
    assert set(stub.stats.pairs.values()) <= {1, 2}


def test_a_token_limit_does_not_hinder_the_judge(bench, stub, dilemmas):
    # 120 tokens a call
    (log,) = bench.eval(morebench(data=str(dilemmas(1, CRITERIA))), token_limit=500)
    assert metrics(log)["graded_share"] == 1
    assert stub.stats.calls["judge"] == CRITERIA
