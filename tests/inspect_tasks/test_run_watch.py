"""Hints come before the first call: no judge, no candidate, options without effect."""

import json
import logging
from pathlib import Path

import pytest
from inspect_ai import Epochs, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.solver import generate

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.errors import OptionError
from moral_evals.reports.__main__ import main
from moral_evals.scorers.judge_agreement import judge_labels, judge_under_attack
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.rubric_judge import rubric_judge, rubric_judge_response


def candidate(calls: list[int]) -> Model:
    def reply(*_: object) -> ModelOutput:
        calls.append(1)
        return ModelOutput.from_content("mockllm/model", "<reasoning>I weigh it.</reasoning>Go.")

    return get_model("mockllm/model", custom_outputs=reply)


def run(calls: list[int], **options: object) -> EvalLog:
    model = options.pop("model", None) or candidate(calls)
    (log,) = eval(morebench(data="sample"), model=model, limit=2, display="none", **options)
    return log


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No default judge can be had."""
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)


def test_without_a_judge_the_candidate_is_not_asked(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    log = run(calls)
    assert not calls
    assert log.status == "error"
    assert all(s.error and "no judge: set OPENROUTER" in s.error.message for s in log.samples or [])
    # Inspect itself may log each sample's error too, according to its log level
    ours = [r for r in caplog.records if r.name.startswith("moral_evals")]
    assert sum("no judge" in r.getMessage() for r in ours) == 1


def test_a_judge_given_to_eval_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    judge = get_model(
        "mockllm/judge", custom_outputs=lambda *_: ModelOutput.from_content("j", "yes")
    )
    log = run(calls, model_roles={"grader": judge})
    assert len(calls) == 2
    assert log.status == "success"
    assert "no judge" not in caplog.text


def test_scoring_may_be_left_for_later(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    assert run(calls, score=False).status == "success"
    assert len(calls) == 2
    assert "no judge" not in caplog.text


def test_a_forgotten_model_is_an_error_that_says_so() -> None:
    log = run([], model="none/none", score=False)
    assert log.status == "error"
    (chains,) = eval(corda(chains=1, shuffles=1), model="none/none", display="none")
    assert chains.status == "error"
    for sample in [*(log.samples or []), *(chains.samples or [])]:
        assert sample.error is not None and "--model PROVIDER/MODEL" in sample.error.message


@pytest.mark.parametrize(("reducer", "said"), [("max", True), ("mean", False), (None, False)])
def test_a_reducer_without_effect_is_said(
    reducer: str | None, said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    run([], score=False, epochs=Epochs(2, reducer))
    assert ("--epochs-reducer max has no effect" in caplog.text) == said


@pytest.mark.parametrize(
    ("levels", "order", "said"),
    [
        (({"welfare": 1}, {"welfare": 0}), "default", True),  # a higher tier is unknown
        (({"welfare": 1}, {"welfare": 0}), "welfare", False),
        (({"rights_harm": 1}, {"rights_harm": 1}), "default", True),
        (({"rights_harm": 1}, {"rights_harm": 0}), "default", False),
    ],
)
def test_data_in_which_nothing_can_be_decided_are_named(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    levels: tuple[dict[str, float], ...],
    order: str,
    said: bool,
) -> None:
    options = [
        {"option_id": f"o{i}", "text": f"Way {i}.", "tiers": t} for i, t in enumerate(levels)
    ]
    step = {"step_id": "s", "situation": "Now.", "options": options}
    path = tmp_path / "own.jsonl"
    line = {"schema_version": "corda-1", "chain_id": "c", "steps": [step]}
    path.write_text(json.dumps(line), encoding="utf-8")
    corda(data=str(path), tier_order=order)
    assert ("no step of own.jsonl can be decided" in caplog.text) == said


@pytest.mark.parametrize(
    ("scorer", "option"),
    [
        (rubric_judge, "judged"),
        (rubric_judge_response, "votes"),
        (judge_labels, "votes"),
        (judge_under_attack, "votes"),
        (lexicographic, "tier_order"),
    ],
)
def test_an_unknown_scorer_option_names_the_allowed_ones(scorer: object, option: str) -> None:
    with pytest.raises(
        OptionError, match=rf"^-S judgd: no such parameter\b.*\. Allowed: .*{option}"
    ):
        scorer(judgd="trace")  # type: ignore[operator]


def test_corda_under_another_solver_ends_in_one_line(caplog, capsys) -> None:
    (log,) = eval(
        corda(chains=2, shuffles=1), model=candidate([]), solver=generate(), display="none"
    )
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("moral_evals")]
    (line,) = [x for x in ours if "left no chain records" in x]
    assert line.startswith("moral_evals/corda: 4 rollouts. ") and "moral_evals/answer_chain" in line
    (score,) = log.results.scores
    assert {k: m.value for k, m in score.metrics.items()} == {"chains": 0}
    assert main(["show", log.location]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("left no chain records") == 1
    assert "nan" not in said.lower()
