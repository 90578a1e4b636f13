"""Whole runs against the independent mock server, with and without faults."""

import pytest

from tests.end_to_end.yardstick import MODELS, needs_yardstick, yardstick
from tests.mocks import metrics

pytestmark = needs_yardstick


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with yardstick(tmp_path_factory.mktemp("yardstick"), rows=12) as running:
        yield running


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
def test_the_score_is_the_true_one(inspect, server, faults):
    server.restart(*faults)
    inspect.environment |= server.environment()
    inspect.eval("morebench.py@morebench", "-T", f"data={server.data}", *MODELS)
    found = metrics(inspect.log())
    assert 100 * found["regular"] == pytest.approx(server.truth["overall"], abs=1e-9)
    assert 100 * found["hard"] == pytest.approx(server.truth["per_1k_chars"], abs=1e-9)
    assert found["graded_share"] == 1
    assert found["scored"] == 12
    if faults:
        assert server.call("/stats")["faults"]
