"""The bound of `moral-reports estimate` against runs in which no reply can be read."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from moral_evals.inspect_tasks import corda, judge_agreement, morebench
from moral_evals.reports.__main__ import main
from moral_evals.reports.judges.estimate import estimate
from moral_evals.reports.judges.run_plan import Limits
from moral_evals.scorers.judging.models import DEFAULT_JUDGE
from tests.mocks import mock, run
from tests.reports.judges.test_estimate import WRITTEN, Meter, rows


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def most(*arguments: Any, **options: Any) -> dict[str, list[Any]]:
    """Cells of the bound after the model's name, by part."""
    _, table = estimate(*arguments, **options).tables
    return {str(row[0]): list(row[2:]) for row in table.rows}


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        (morebench, {}),
        (morebench, {"judge_attempts": 2, "votes": 2, "judged": "both", "ask_refusal": True}),
        (morebench, {"judge_mode": "rubric", "rubric_chunk": 10}),
        (judge_agreement, {"judge_mode": "rubric", "rubric_chunk": 4}),
        (judge_agreement, {"attack": True, "judge_attempts": 1}),
    ],
)
def test_a_judge_that_is_never_read_makes_the_calls_of_the_bound(task, arguments, monkeypatch):
    meter, data = Meter(), {"data": "sample", **arguments}
    monkeypatch.setattr(meter, "judge", lambda m: meter.add("judge", m) or "Hm.")
    meter.run(task(**data), limit=1)
    limits = Limits((WRITTEN.trace + WRITTEN.response) // 4, 900)
    calls, into, each, out, _ = most(task(**data), WRITTEN, limit=1, arguments=data, limits=limits)[
        "judge"
    ]
    assert calls == meter.calls["judge"]
    assert meter.characters["judge"] / 4 <= into < 1.6 * meter.characters["judge"] / 4
    assert (each, out) == (900, 900 * calls)


def test_a_candidate_that_is_never_read_makes_the_calls_of_the_bound():
    meter = Meter()
    arguments: Any = {"chains": 2, "shuffles": 1}
    task = corda(**arguments)
    run(task, mock(lambda m: meter.add("candidate", m) or "Hm."), None)
    found = most(task, WRITTEN, model="openai/gpt-4o", limits=Limits(judge=7))["candidate"]
    calls, into, each, out, _ = found
    assert calls == meter.calls["candidate"] == 2 * rows(task, WRITTEN)["candidate"][0]
    assert into >= meter.characters["candidate"] / 4
    assert (each, out) == (16_384, 16_384 * calls), "what Inspect says that the model can write"


def test_cost_at_most_is_that_of_the_judges_real_budget(tmp_path):
    path = tmp_path / "prices.json"
    price = {"input": 1, "output": 1_000_000, "input_cache_write": 0, "input_cache_read": 0}
    path.write_text(json.dumps({m: price for m in (DEFAULT_JUDGE, "a/x")}), encoding="utf-8")
    options: Any = {"model": "a/x", "limit": 1, "price_file": str(path)}
    likely, bound = estimate(
        morebench(data="sample"), WRITTEN, limits=Limits(candidate=100), **options
    ).tables
    (_, asked), (_, at_most) = ([row[1:3] for row in t.rows] for t in (likely, bound))
    assert at_most[1] == 3 * asked[1], "three attempts at each criterion"
    judge = bound.rows[1]
    # a token written costs 1, so this is the budget of the paper's judge but for the input
    assert int(judge[-1]) == 10_500 * at_most[1]
    total = sum(row[-1] for row in bound.rows)
    assert bound.notes[-1] == f"Total cost at most {total:.2f}."
    assert "Estimated total cost" in likely.notes[-1]
    # without a limit for the candidate nothing bounds it, nor what the judge is sent
    _, open_ended = estimate(morebench(data="sample"), WRITTEN, **options).tables
    assert [math.isnan(row[-1]) for row in open_ended.rows] == [True, True]
    assert open_ended.rows[1][5] == judge[5]
    assert open_ended.notes[-1].startswith("No bound for the candidate a/x: how much it can write")
    assert "--max-tokens N" in open_ended.notes[-1]


def test_the_command_takes_limits_and_an_own_prompt(capsys, tmp_path):
    own = str(Path(__file__).parents[3] / "examples/own/judge-deutsch.md")
    command = ["estimate", "morebench", "-T", "data=sample", "--limit", "1", "--format", "json"]
    command += ["-T", f"judge_prompt={own}", "-T", "judge_attempts=2", "--judge", "b/y"]
    assert main([*command, "--max-tokens", "50", "--judge-max-tokens", "70"]) == 0
    likely, bound = json.loads(capsys.readouterr().out)["tables"]
    assert [t["name"] for t in (likely, bound)] == ["estimate", "bound"]
    calls = likely["rows"][1][2]
    assert bound["rows"][1][2] == 2 * calls
    assert [row[4] for row in bound["rows"]] == [50, 70]
    assert bound["rows"][1][5] == 70 * 2 * calls
