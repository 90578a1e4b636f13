"""`moral-reports estimate` against real runs whose candidate writes just what is assumed."""

import json
import math
import socket
from collections import Counter
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.model._providers.mockllm import MockLLM

from moral_evals.inspect_tasks import corda, judge_agreement, morebench, morebench_theory
from moral_evals.loaders.errors import OptionError
from moral_evals.reports.__main__ import main
from moral_evals.reports.judges.estimate import build_task, estimate
from moral_evals.reports.judges.run_plan import Assumed
from moral_evals.scorers.judging.models import DEFAULT_JUDGE
from tests.loaders.upstream.test_prompts import GOOD_JUDGE, GOOD_REASONING, JUDGE, REASONING
from tests.mocks import mock, run, thinking

WRITTEN = Assumed(trace=600, response=200, judge_tokens=10, chars_per_token=4)


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


class Meter:
    """A candidate and a judge that count what they are sent, in characters."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.characters: Counter[str] = Counter()

    def candidate(self, messages: Any) -> ModelOutput:
        self.add("candidate", messages)
        return thinking("x" * WRITTEN.trace, "x" * WRITTEN.response)

    def judge(self, messages: Any) -> str:
        self.add("judge", messages)
        asked = messages[-1].text
        listed = [n for n in range(1, 60) if f"\n{n}. " in asked]
        return "\n".join(f"{n}: yes" for n in listed) or "yes"

    def add(self, who: str, messages: Any) -> None:
        self.calls[who] += 1
        self.characters[who] += sum(len(m.text) for m in messages)

    def run(self, task: Any, judges: int = 1, **options: Any) -> EvalLog:
        panel: Any = [mock(self.judge) for _ in range(judges)]
        log = run(task, mock(self.candidate), panel, **options)
        assert log.status == "success"
        return log


def rows(*arguments: Any, **options: Any) -> dict[str, list[Any]]:
    """Cells after the model's name, by part; judges must be alike."""
    table, _ = estimate(*arguments, **options).tables
    found = {str(row[0]): list(row[2:]) for row in table.rows}
    assert all(list(row[2:-1]) == found[str(row[0])][:-1] for row in table.rows)
    return found


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        (morebench, {}),
        (morebench, {"votes": 3, "judged": "both", "ask_refusal": True}),
        (morebench, {"judge_mode": "rubric", "rubric_chunk": 10, "votes": 2}),
        (morebench, {"judge_mode": "rubric", "ask_refusal": True, "rubric_seed": 5}),
        (morebench, {"judged": "response", "ask_refusal": True}),
        (morebench_theory, {"ask_refusal": True}),
        (judge_agreement, {}),
        (judge_agreement, {"judge_mode": "rubric", "rubric_chunk": 4}),
        (judge_agreement, {"attack": True}),
    ],
)
def test_calls_and_characters_are_those_of_a_real_run(task, arguments):
    meter, data = Meter(), {"data": "sample", **arguments}
    limit = 1 if "votes" in arguments else 2
    meter.run(task(**data), limit=limit)
    found = rows(task(**data), WRITTEN, limit=limit)
    calls, into, repeated, out, money = found["judge"]
    assert calls == meter.calls["judge"] > 0
    assert into == pytest.approx(meter.characters["judge"] / 4, abs=0.51)
    assert out == calls * WRITTEN.judge_tokens
    assert 0 <= repeated < into
    assert math.isnan(money)
    if task is judge_agreement:
        assert "candidate" not in found
    else:
        calls, into, _, out, _ = found["candidate"]
        assert calls == meter.calls["candidate"] == limit
        assert into == pytest.approx(meter.characters["candidate"] / 4, abs=0.51)
        assert out == limit * (WRITTEN.trace + WRITTEN.response) / 4


def test_limit_epochs_and_panel_multiply_as_in_a_real_run():
    meter = Meter()
    chosen: Any = {"data": "sample", "judge_mode": "rubric", "rubric_chunk": 6}
    meter.run(morebench(**chosen), judges=3, limit=2, epochs=2)
    options: Any = {"judges": ["a/x", "b/y", "c/z"], "limit": 2, "epochs": 2}
    table, _ = estimate(morebench(**chosen), WRITTEN, **options).tables
    assert [row[1] for row in table.rows] == ["candidate", "a/x", "b/y", "c/z"]
    assert table.rows[0][2:4] == [4, round(meter.characters["candidate"] / 4)]
    assert sum(row[2] for row in table.rows[1:]) == meter.calls["judge"]
    total = sum(row[3] for row in table.rows[1:])
    assert total == pytest.approx(meter.characters["judge"] / 4, abs=2)
    assert table.notes[0].startswith("2 samples, epochs: 2. Assumed: 600 characters a trace")


def test_a_whole_set_is_estimated_from_a_few_of_its_prompts():
    meter = Meter()
    log = meter.run(morebench(data="sample"), score=False)
    found = rows(morebench(data="sample"), WRITTEN)
    assert found["candidate"][0] == len(log.samples) > 24
    assert found["candidate"][1] == pytest.approx(meter.characters["candidate"] / 4, rel=0.04)


