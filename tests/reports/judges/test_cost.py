"""`moral-reports cost`: known usage of candidate and judges, found again by role and priced."""

import math
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import Model, ModelUsage, get_model

from benchmarks.stub_server import StubServer
from moral_evals.inspect_tasks import corda, judge_agreement, morebench
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.__main__ import main
from moral_evals.reports.judges.cost import cost
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import output, run, thinking

# input, output, cache read, cache write, reasoning
USED = {
    "candidate": (1000, 400, 300, 70, 350), "judge": (90, 12, 40, 5, 9), "a": (11, 1, 0, 0, 0),
    "b": (13, 2, 5, 0, 1),
}  # fmt: skip
PRICES = """
mockllm/candidate: {input: 3, output: 15, input_cache_write: 3.75, input_cache_read: 0.3}
mockllm/judge: {input: 0.5, output: 2, input_cache_write: 0.6, input_cache_read: 0.05}
"""


def model(name: str, thinks: bool = False) -> Model:
    into, out, read, write, thought = USED.get(name, USED["judge"])

    def reply(*_: Any) -> Any:
        said = thinking("I weigh it.", "So be it.") if thinks else output("yes")
        usage = ModelUsage(input_tokens=into, output_tokens=out, input_tokens_cache_read=read,
                           input_tokens_cache_write=write, reasoning_tokens=thought)  # fmt: skip
        return said.model_copy(update={"usage": usage})

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def rows(*paths: str, **options: Any) -> list[list[Any]]:
    (table,) = cost(paths, **options).tables
    return [list(row) for row in table.rows]


def used(name: str, calls: int) -> list[int]:
    """Columns from `input` to `of it reasoning`."""
    into, out, read, write, thought = USED[name]
    return [calls * n for n in (into, read, write, out, thought)]


def criteria(log: EvalLog) -> int:
    return sum(len(s.metadata_as(ScenarioMetadata).criteria) for s in log.samples)


def again(log: EvalLog, judges: list[Model], action: Any = "append", **arguments: Any) -> str:
    """Path of the log with one more judging."""
    scorer, roles = rubric_judge(**arguments), {"grader": judges}
    found = score(log, scorer, action=action, model_roles=roles, display="none")
    path = log.location.replace(".eval", f"-{action}.eval")
    write_eval_log(found, path)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> EvalLog:
    """Two dilemmas, judged on both texts."""
    folder = str(tmp_path_factory.mktemp("logs"))
    task = morebench(data="sample", judged="both")
    return run(task, model("candidate", thinks=True), model("judge"), limit=2, log_dir=folder)


@pytest.fixture
def prices(tmp_path) -> str:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES, encoding="utf-8")
    return str(path)


def test_candidate_and_each_score_s_judge_stand_apart(finished):
    n = criteria(finished)
    candidate, trace, response = rows(finished.location)
    assert candidate[:8] == ["candidate", "mockllm/candidate", "–", *used("candidate", 2)]
    assert trace[:8] == ["judge, rubric_judge", "mockllm/judge", n, *used("judge", n)]
    assert response[:8] == ["judge, rubric_judge_response", "mockllm/judge", n, *used("judge", n)]
    assert all(row[8:10] == [0, 0] for row in (candidate, trace, response))


def test_a_candidate_that_judges_itself_is_told_from_its_judge(tmp_path):
    task = morebench(data="sample")
    log = run(task, model("b", thinks=True), model("b"), limit=1, log_dir=str(tmp_path))
    n = criteria(log)
    candidate, judge = rows(log.location)
    assert candidate[1:8] == ["mockllm/b", "–", *used("b", 1)]
    assert judge[1:8] == ["mockllm/b", n, *used("b", n)]


def test_the_examination_of_a_judge_has_a_judge_and_no_candidate(tmp_path):
    log = run(judge_agreement(), model("a"), model("b"), limit=2, log_dir=str(tmp_path))
    pairs = sum(len(s.metadata["pairs"]) for s in log.samples)
    candidate, judge = rows(log.location)
    assert candidate[2:8] == ["–", 0, 0, 0, 0, 0]
    assert judge[:8] == ["judge, judge_labels", "mockllm/b", pairs, *used("b", pairs)]
    file = tmp_path / "prices.yaml"
    file.write_text(PRICES.replace("mockllm/judge", "mockllm/b").split("\n", 2)[2], "utf-8")
    assert rows(log.location, price_file=str(file))[0][-1] == 0, "who wrote nothing needs no price"


def test_attacks_count_both_judgings(tmp_path):
    log = run(judge_agreement(attack=True), model("a"), model("b"), limit=2, log_dir=str(tmp_path))
    assert [row[2:8] for row in rows(log.location)[1:]] == [[16, *used("b", 16)]]


def test_money_is_tokens_times_their_prices(finished, prices):
    n = criteria(finished)
    candidate, *judges = rows(finished.location, price_file=prices)
    first = 2 * (1000 * 3 + 400 * 15 + 300 * 0.3 + 70 * 3.75) / 1e6
    each = n * (90 * 0.5 + 12 * 2 + 40 * 0.05 + 5 * 0.6) / 1e6
    assert [candidate[-1], *(j[-1] for j in judges)] == pytest.approx([first, each, each])
    (table,) = cost([finished.location], prices).tables
    assert table.notes == [f"Total cost {first + 2 * each:.4f}"]


