"""The recipe of docs/at-scale.md: listed, one task worked off elsewhere, finished, run again."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from benchmarks.stub_server import Fault, StubServer
from tests.end_to_end.conftest import ROOT


def recipe_module():
    spec = importlib.util.spec_from_file_location("recipe", ROOT / "examples/eval_set.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def finished(folder: Path) -> list[str]:
    logs = [read_eval_log(info.name, header_only=True) for info in list_eval_logs(str(folder))]
    assert all(log.status == "success" for log in logs)
    return sorted(log.eval.task.partition("/")[2] for log in logs)


def test_a_set_is_listed_worked_off_finished_and_reused(inspect, tmp_path, monkeypatch):
    recipe = recipe_module()
    options = [
        str(inspect.logs), "--model", "openai-api/stub/one", "--grader", "openai-api/stub/judge",
        "--data", "sample", "--limit", "1",
    ]  # fmt: skip
    captured = tmp_path / "set1.json"
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setattr(sys, "argv", ["eval_set.py", *options])
    with StubServer() as stub:
        for name, value in stub.environment().items():
            monkeypatch.setenv(name, value)

        def run() -> dict[str, int]:
            with pytest.raises(SystemExit, match=r"^0$"):
                recipe.main()
            return dict(stub.stats.calls)

        with monkeypatch.context() as listing:
            listing.setenv("INSPECT_EVAL_SET_CAPTURE", str(captured))
            assert run() == {}
        tasks = [t["name"] for t in json.loads(captured.read_text(encoding="utf-8"))["tasks"]]
        assert tasks == [f"moral_evals/{n}" for n in ("morebench", "morebench_theory", "corda")]

        worker = ["examples/worker.py", str(captured), "2", sys.executable, "examples/eval_set.py"]
        done = subprocess.run(
            [sys.executable, *worker, *options], cwd=ROOT, capture_output=True, text=True,
            env=inspect.environment | stub.environment() | {"PYTHONPATH": str(ROOT)},
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert finished(inspect.logs) == ["corda"]
        by_worker = dict(stub.stats.calls)
        assert "judge" not in by_worker

        total = run()
        assert total["candidate"] == by_worker["candidate"] + 2, "the worker's log was not reused"
        assert finished(inspect.logs) == ["corda", "morebench", "morebench_theory"]
        assert run() == total, "a complete set was run again"


def test_a_set_asks_for_missing_verdicts_before_it_ends(bench, stub, dilemmas, monkeypatch):
    recipe = recipe_module()
    monkeypatch.setattr(recipe, "tasks", lambda data: [recipe.morebench(data=data)])
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    options = [
        str(bench.logs), "--model", bench.model("candidate"), "--grader", bench.model("judge"),
        "--data", str(dilemmas(3, 6)),
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["eval_set.py", *options])

    def run(status: int) -> int:
        with pytest.raises(SystemExit, match=f"^{status}$"):
            recipe.main()
        return stub.stats.calls["judge"]

    stub.faults = [Fault("422", 0.3, "judge", attempts=0)]
    asked = run(1)
    lacking = asked - 3 * 6
    assert lacking > 0, "nothing was asked for again"
    stub.faults = []
    assert run(0) == asked + lacking
    assert run(0) == asked + lacking, "a complete set was asked for again"
    assert stub.stats.calls["candidate"] == 3
