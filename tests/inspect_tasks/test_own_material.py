"""The examples of own material, run from an empty folder, and what the log says of them."""

import shutil
from pathlib import Path

import pytest
from inspect_ai import eval as run
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, get_model

from moral_evals.inspect_tasks.morebench import morebench, morebench_theory
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.theories import own_theories
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.show.rubric import figures
from moral_evals.scorers.rubric.record import RubricRecord

OWN = Path(__file__).resolve().parents[2] / "examples" / "own"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch) -> Path:
    shutil.copytree(OWN, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    monkeypatch.setenv("PWD", str(tmp_path / "own"))
    return tmp_path


def evaluate(task, word: str, folder: Path) -> EvalLog:
    def say(text: str):
        outputs = [ModelOutput.from_content("mockllm/model", text)] * 50
        return get_model("mockllm/model", custom_outputs=outputs, memoize=False)

    (log,) = run(
        task,
        model=say("<reasoning>Beide brauchen etwas.</reasoning> Sprich mit ihm."),
        model_roles={"grader": say(word)},
        log_dir=str(folder / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    return log


def test_an_own_theory_and_a_german_judge(empty_folder: Path):
    task = morebench_theory(
        data="theory_dilemmas.jsonl", theories="theories", judge_prompt="judge-deutsch.md"
    )
    log = evaluate(task, "Trifft nicht zu.", empty_folder)
    (sample,) = log.samples
    definition = own_theories("theories")["Ethics of Care"].definition
    assert definition in sample.messages[0].text
    # positive weights 3 3 2 3 3 2 2 are lost, the negative ones of 3 and 2 earned
    assert sample.scores["rubric_judge"].value["score"] == 5 / 23
    record = RubricRecord.of(sample.scores["rubric_judge"])
    assert record.judge_prompt == log.eval.metadata["judge_prompt"] == "deutsch"
    assert record.prompt_sha256 == log.eval.metadata["judge_prompt_sha256"]
    assert log.eval.metadata["theories"] == ["Ethics of Care"]


def test_show_names_the_judge_prompt(empty_folder: Path):
    task = morebench(
        data="dilemmas.jsonl", dimensions="dimensions.txt", judge_prompt="judge-deutsch.md"
    )
    log = evaluate(task, "ja", empty_folder)
    (found,) = find_logs([str(empty_folder / "logs")]).each(lambda f: [f])
    score = next(s for s in found.header.results.scores if s.name == "rubric_judge")
    title = figures(found, score, [])[0].title
    assert f"judge prompt deutsch {log.eval.metadata['judge_prompt_sha256']}" in title


def test_without_the_folder_the_refusal_names_the_option():
    with pytest.raises(SuiteError, match=r"Ethics of Care.*-T theories=FOLDER"):
        morebench_theory(data="theory_dilemmas.jsonl")


@pytest.mark.parametrize(
    ("name", "problem"), [("neutral", "taken"), ("kantian deontology", "taken")]
)
def test_a_name_that_is_taken_is_refused(empty_folder: Path, name: str, problem: str):
    folder = empty_folder / "more"
    folder.mkdir()
    text = f"---\nname: {name}\nslug: x\nsources: [a]\n---\nText.\n"
    (folder / "x.md").write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=rf"x\.md, field name: .*{problem}"):
        own_theories(str(folder))
