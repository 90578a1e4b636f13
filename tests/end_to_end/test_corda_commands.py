"""CORDA by the commands that a user types."""

import signal
import subprocess
import sys
import time

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from benchmarks.stub_server import StubServer
from tests.end_to_end.conftest import ROOT
from tests.mocks import metrics

MODELS = ("--model", "openai-api/stub/candidate", "--model-role", "grader=openai-api/stub/judge")


def test_a_run_its_table_and_another_tier_order(inspect, capsys):
    inspect.eval("corda.py", "-T", "chains=3", "--model", "scripted/welfare-first")
    log = inspect.log()
    assert log.status == "success"
    from moral_evals.reports.__main__ import main

    assert main(["show", str(inspect.logs)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "conditioning effect" in printed
    assert "24 of 24 rollouts" in printed
    live = metrics(log, "lexicographic")["uncond_lms"]
    inspect.run(
        "score", log.location, "--scorer", "moral_evals/lexicographic",
        "-S", "tier_order=welfare,rights_harm,honesty_fairness,convention",
        "--action", "overwrite", "--overwrite",
    )  # fmt: skip
    assert metrics(inspect.log(), "lexicographic")["uncond_lms"] > live


def test_layouts_do_not_hang_on_pythons_hash_seed(inspect):
    shown = []
    for seed in ("0", "1"):
        inspect.environment["PYTHONHASHSEED"] = seed
        inspect.eval(
            "corda.py", "-T", "chains=2", "-T", "shuffles=2", "--model", "scripted/uniform"
        )
        samples = inspect.log().samples
        shown.append({s.id: s.metadata["shown"] for s in samples})
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("conditions=blind", "'unconditioned'"),
        ("chains=no", "whole number"),
        ("epochs=2", "--epochs"),
    ],
)
def test_a_wrong_option_is_one_line_without_a_stack_trace(inspect, option, part):
    printed = inspect.eval("corda.py", "-T", option, "--model", "scripted/uniform", check=False)
    assert part in printed
    assert "Traceback" not in printed


def test_an_eval_set_of_both_benchmarks_resumes_after_a_kill_and_loses_nothing(inspect):
    folder = inspect.folder / "set"
    command = [
        sys.executable, "-m", "inspect_ai", "eval-set",
        "inspect_tasks/morebench.py@morebench", "inspect_tasks/corda.py",
        "-T", "data=sample", "--limit", "6", "--log-dir", str(folder), "--display", "none",
        "--max-samples", "2", *MODELS,
    ]  # fmt: skip
    with StubServer(latency=0.05) as stub:
        environment = inspect.environment | stub.environment()
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        while stub.stats.calls["judge"] < 60 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
            timeout=240,
        )  # fmt: skip
        paid = stub.stats.calls["judge"]
    assert done.returncode == 0, done.stdout + done.stderr
    logs = {}
    for info in sorted(list_eval_logs(str(folder)), key=lambda i: i.mtime or 0):
        log = read_eval_log(info.name)  # the killed attempt's log stays beside the finished one
        logs[log.eval.task.split("/")[-1]] = log
    assert set(logs) == {"morebench", "corda"}
    for log in logs.values():
        assert log.status == "success"
        assert len(log.samples) == 6
    criteria = sum(len(s.metadata["criteria"]) for s in logs["morebench"].samples)
    assert paid <= criteria + 2 * 28, "verdicts of finished samples were paid for again"
