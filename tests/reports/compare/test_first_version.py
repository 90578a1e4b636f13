"""Logs of version 0.1, from a checkout and from a wheel, beside a log of now in one comparison."""

import csv
import io
from pathlib import Path

import pytest
from inspect_ai import eval as run
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda
from moral_evals.reports.__main__ import main

LOGS = Path(__file__).parents[2] / "legacy" / "logs"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    """The run of wheel-corda.eval, made again by the code of now."""
    folder = tmp_path_factory.mktemp("fresh")
    task = corda(chains=3, conditions="unconditioned,own,best,worst")
    # a model of its own: one that other tests have asked would draw on
    model = get_model("scripted/uniform", memoize=False)
    [log] = run(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success"
    return folder


def rows(capsys, *logs: Path) -> list[list[str]]:
    """Cells of what `compare` prints for these logs."""
    main(["compare", *map(str, logs), "--format", "csv"])
    return list(csv.reader(io.StringIO(capsys.readouterr().out)))


def test_corda_logs_of_then_and_now_stand_in_one_table(fresh: Path, capsys):
    old = [LOGS / "wheel-corda.eval", LOGS / "checkout-corda.eval"]
    found = rows(capsys, *old, fresh)
    # the same run then and now: the second of a name is numbered, its figures are the same
    then, now = (
        [row[:1] + row[4:] for row in found if name in row]
        for name in ("scripted/uniform", "scripted/uniform #2")
    )
    assert len(then) > 20
    assert then == now
    assert any("scripted/welfare-first" in row for row in found)


def test_rubric_logs_of_then_stand_in_one_table(capsys):
    logs = [LOGS / "wheel-morebench.eval", LOGS / "checkout-morebench.eval"]
    found = rows(capsys, *logs)
    assert sum(any("smollm2-135m" in cell for cell in row) for row in found) >= 2
