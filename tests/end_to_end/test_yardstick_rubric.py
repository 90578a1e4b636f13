"""A whole rubric in one call against the independent mock server: the same score for less."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from inspect_ai.log import EvalLog

from tests.end_to_end.yardstick import MODELS, Yardstick, needs_yardstick, yardstick
from tests.mocks import metrics

pytestmark = needs_yardstick
ROWS = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with yardstick(tmp_path_factory.mktemp("yardstick"), ROWS) as running:
        yield running


class Forgetful(ThreadingHTTPServer):
    """Passes everything on, and loses every tenth verdict of a list on the way back."""

    daemon_threads = True

    def __init__(self, behind: Yardstick) -> None:
        super().__init__(("127.0.0.1", 0), _Forward)
        self.behind, self.lock = behind, threading.Lock()
        self.seen = self.lost = 0

    def thin(self, reply: dict) -> dict:
        message = reply["choices"][0]["message"]
        if not message["content"].startswith('{"verdicts": ['):
            return reply
        kept = []
        for verdict in json.loads(message["content"])["verdicts"]:
            with self.lock:
                self.seen += 1
                if self.seen % 10:
                    kept.append(verdict)
                else:
                    self.lost += 1
        message["content"] = json.dumps({"verdicts": kept})
        return reply


class _Forward(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        url = f"http://127.0.0.1:{self.server.behind.port}{self.path}"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            reply = json.dumps(self.server.thin(json.load(response))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def forgetful(behind: Yardstick) -> Iterator[Forgetful]:
    with Forgetful(behind) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield proxy
        proxy.shutdown()


def judged(inspect, server: Yardstick, mode: str) -> tuple[EvalLog, dict]:
    """The log of a run, and what the server has seen of it."""
    server.restart()
    inspect.eval(
        "morebench.py@morebench", "-T", f"data={server.data}", "-T", f"judge_mode={mode}", *MODELS
    )
    log = inspect.log()
    assert log.status == "success"
    assert 100 * metrics(log)["regular"] == pytest.approx(server.truth["overall"], abs=1e-9)
    assert metrics(log)["graded_share"] == 1
    assert metrics(log)["scored"] == ROWS
    return log, server.call("/stats")


def verdicts(log: EvalLog) -> dict[str, dict[str, str]]:
    return {s.id: s.scores["rubric_judge"].metadata["verdicts"] for s in log.samples or []}


def test_one_call_a_rubric_gives_the_score_of_one_call_a_criterion(inspect, server):
    inspect.environment |= server.environment()
    single, before = judged(inspect, server, "criterion")
    whole, after = judged(inspect, server, "rubric")
    assert verdicts(whole) == verdicts(single)
    assert metrics(whole)["regular"] == metrics(single)["regular"]
    assert metrics(whole)["hard"] == metrics(single)["hard"]
    criteria = sum(map(len, verdicts(single).values()))
    assert (before["judge"], before["judge_batched"]) == (criteria, 0)
    assert (after["judge"], after["judge_batched"]) == (ROWS, ROWS)
    assert after["judge"] <= before["judge"] / 15
    assert after["distinct_pairs"] == criteria
    assert after["judged_kind"] == {"reasoning": criteria}


def test_verdicts_lost_on_the_way_are_asked_for_alone(inspect, server):
    with forgetful(server) as proxy:
        inspect.environment |= server.environment(proxy.server_port)
        log, seen = judged(inspect, server, "rubric")
    assert proxy.seen == seen["distinct_pairs"] > 800
    assert proxy.lost == proxy.seen // 10
    assert seen["judge"] - seen["judge_batched"] == proxy.lost
    assert seen["repeat_pairs"] == proxy.lost, "a verdict that was there was paid for twice"
    alone = [s.scores["rubric_judge"].metadata["judges"][0] for s in log.samples or []]
    assert sum(judge.get("asked_alone", 0) for judge in alone) == proxy.lost
