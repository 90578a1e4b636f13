"""The independent mock server under ../shared/bench, where present, as a second opinion."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import SHARED

BENCH = SHARED / "bench"
needs_yardstick = pytest.mark.skipif(
    not BENCH.is_dir(), reason=f"the yardstick server is not here ({BENCH})"
)
MODELS = ("--model", "openai-api/mock/candidate", "--model-role", "grader=openai-api/mock/judge")


@dataclass(frozen=True)
class Yardstick:
    """A running server, the data that it knows, and the true figures of its verdicts on traces."""

    port: int
    data: Path
    truth: dict

    def call(self, path: str, body: dict | None = None) -> dict:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def restart(self, *faults: dict) -> None:
        """New counters, and these faults."""
        self.call("/config", {"faults": list(faults), "retry_after_s": 0})
        self.call("/reset", {})

    def environment(self, port: int | None = None) -> dict[str, str]:
        """Variables that make `openai-api/mock/MODEL` speak to it, or to what stands before it."""
        base_url = f"http://127.0.0.1:{port or self.port}/v1"
        return {"MOCK_BASE_URL": base_url, "MOCK_API_KEY": "none"}


@contextmanager
def yardstick(folder: Path, rows: int) -> Iterator[Yardstick]:
    """Serve a made-up data set of so many rows, on a port of its own."""
    data = folder / "rows.csv"
    _tool("make_dataset.py", "--out", str(data), "--rows", str(rows))
    truth = json.loads(_tool("bench_common.py", str(data), "--kind", "reasoning"))
    server = Yardstick(free_port(), data, truth)
    command = [sys.executable, str(BENCH / "mock_openai_server.py"), "--dataset", str(data)]
    process = subprocess.Popen([*command, "--port", str(server.port), "--max-seconds", "600"])
    try:
        for _ in range(100):
            try:
                server.call("/stats")
                break
            except OSError:
                time.sleep(0.1)
        yield server
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _tool(name: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCH / name), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
