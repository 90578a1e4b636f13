"""What was asked, and who served it, is a condition: real runs, refused until allowed."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from inspect_ai.solver import chain, generate, system_message, use_tools
from inspect_ai.tool import think

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.service import address, arguments, served
from moral_evals.reports.__main__ import main
from moral_evals.reports.compare.command import compare
from moral_evals.reports.runs.rubric_runs import rubric_runs
from moral_evals.solvers import chain_prompt, elicit, wording
from moral_evals.solvers.chain import answer_chain
from tests.mocks import run, thinking
from tests.reports.conftest import candidate, dilemmas, grader

FACTS = {"base_url": "https://ann:pw@judges.example/v1?key=9", "provider": {"order": ["Groq"]}}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> str:
    return dilemmas(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def first(data, tmp_path_factory) -> EvalLog:
    return rubric(data, tmp_path_factory.mktemp("first"))


def rubric(
    data: str, folder: Path, judge: Any = None, model: Any = None, **options: Any
) -> EvalLog:
    return run(
        morebench(data=data, judge_cache=False), model or candidate("steady"), judge or grader(),
        log_dir=str(folder), log_realtime=False, **options,
    )  # fmt: skip


def refused(name: str, *logs: EvalLog) -> str:
    """What the command says; only this condition differs, and allowing it is enough."""
    words = ["compare", *(log.location for log in logs)]
    with redirect_stderr(StringIO()) as told:
        assert main(words) == 1
    said = told.getvalue()
    assert said.startswith("moral-reports: these runs are not comparable: ")
    assert said.count("\n") == 1
    assert f"{name} differs: " in said
    assert said.count(" differs: ") == 1
    with redirect_stdout(StringIO()) as printed:
        assert main([*words, "--allow", name, "--format", "json"]) == 0
    table, *_ = json.loads(printed.getvalue())["tables"]
    assert len(table["rows"]) == len(logs)
    return said


def served_judge(**facts: Any) -> Any:
    judge = grader()
    judge.api.base_url = facts.pop("base_url", None)
    judge.model_args |= facts
    return judge


def test_a_replaced_solver(first, data, tmp_path):
    pirate = rubric(
        data, tmp_path, solver=chain(system_message("Answer like a pirate."), generate())
    )
    assert "elicit_reasoning; system_message(template=Answer like a pirate.) + generate(" in (
        refused("solver", first, pirate)
    )
    assert "candidate_prompts_sha256" not in str(pirate.eval.metadata)
    for sample in pirate.samples:
        assert "candidate_prompts_sha256" not in sample.scores["rubric_judge"].metadata
    (conditions,) = {r.conditions.protocol for r in rubric_runs([pirate.location])}
    assert conditions == "prompts of another solver"


def test_the_tools_of_an_agent(first, data, tmp_path):
    with_tools = rubric(data, tmp_path, solver=chain(use_tools(think()), generate()))
    assert "use_tools(tools=[think]" in refused("solver", first, with_tools)


def test_a_solver_beside_the_suites_own(first, data, tmp_path):
    both = rubric(data, tmp_path, solver=chain(elicit.elicit_reasoning(), generate()))
    assert "elicit_reasoning; elicit_reasoning + generate(" in refused("solver", first, both)
    alone = rubric(data, tmp_path / "alone", solver=elicit.elicit_reasoning())
    assert len(compare([first.location, alone.location])) == 1


def test_another_judge_argument_and_another_address(first, data, tmp_path):
    routed = rubric(
        data, tmp_path / "a", served_judge(provider=FACTS["provider"], api_key="sesame-77")
    )
    said = refused("judge", first, routed)
    assert "judge differs: mockllm/judge; mockllm/judge (provider={'order': ['Groq']})" in said
    moved = rubric(data, tmp_path / "b", served_judge(base_url=FACTS["base_url"]))
    said = refused("judge", first, moved)
    assert "mockllm/judge (base_url=https://judges.example/v1)" in said
    for log in (routed, moved):
        text = "".join(
            s.scores["rubric_judge"].model_dump_json() for s in read_eval_log(log.location).samples
        )
        assert "sesame-77" not in text
        assert "ann:pw" not in text
        assert "key=9" not in text


def test_headers_with_keys_stay_out_of_the_record(data, tmp_path):
    judge = grader(extra_headers={"Authorization": "Bearer 77", "x-team": "a"}, max_tokens=9)
    log = rubric(data, tmp_path, judge)
    seats = [
        s.scores["rubric_judge"].metadata["judges"][0]
        for s in log.samples
        if "judges" in s.scores["rubric_judge"].metadata
    ]
    assert seats
    for seat in seats:
        assert seat["settings"]["extra_headers"] == {"x-team": "a"}
        assert seat["settings"]["max_tokens"] == 9


def test_another_address_of_the_candidate(first, data, tmp_path):
    def local(name: str, url: str) -> Any:
        reply = lambda *_: thinking("steady thinks.", "steady decides.")  # noqa: E731
        return get_model(
            f"mockllm/{name}", custom_outputs=reply, memoize=False, base_url=url
        )  # fmt: skip

    here = rubric(data, tmp_path / "a", model=local("steady", "http://localhost:1/v1"))
    assert "mockllm/steady (base_url=http://localhost:1/v1)" in refused("provider", first, here)
    # another model has a provider of its own
    other = rubric(data, tmp_path / "b", model=local("kind", "http://localhost:2/v1"))
    assert len(compare([first.location, other.location])) == 1


def test_an_edited_prompt(first, data, tmp_path, monkeypatch):
    kept = wording._prompt
    monkeypatch.setattr(wording, "_prompt", lambda name: kept(name) + " Be brief.")
    edited = rubric(data, tmp_path)
    assert "protocol differs: suite " in refused("protocol", first, edited)


def test_corda_with_an_edited_prompt_and_with_another_elicitation(tmp_path, monkeypatch):
    def log(folder: str, **options: Any) -> EvalLog:
        task = corda(chains=2, shuffles=1, conditions="unconditioned")
        model = get_model("scripted/first-position", memoize=False)
        return run(task, model, None, log_dir=str(tmp_path / folder), **options)

    plain = log("plain")
    assert "prompts_sha256" not in str(plain.eval.metadata)
    bare = log("bare", solver=answer_chain(elicit="none"))
    assert "protocol differs: none " in refused("protocol", plain, bare)
    more = log("more", solver=answer_chain(reminders=3))
    assert "answer_chain; answer_chain(reminders=3)" in refused("solver", plain, more)
    kept = chain_prompt._prompt
    monkeypatch.setattr(chain_prompt, "_prompt", lambda name: kept(name) + " ")
    assert "protocol differs: tags " in refused("protocol", plain, log("edited"))


def test_what_is_secret_and_what_is_not():
    given = {
        "api_key": "a",
        "token": "b",
        "max_tokens": 5,
        "hub": {"access_token": "c", "rev": "d"},
    }
    assert arguments(given | {"client": object()}) == {"max_tokens": 5, "hub": {"rev": "d"}}
    assert address("https://u:p@h.example:8/v1/?k=1") == "https://h.example:8/v1"
    assert address(None) == ""
    assert served("openrouter/x", {}, "https://openrouter.ai/api/v1") == []
    assert served("openrouter/x", {}, "https://openrouter.example.com") == [
        "base_url=https://openrouter.example.com"
    ]
