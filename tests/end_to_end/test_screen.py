"""The screen that a run leaves behind on a terminal of 80 x 40: every name whole, nothing pushed off."""

import sys
from collections import Counter

import pytest

from benchmarks.stub_server import StubServer
from tests.end_to_end.screen import HEIGHT, WIDTH, last_screen

JUDGE = "embedded/overlap-judge"
PANEL = ("--model-role", f"grader={JUDGE},{JUDGE},{JUDGE}")
ONE = ("--model-role", f"grader={JUDGE}")
BOTH, REFUSALS = ("-T", "judged=both"), ("-T", "ask_refusal=true")


@pytest.mark.parametrize(
    "options", [ONE, (*ONE, *BOTH), (*PANEL, *BOTH, *REFUSALS)], ids=["one", "both", "all"]
)
def test_every_name_is_whole_and_the_screen_is_enough(inspect, options):
    with StubServer() as stub:
        screen = last_screen(
            [sys.executable, "-m", "inspect_ai", "eval", "inspect_tasks/morebench.py@morebench",
             "-T", "data=sample", "--limit", "3", "--model", "openai-api/stub/candidate",
             "--log-dir", str(inspect.logs), *options],
            inspect.environment | stub.environment(),
        )  # fmt: skip
    results = inspect.log().results
    names = Counter(n for s in results.scores for n in (s.name, *s.metrics))
    missing = names - Counter(screen.split())
    assert not missing, screen
    assert "…" not in screen
    lines = screen.splitlines()
    assert len(lines) <= HEIGHT, screen
    assert max(map(len, lines)) <= WIDTH, screen
    assert all(len(s.metrics) <= 20 for s in results.scores)
    assert results.scores[0].metrics["scored"].value == 3
    assert ("alpha" in results.scores[0].metrics) == (PANEL[1] in options)