def test_without_prices_there_is_no_money(finished, capsys):
    (table,) = cost([finished.location]).tables
    assert all(math.isnan(row[-1]) for row in table.rows)
    assert table.notes == []
    assert main(["cost", finished.location, "--format", "csv"]) == 0
    printed = capsys.readouterr().out
    priced = [line for line in printed.splitlines() if ",cost," in line]
    assert priced and all(line.endswith(",cost,,,,,,") for line in priced), "unknown, not 0"


def test_a_model_without_a_price_is_one_line_that_names_the_others(finished, tmp_path, capsys):
    file = tmp_path / "prices.yaml"
    file.write_text(PRICES.replace("mockllm/judge", "mockllm/other"), encoding="utf-8")
    assert main(["cost", finished.location, "--prices", str(file)]) == 1
    said = capsys.readouterr().err
    assert "no price for mockllm/judge. The file has: mockllm/candidate, mockllm/other." in said
    assert len(said.splitlines()) == 1


def test_a_score_added_later_has_its_own_row_and_leaves_the_others(finished):
    n, before = criteria(finished), rows(finished.location)
    added = rows(again(finished, [model("a")]))
    assert [r[:10] for r in added[:3]] == [r[:10] for r in before]
    assert added[3][:8] == ["judge, rubric_judge1", "mockllm/a", n, *used("a", n)]
    replaced = rows(again(finished, [model("b")], "overwrite"))
    assert [r[:8] for r in replaced] == [
        before[0][:8], ["judge, rubric_judge", "mockllm/b", n, *used("b", n)],
    ]  # fmt: skip


def test_a_panel_is_split_by_judge_and_counts_the_refusal_question(finished, tmp_path):
    n = 2 * (criteria(finished) + 2)
    panel = [model("a"), model("b"), model("b")]
    path = again(finished, panel, "overwrite", votes=2, ask_refusal=True)
    assert [r[1:8] for r in rows(path)[1:]] == [
        ["mockllm/a", n, *used("a", n)],
        ["mockllm/b", n, *used("b", n)],
        ["mockllm/b #2", n, *used("b", n)],
    ]
    seats = read_eval_log(path).samples[0].scores["rubric_judge"].metadata["judges"]
    assert len(seats) == 6
    assert all("usage" not in s for s in seats), "it makes the list too long for a summary"
    file = tmp_path / "prices.json"
    price = '{"input": 1, "output": 1, "input_cache_write": 1, "input_cache_read": 0}'
    names = ", ".join(f'"mockllm/{name}": {price}' for name in ("candidate", "a", "b"))
    file.write_text(f"{{{names}}}", encoding="utf-8")
    money = [r[-1] for r in rows(path, price_file=str(file))[2:]]
    assert money == pytest.approx([n * 15 / 1e6] * 2)


def test_a_panel_too_large_for_a_summary_is_split_all_the_same(finished):
    n, names = criteria(finished), [f"judge-with-a-long-name-{i}" for i in range(6)]
    path = again(finished, [model(name) for name in names], "overwrite")
    found = rows(path)[1:]
    assert [r[1:8] for r in found] == [[f"mockllm/{m}", n, *used("judge", n)] for m in names]


def test_the_refusal_question_counts_for_a_single_judge(finished):
    n = criteria(finished) + 2
    path = again(finished, [model("a")], "overwrite", ask_refusal=True)
    assert [r[2:8] for r in rows(path)[1:]] == [[n, *used("a", n)]]


def test_calls_that_the_verdict_cache_spared_are_not_paid(finished, monkeypatch):
    n = criteria(finished)
    with StubServer() as stub:
        for name, value in stub.environment("spared").items():
            monkeypatch.setenv(name, value)
        judge = [get_model("openai-api/spared/judge", memoize=False)]
        first = rows(again(finished, judge, "overwrite"))[1]
        second = rows(again(read_eval_log(finished.location), judge, "overwrite"))[1]
    assert first[2:][:8] == [n, 100 * n, 0, 0, 20 * n, 0, 0, 0]
    assert second[2:][:8] == [0, 0, 0, 0, 0, 0, n, 120 * n]
    assert stub.stats.calls["judge"] == n


def test_chains_have_a_candidate_alone_and_a_folder_a_table_for_each_log(tmp_path):
    folder = str(tmp_path)
    chosen = {"chains": 1, "shuffles": 2, "conditions": "unconditioned"}
    log = run(corda(**chosen), get_model("scripted/uniform"), None, log_dir=folder)
    ((part, name, calls, *tokens),) = rows(log.location)
    usage = log.stats.model_usage["scripted/uniform"]
    assert [part, name, calls] == ["candidate", "scripted/uniform", "–"]
    assert tokens[:-1] == [usage.input_tokens, 0, 0, usage.output_tokens, 0, 0, 0]
    write_eval_log(log, str(tmp_path / "copy.eval"))
    assert len(cost([folder]).tables) == 1, "a copy is paid for once"
    log.eval.eval_id = log.eval.task_id = "another run"
    write_eval_log(log, str(tmp_path / "copy.eval"))
    assert len(cost([folder]).tables) == 2
