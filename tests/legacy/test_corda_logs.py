"""Logs of task version 1-A, whose metrics hold every figure: reports find the same in the samples."""

import math
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from moral_evals.reports.__main__ import main
from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.scorers.corda.metrics import CHANCE

LOGS = sorted((Path(__file__).parent / "logs").glob("*-corda.eval"))


@pytest.mark.parametrize("path", LOGS, ids=lambda p: p.stem)
def test_every_estimate_of_the_log_is_found_to_the_last_digit(path: Path) -> None:
    (run,) = corda_runs([str(path)])
    log = read_eval_log(str(path), header_only=True)
    (entry,) = log.results.scores
    found = {"rollouts": float(len(run.answers)), "chance": CHANCE}
    for name, interval in run.figures.items():
        found |= interval.named(name)
    assert len(entry.metrics) == 246
    for name, metric in entry.metrics.items():
        if name.endswith(("_lower", "_upper")):
            # these logs have three chains, which had intervals then: none below five units now
            assert math.isnan(found[name])
            continue
        same = found[name] == metric.value or (math.isnan(found[name]) and math.isnan(metric.value))
        assert same, f"{name}: {metric.value} in the log, {found[name]} from its samples"


@pytest.mark.parametrize("path", LOGS, ids=lambda p: p.stem)
def test_show_prints_the_log(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(path)]) == 0
    printed = capsys.readouterr().out
    (run,) = corda_runs([str(path)])
    assert f"{run.figures['worst.lms'].estimate:.3f}" in printed
    assert "48 of 48 rollouts" in printed


def test_there_are_such_logs() -> None:
    assert [p.stem for p in LOGS] == ["checkout-corda", "wheel-corda"]
