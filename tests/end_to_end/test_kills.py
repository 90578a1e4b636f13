"""`kill -9` at three moments, and what `inspect eval-retry` asks again."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.stub_server import StubServer
from tests.end_to_end.conftest import ROOT, Command
from tests.mocks import metrics

SCENARIOS, CRITERIA = 6, 6
KILLED_AT_A_WRITE = """
import os, sys
import inspect_ai.log._recorders.eval as recorder
from inspect_ai._cli.main import main

whole = recorder._copy_temp_to_local
def cut(temp_file, dest, fsync):
    if {moment}:
        with recorder.atomic_write(dest, fsync=False) as out:
            temp_file.seek(0)
            out.write(temp_file.read(700))
            out.flush()
            os.kill(os.getpid(), 9)
    whole(temp_file, dest, fsync)
recorder._copy_temp_to_local = cut
sys.argv = ["inspect", *sys.argv[1:]]
main()
"""
AT_A_SAMPLE = "recorder.ZipFile(temp_file).namelist().count('summaries.json') == 0 and any(n.startswith('samples/') for n in recorder.ZipFile(temp_file).namelist())"
AT_THE_END = "fsync"


@pytest.fixture
def stub(inspect: Command) -> Iterator[StubServer]:
    """Its candidate never answers twice alike."""
    with StubServer(latency=0.02, fresh=True) as found:
        inspect.environment |= found.environment()
        yield found


def evaluation(inspect: Command, task: str, *options: str) -> tuple[str, ...]:
    return (
        "eval", f"inspect_tasks/{task}", *options, "--model", "openai-api/stub/candidate",
        "--model-role", "grader=openai-api/stub/judge", "--log-dir", str(inspect.logs),
        "--display", "plain",
    )  # fmt: skip


def kill_when_held(process: subprocess.Popen[str], stub: StubServer) -> dict[str, int]:
    """Kill once nothing moves any more; the calls then on their way, by scope."""
    last, until = (-1, -1), time.monotonic() + 90
    while time.monotonic() < until and process.poll() is None:
        now = (sum(stub.stats.calls.values()), sum(stub.stats.answered.values()))
        if now == last and now[0] > now[1] > 0:
            break
        last = now
        time.sleep(1.0)
    assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    stub.hold = {}
    return {scope: n - stub.stats.answered[scope] for scope, n in stub.stats.calls.items()}


def retry(inspect: Command) -> None:
    cut = inspect.log()
    assert cut.status == "started"
    inspect.run("eval-retry", str(cut.location), "--log-dir", str(inspect.logs))
    assert inspect.log().status == "success"


@pytest.mark.parametrize(
    "hold", [{"candidate": 4}, {"judge": 20}], ids=["in_generation", "in_judging"]
)
def test_what_is_asked_again_was_on_its_way(inspect, dilemmas, stub, hold):
    stub.hold = hold
    data = dilemmas(SCENARIOS, CRITERIA)
    process = inspect.start(
        *evaluation(
            inspect, "morebench.py@morebench", "-T", f"data={data}", "--max-connections", "3"
        )
    )
    flying = kill_when_held(process, stub)
    assert 0 < sum(flying.values()) <= 6
    retry(inspect)
    assert stub.stats.calls["candidate"] <= SCENARIOS + flying.get("candidate", 0)
    assert stub.stats.calls["judge"] <= SCENARIOS * CRITERIA + flying.get("judge", 0)
    assert metrics(inspect.log())["scored"] == SCENARIOS


@pytest.mark.parametrize("moment", [AT_A_SAMPLE, AT_THE_END], ids=["of_a_sample", "at_the_end"])
def test_nothing_is_asked_again_after_a_kill_in_the_write(inspect, dilemmas, stub, moment):
    data = dilemmas(SCENARIOS, CRITERIA)
    arguments = evaluation(inspect, "morebench.py@morebench", "-T", f"data={data}")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_AT_A_WRITE.format(moment=moment), *arguments],
        cwd=ROOT, env=inspect.environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    time.sleep(0.2)
    flying = {scope: n - stub.stats.answered[scope] for scope, n in stub.stats.calls.items()}
    retry(inspect)
    assert stub.stats.calls["candidate"] <= SCENARIOS + flying["candidate"]
    assert stub.stats.calls["judge"] <= SCENARIOS * CRITERIA + flying["judge"]
    assert metrics(inspect.log())["scored"] == SCENARIOS


def test_steps_of_a_rollout_are_taken_over(inspect, stub, tmp_path, chain_file):
    stub.hold = {"candidate": 5}
    chains = ("-T", f"data={chain_file(steps=4)}", "-T", "conditions=own", "-T", "shuffles=2")
    process = inspect.start(*evaluation(inspect, "corda.py@corda", *chains))
    flying = kill_when_held(process, stub)
    assert flying == {"candidate": 2}
    retry(inspect)
    assert stub.stats.calls["candidate"] <= 2 * 4 + flying["candidate"]


@pytest.fixture
def chain_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes one chain of two options a step."""
    import json

    def write(steps: int) -> Path:
        path = tmp_path / "chain.jsonl"
        told = [
            {
                "step_id": f"s{i}",
                "situation": f"Now it is day {i}.",
                "options": [
                    {"option_id": f"o{j}", "text": f"Way {j} of {i}.", "tiers": {"rights_harm": j}}
                    for j in (0, 1)
                ],
            }
            for i in range(steps)
        ]
        line = {"schema_version": "corda-1", "chain_id": "c", "steps": told}
        path.write_text(json.dumps(line), encoding="utf-8")
        return path

    return write
