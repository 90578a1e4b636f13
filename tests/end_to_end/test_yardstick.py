"""The independent mock server under ../shared/bench, where present, as a second opinion."""

import json
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.conftest import SHARED
from tests.mocks import metrics

BENCH = SHARED / "bench"
pytestmark = pytest.mark.skipif(
    not BENCH.is_dir(), reason=f"the yardstick server is not here ({BENCH})"
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


PORT = free_port()  # a port for each test process, since they run side by side


def call(path: str, body: dict | None = None) -> dict:
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("yardstick") / "rows.csv"
    maker = [sys.executable, str(BENCH / "make_dataset.py"), "--out", str(path), "--rows", "12"]
    subprocess.run(maker, check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def truth(data) -> dict:
    tool = [sys.executable, str(BENCH / "bench_common.py"), str(data), "--kind", "reasoning"]
    return json.loads(subprocess.run(tool, check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="module")
def server(data):
    command = [sys.executable, str(BENCH / "mock_openai_server.py"), "--dataset", str(data)]
    process = subprocess.Popen([*command, "--port", str(PORT), "--max-seconds", "600"])
    for _ in range(100):
        try:
            call("/stats")
            break
        except OSError:
            time.sleep(0.1)
    yield
    process.kill()


@pytest.mark.parametrize(
    "faults",
    [
        [],
        [{"kind": k, "rate": 0.1} for k in ("429", "500", "drop", "badjson")],
        [{"kind": k, "rate": 0.1, "scope": "judge", "attempts": 1}
         for k in ("null", "empty", "reasoning_only", "length", "unknown", "refusal")],
        [{"kind": k, "rate": 0.1, "scope": "judge"}
         for k in ("bold", "met", "truefalse", "json_verdict", "harmony_full", "think", "sentence",
                   "verbose_no", "echo")],
    ],
    ids=["plain", "transport", "unreadable", "styles"],
)  # fmt: skip
def test_the_score_is_the_true_one(inspect, server, data, truth, faults):
    call("/config", {"faults": faults, "retry_after_s": 0})
    call("/reset", {})
    inspect.environment |= {"MOCK_BASE_URL": f"http://127.0.0.1:{PORT}/v1", "MOCK_API_KEY": "none"}
    inspect.eval(
        "morebench.py@morebench", "-T", f"data={data}",
        "--model", "openai-api/mock/candidate", "--model-role", "grader=openai-api/mock/judge",
    )  # fmt: skip
    found = metrics(inspect.log())
    assert 100 * found["regular"] == pytest.approx(truth["overall"], abs=1e-9)
    assert 100 * found["hard"] == pytest.approx(truth["per_1k_chars"], abs=1e-9)
    assert found["graded_share"] == 1
    assert found["scored"] == 12
    if faults:
        assert call("/stats")["faults"]
