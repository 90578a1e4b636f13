"""What a user types: task names, refusals, listing, resuming after a kill."""

import signal
import subprocess
import sys
import time

import pytest

from benchmarks.stub_server import StubServer
from tests.end_to_end.conftest import ROOT

MODELS = ("--model", "openai-api/stub/candidate", "--model-role", "grader=openai-api/stub/judge")


def test_tasks_are_found_by_package_name_from_anywhere(inspect, dilemmas, tmp_path):
    listed = inspect.run("list", "tasks", "inspect_tasks")
    assert "morebench.py@morebench_theory" in listed
    with StubServer() as stub:
        done = subprocess.run(
            [sys.executable, "-m", "inspect_ai", "eval", "moral_evals/morebench",
             "-T", f"data={dilemmas(1)}", "--log-dir", str(inspect.logs), "--display", "plain",
             *MODELS],
            cwd=tmp_path, env=inspect.environment | stub.environment(),
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert inspect.log().status == "success"


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("limit=5", "--limit"),
        ("mode=no", "no such parameter"),
        ("theory=null", "no such parameter"),
        ("revision=0123456", "must be text"),
        ("judged=no", "'trace', 'last_turn', 'response', 'both'"),
        ("role=moral_agent", "'ai_advisor'"),
        ("data=nowhere.csv", "no such file"),
    ],
)
def test_a_wrong_option_is_one_line_without_a_stack_trace(inspect, option, part):
    options = ("-T", "data=sample", "-T", option, "--model", "mockllm/model")
    printed = inspect.eval("morebench.py@morebench", *options, check=False)
    assert part in printed
    assert "Traceback" not in printed


def test_a_list_of_theories_and_a_single_one_are_both_read(inspect, tmp_path):
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        for value, count in (
            ("Kantian Deontology", 2),
            ("[act utilitarianism,kantian deontology]", 4),
        ):
            options = ("-T", "data=sample", "-T", f"theory={value}", *MODELS)
            inspect.eval("morebench.py@morebench_theory", *options)
            assert len(inspect.log().samples) == count


def test_a_seeded_subset_differs_by_seed_and_repeats(inspect, dilemmas):
    data = dilemmas(scenarios=12, criteria=1)
    chosen = []
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        for seed in ("7", "2", "7"):
            options = ("-T", f"data={data}", "--limit", "4", "--sample-shuffle", seed, *MODELS)
            inspect.eval("morebench.py@morebench", *options)
            chosen.append([s.id for s in inspect.log().samples])
    assert chosen[0] == chosen[2]
    assert set(chosen[0]) != set(chosen[1])


def test_a_killed_run_is_finished_without_paying_for_finished_samples(inspect, dilemmas):
    data = dilemmas(scenarios=12)
    command = [
        sys.executable, "-m", "inspect_ai", "eval", "inspect_tasks/morebench.py@morebench",
        "-T", f"data={data}", "--log-dir", str(inspect.logs), "--display", "none",
        "--max-samples", "2", *MODELS,
    ]  # fmt: skip
    with StubServer(latency=0.3) as stub:
        environment = inspect.environment | stub.environment()
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        while stub.stats.calls["judge"] < 40 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        paid = dict(stub.stats.calls)
        assert paid["candidate"] < 12
        inspect.environment = environment
        inspect.run("eval-retry", inspect.log().location, "--log-dir", str(inspect.logs))
        total = dict(stub.stats.calls)
    log = inspect.log()
    assert log.status == "success"
    assert len(log.samples) == 12
    # two samples were in flight; their verdicts came from the cache, but for those not yet given
    assert total["candidate"] - 12 <= 2
    assert total["judge"] - 72 <= 12


def test_other_judges_by_retry_and_by_score(inspect, dilemmas):
    with StubServer() as stub:
        inspect.environment |= stub.environment()
        base = ("-T", f"data={dilemmas(2)}", "--model", "openai-api/stub/candidate")
        inspect.eval("morebench.py@morebench", *base, "--model-role", "grader=openai-api/stub/j2")
        log = inspect.log()
        assert log.samples[0].scores["rubric_judge"].metadata["judge"] == "openai-api/stub/j2"
        calls = stub.stats.calls["judge"]
        inspect.run(
            "score", log.location, "--scorer", "moral_evals/rubric_judge",
            "--model-role", "grader=openai-api/stub/j3", "--action", "append", "--overwrite",
        )  # fmt: skip
    scores = inspect.log().samples[0].scores
    assert scores["rubric_judge"].metadata["judge"] == "openai-api/stub/j2"
    assert scores["rubric_judge1"].metadata["judge"] == "openai-api/stub/j3"
    assert stub.stats.calls["judge"] == 2 * calls, "verdicts of another judge were reused"