@pytest.mark.parametrize(
    ("arguments", "off"),
    [
        ({"chains": 2, "shuffles": 2}, 0),
        ({"chains": 3, "shuffles": 1, "elicit": "none", "conditions": "context,worst"}, 0),
        ({"chains": 7, "shuffles": 2}, 0.03),
    ],
)
def test_chains_ask_the_candidate_once_a_step(arguments, off):
    (log,) = eval(corda(**arguments), model="scripted/first-position", display="none")
    log = read_eval_log(log.location, resolve_attachments=True)
    asked = [e for s in log.samples for e in s.events if e.event == "model"]
    found = rows(corda(**arguments), WRITTEN)
    calls, into, _, out, _ = found.pop("candidate")
    characters = sum(len(m.text) for e in asked for m in e.input)
    assert found == {}
    assert calls == len(asked)
    assert into == pytest.approx(characters / 4, abs=0.51, rel=off)
    written = WRITTEN.response + (0 if arguments.get("elicit") == "none" else WRITTEN.trace)
    assert out == calls * written / 4


def test_money_is_all_tokens_at_their_full_price(tmp_path):
    prices = {"a/x": (3, 15), "b/y": (0.5, 2)}
    path = tmp_path / "prices.json"
    kinds = {"input_cache_write": 9, "input_cache_read": 9}
    path.write_text(
        json.dumps({m: {"input": i, "output": o, **kinds} for m, (i, o) in prices.items()}),
        encoding="utf-8",
    )
    options: Any = {"model": "a/x", "judges": ["b/y"], "limit": 3, "price_file": str(path)}
    table, _ = estimate(morebench(data="sample"), WRITTEN, **options).tables
    want = [(r[3] * prices[r[1]][0] + r[5] * prices[r[1]][1]) / 1e6 for r in table.rows]
    assert [row[-1] for row in table.rows] == pytest.approx(want)
    assert table.notes[-1] == f"Estimated total cost {sum(want):.2f}."


def test_nothing_is_fetched_and_no_log_is_left(tmp_path, monkeypatch):
    def no_network(*_: Any) -> None:
        raise AssertionError("the network was asked for")

    async def no_tokenizer(_: Any, output: ModelOutput, *__: Any) -> None:
        assert output.usage is not None, "Inspect would fetch a tokenizer"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(MockLLM, "_ensure_default_usage", no_tokenizer)
    for task in (morebench(data="sample"), corda(chains=1)):
        size = len(task.dataset)
        rows(task, WRITTEN, limit=2)
        assert len(task.dataset) == size, "the caller's task is left as it is"
    assert list(tmp_path.iterdir()) == []


def test_the_paper_s_prompts_are_read_from_the_checkout(tmp_path):
    for name, text in ((REASONING, GOOD_REASONING), (JUDGE, GOOD_JUDGE)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    chosen: Any = {"data": "sample", "protocol": "upstream", "upstream_path": str(tmp_path)}
    meter = Meter()
    meter.run(morebench(**chosen), limit=1)
    found = rows(morebench(**chosen), WRITTEN, limit=1, arguments=chosen)
    assert found["judge"][1] == pytest.approx(meter.characters["judge"] / 4, abs=0.51)
    options = [f for k, v in chosen.items() for f in ("-T", f"{k}={v}")]
    assert main(["estimate", "morebench", "--limit", "1", *options]) == 0


def test_the_command_reads_parameters_as_inspect_does(capsys):
    command = ["estimate", "inspect_tasks/morebench.py@morebench", "--format", "json"]
    command += ["-T", "data=sample", "-T", "votes=2", "-T", "ask-refusal=true"]
    command += ["-T", "type=short_case,long_case", "-T", "judges=grader,b/y", "--limit", "2"]
    assumed = ["--trace-chars", "600", "--response-chars", "200", "--judge-tokens", "10"]
    assert main([*command, *assumed, "--chars-per-token", "4", "--epochs", "3"]) == 0
    found = json.loads(capsys.readouterr().out)["tables"][0]["rows"]
    chosen: Any = {"type": ["short_case", "long_case"], "votes": 2, "ask_refusal": True}
    task = morebench(data="sample", **chosen)
    options: Any = {"judges": [DEFAULT_JUDGE, "b/y"], "limit": 2, "epochs": 3}
    table, _ = estimate(task, WRITTEN, **options).tables
    assert [row[:-1] for row in found] == [list(row[:-1]) for row in table.rows]
    assert main([*command, "--judge", "c/z"]) == 0
    names = [row[1] for row in json.loads(capsys.readouterr().out)["tables"][0]["rows"]]
    assert names == ["candidate", "c/z"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["morbench"], "morbench: no such task. Allowed: morebench, morebench_theory, corda"),
        (["morebench", "-T", "vote=3"], "-T vote: no such parameter (did you mean 'votes'?)."),
        (["morebench", "-T", "data"], "-T data: must be NAME=VALUE."),
        (["corda", "-T", "chains=[1"], "-T chains=[1, row 1: not YAML ("),
        (["corda", "-T", "chains=1", "--prices", "none.yaml"], "none.yaml: no such file."),
    ],
)
def test_what_cannot_be_estimated_is_one_line(capsys, arguments, said):
    assert main(["estimate", *arguments]) == 1
    printed = capsys.readouterr().err.strip()
    assert printed.startswith(f"moral-reports: {said}")
    assert "\n" not in printed


def test_tasks_go_by_the_names_that_inspect_knows():
    for name in ("corda", "inspect_tasks/corda", "inspect_tasks/corda.py", "x/corda.py@corda"):
        assert build_task(name, {"chains": 1}).metadata["benchmark"] == "corda"
    with pytest.raises(OptionError, match="corda2: no such task"):
        build_task("inspect_tasks/corda2", {})
