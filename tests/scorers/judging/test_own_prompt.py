"""A judge prompt of a user's own: what is sent, how replies are read, what is said if none is."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageSystem, ModelOutput, get_model
from inspect_ai.model._model import init_model_roles

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.loaders.own_prompts import YesNoWords
from moral_evals.scorers.judging.judge import judge
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.prompt import fenced, judge_messages, judge_prompt, rubric_messages
from moral_evals.scorers.judging.rubric_reply import read_verdicts
from moral_evals.scorers.judging.verdict import is_bare, read_verdict

GERMAN = """---
name: deutsch
placeholders: [text, criterion, criteria]
yes_words: [erfüllt, Jawohl]
no_words: [nicht erfüllt, keineswegs]
---
# system
Du prüfst Aussagen.
# criterion
Lies:
{{text}}
Aussage: {{criterion}}
# rubric
{{text}}
Aussagen:
{{criteria}}
"""
OWN = YesNoWords(frozenset({"erfüllt", "jawohl"}), frozenset({"nicht erfüllt", "keineswegs"}))
CRITERIA = [
    Criterion(id=f"c{i}", text=f"Punkt {{{{text}}}} {i}.", weight=1, dimension="other")
    for i in range(3)
]


@pytest.fixture
def options(tmp_path: Path) -> JudgeOptions:
    path = tmp_path / "deutsch.md"
    path.write_text(GERMAN, encoding="utf-8")
    return JudgeOptions(judge_prompt=str(path), judge_attempts=1)


def judged(replies: list[str], options: JudgeOptions, since: float):
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in replies]
    init_model_roles({"grader": get_model("mockllm/model", custom_outputs=outputs)})
    return asyncio.run(judge(CRITERIA, "Ich wäge {{criterion}} ab.", options, since))


def test_texts_stand_where_the_file_says_and_nothing_in_them_is_read(options: JudgeOptions):
    text = "Ich wäge {{criterion}} ab."
    (system, user) = judge_messages(judge_prompt(options), text, [CRITERIA[0].text])[0]
    assert isinstance(system, ChatMessageSystem)
    assert system.text == "Du prüfst Aussagen."
    parts = [p.text for p in user.content]
    assert parts == ["Lies:", fenced(text), "Aussage: Punkt {{text}} 0."]
    whole = rubric_messages(text, ["A\nb", "C"], options.own_prompt)[1]
    assert [p.text for p in whole.content] == [fenced(text), "Aussagen:\n1. A b\n2. C"]


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("erfüllt", "yes"),
        ("**Nicht erfüllt.**", "no"),
        ("Urteil: nicht erfüllt", "no"),
        ('{"verdict": "Jawohl"}', "yes"),
        ("Keineswegs, denn das Wort fehlt.", "no"),
        ("Jawohl oder keineswegs? Jawohl", "yes"),
        ("Jawohl. Nicht erfüllt.", None),
        ("unerfüllt", None),
        ("Yes", "yes"),
        ("nein", "no"),
    ],
)
def test_own_words_are_read_like_the_common_ones(reply: str, verdict: str | None):
    assert read_verdict(reply, OWN) == verdict


def test_without_the_prompt_its_words_are_not_read():
    assert read_verdict("Jawohl") is None
    assert not is_bare("Jawohl")
    assert is_bare("Jawohl!", OWN)


def test_a_word_may_mean_the_opposite_of_what_it_means_elsewhere():
    assert read_verdict("Ne", YesNoWords(frozenset({"ne"}), frozenset({"oxi", "yes"}))) == "yes"
    assert read_verdict("yes", YesNoWords(frozenset({"ne"}), frozenset({"oxi", "yes"}))) == "no"


@pytest.mark.parametrize(
    "reply",
    [
        "1: erfüllt\n2: nicht erfüllt\n3: Jawohl",
        "1: erfüllt, 2: nicht erfüllt, 3: jawohl",
        '{"1": "erfüllt", "2": "nicht erfüllt", "3": "jawohl"}',
        '["erfüllt", "nicht erfüllt", "jawohl"]',
    ],
)
def test_a_whole_rubric_is_read_with_own_words(reply: str):
    assert read_verdicts(reply, 3, own=OWN) == {1: "yes", 2: "no", 3: "yes"}
    assert not read_verdicts(reply, 3)


def test_both_modes_judge_with_it(options: JudgeOptions):
    found = judged(["Jawohl", "keineswegs", "Jawohl"], options, 1.0)
    assert sorted(found.verdicts.values()) == ["no", "yes", "yes"]
    whole = judged(
        ["1: Jawohl\n2: keineswegs\n3: Jawohl"], replace(options, judge_mode="rubric"), 2.0
    )
    assert sorted(whole.verdicts.values()) == ["no", "yes", "yes"]
    assert whole.ballots[0].asked_alone == 0


@pytest.mark.parametrize("mode", ["criterion", "rubric"])
def test_a_judge_that_is_never_read_says_so_once_with_two_replies(
    caplog, options: JudgeOptions, mode: str
):
    # a list that cannot be read is asked for criterion by criterion
    lists = ["1: Mag sein.\n2: Kaum.\n3: Mag sein."] if mode == "rubric" else []
    since = 3.0 if mode == "rubric" else 3.5
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            replies = [*lists, "Mag sein.", "Kaum.", "Mag sein."]
            judged(replies, replace(options, judge_mode=mode), since)
    (line,) = [r.getMessage() for r in caplog.records if "none of its replies" in r.getMessage()]
    assert "mockllm/model" in line
    assert "'Mag sein.'" in line
    assert "'Kaum.'" in line
    assert "judge_prompt" in line
    assert "\n" not in line


def test_one_verdict_that_is_read_is_enough_to_say_nothing(caplog, options: JudgeOptions):
    with caplog.at_level(logging.WARNING):
        judged(["Mag sein.", "Jawohl", "Kaum."], options, 4.0)
    assert not [r for r in caplog.records if "none of its replies" in r.getMessage()]


def test_a_prompt_without_a_rubric_section_cannot_judge_whole_rubrics(tmp_path: Path):
    path = tmp_path / "one.md"
    text = GERMAN.partition("# rubric")[0].replace(", criteria]", "]")
    path.write_text(text, encoding="utf-8")
    assert JudgeOptions(judge_prompt=str(path)).facts()["judge_prompt"] == "deutsch"
    with pytest.raises(OptionError, match=r"one\.md has no section `# rubric`"):
        JudgeOptions(judge_prompt=str(path), judge_mode="rubric")


def test_a_file_that_is_not_there_is_refused_by_option():
    with pytest.raises(OptionError, match=r"-T judge_prompt=nowhere\.md: no such file"):
        JudgeOptions(judge_prompt="nowhere.md")
