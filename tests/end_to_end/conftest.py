"""Running the real commands, each in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from benchmarks.stub_server import StubServer
from moral_evals.loaders.morebench.records import DIMENSIONS
from tests.end_to_end.in_process import Bench
from tests.end_to_end.wheel_site import ROOT, Site, build_wheel, install


@dataclass
class Command:
    """The `inspect` command with a log folder and cache of its own."""

    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str, check: bool = True, timeout: float = 240) -> str:
        """Run `inspect ARGUMENTS` from the repository and return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "inspect_ai", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        printed = done.stdout + done.stderr
        if check:
            assert done.returncode == 0, printed
        return printed

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `inspect ARGUMENTS` from the repository, and do not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "inspect_ai", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # whoever starts the tests in the background makes them deaf to Ctrl-C
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def eval(self, task: str, *arguments: str, check: bool = True) -> str:
        """Run `inspect eval` on a task file."""
        options = ("--log-dir", str(self.logs), "--display", "plain")
        return self.run("eval", f"inspect_tasks/{task}", *options, *arguments, check=check)

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def log(self) -> EvalLog:
        """The newest log, whole."""
        newest = max(list_eval_logs(str(self.logs)), key=lambda info: info.mtime or 0)
        return read_eval_log(newest.name)


@pytest.fixture
def inspect(tmp_path: Path) -> Command:
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    environment |= {
        "INSPECT_CACHE_DIR": str(tmp_path / "cache"),
        "INSPECT_EVAL_CTL_SERVER": "false",
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "",
        "COLUMNS": "200",
    }
    return Command(tmp_path, environment)


@pytest.fixture
def dilemmas(tmp_path: Path) -> Callable[..., Path]:
    """Writes a small JSONL data set whose figures are easy to work out."""

    def write(scenarios: int = 4, criteria: int = 6) -> Path:
        path = tmp_path / "dilemmas.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for i in range(scenarios):
                rubric = [
                    {
                        "id": f"c{j}",
                        "text": f"Weighs point {j} of case {i} before it concludes.",
                        "weight": (3, 2, 1, -3, -2, -1)[j % 6],
                        "dimension": DIMENSIONS[(i + j) % 5],
                    }
                    for j in range(criteria)
                ]
                row = {
                    "schema_version": "dilemma-1",
                    "id": f"case-{i}",
                    "dilemma": f"Case {i}: should the {{rubric}} of the club be read aloud?",
                    "source": ("daily_dilemmas", "ai_risk_dilemmas", "expert_written_x")[i % 3],
                    "type": ("short_case", "long_case", "expert_case")[i % 3],
                    "role": ("ai_advisor", "ai_agent")[i % 2],
                    "context": f"context {i % 2}",
                    "criteria": rubric,
                }
                file.write(json.dumps(row) + "\n")
        return path

    return write


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_EVAL_CTL_SERVER", "false")
    return Bench(tmp_path / "a folder")


@pytest.fixture
def stub(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    """What the models of the bench speak to; its candidate never answers twice alike."""
    with StubServer(fresh=True) as found:
        for name, value in found.environment(bench.service).items():
            monkeypatch.setenv(name, value)
        yield found


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def site(wheel: Path, tmp_path_factory) -> Site:
    return install(wheel, tmp_path_factory.mktemp("elsewhere"))
