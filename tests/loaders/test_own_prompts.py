"""Prompts of a user's own: what is read, and what is refused with file and field."""

from pathlib import Path

import pytest

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.own_prompts import Template, read_candidate_prompt, read_judge_prompt

JUDGE = """---
name: {name}
placeholders: {placeholders}
yes_words: {yes}
no_words: {no}
---
{body}
"""
BODY = "Steht es im Text?\n\n{{text}}\n\nAussage: {{criterion}}"


def judge(tmp_path: Path, body: str = BODY, **head: str):
    fields = {"name": "de", "placeholders": "[text, criterion]", "yes": "[Ja]", "no": "[Nein]"}
    path = tmp_path / "own.md"
    path.write_text(JUDGE.format(body=body, **(fields | head)), encoding="utf-8")
    return read_judge_prompt(path)


def test_a_body_without_sections_is_the_question(tmp_path: Path):
    found = judge(tmp_path)
    assert (found.name, found.system, found.rubric) == ("de", "", None)
    assert found.criterion.text == BODY
    assert (found.words.yes, found.words.no) == ({"ja"}, {"nein"})


def test_sections_are_read_and_other_headings_are_text(tmp_path: Path):
    body = (
        "# system\nSei streng.\n# criterion\n# Die Aufgabe\n{{text}} {{criterion}}\n"
        "# rubric\n{{text}} {{criteria}}"
    )
    found = judge(tmp_path, body, placeholders="[text, criterion, criteria]")
    assert found.system == "Sei streng."
    assert found.criterion.text == "# Die Aufgabe\n{{text}} {{criterion}}"
    assert found.rubric == Template("{{text}} {{criteria}}")


def test_values_are_not_searched_for_placeholders():
    filled = Template("{{a}} and {{ b }} and {a}").filled({"a": "{{b}}", "b": "{{a}}"})
    assert filled == "{{b}} and {{a}} and {a}"


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        ({"name": "two words"}, BODY, "field name: 'two words'"),
        ({"name": "[]"}, BODY, "field name"),
        ({"yes": "[]"}, BODY, "field yes_words"),
        ({"no": "[no]"}, BODY, r"field no_words\[1\].*quotes"),
        ({"no": "['1']"}, BODY, r"field no_words\[1\].*letter"),
        ({"no": "[nein, JA]"}, BODY, "field no_words: 'ja' stands in yes_words too"),
        ({"placeholders": "[text]"}, BODY, "field placeholders: 'criterion' is missing"),
        (
            {"placeholders": "[text, criterion, citerion]"},
            BODY,
            "field placeholders: 'citerion' does not occur.*'criterion'",
        ),
        ({}, BODY.replace("criterion", "critereon"), "critereon.*did you mean 'criterion'"),
        ({}, BODY.replace("{{text}}", "{text}"), "{{text}}.*does not stand.*two pairs of braces"),
        ({}, BODY + "{{text}}", "{{text}}.*stands 2 times"),
        ({}, "# sytem\nx\n# criterion\n" + BODY, "# sytem.*allowed: `# system`"),
        ({}, "before\n# criterion\n" + BODY, "# criterion: text stands before it"),
        ({}, "# criterion\n" + BODY + "\n# criterion\n" + BODY, "twice"),
        ({}, "# system\n# criterion\n" + BODY, "# system: the section is empty"),
        ({}, "# system\nx", "section `# criterion` is missing"),
        ({"name": "x\nextra: 1"}, BODY, "field extra: is not in the schema; allowed: name"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, head, body: str, said: str):
    with pytest.raises(DataError, match=said) as caught:
        judge(tmp_path, body, **head)
    assert str(caught.value).startswith("own.md")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Only text {{dilemma}}", "front matter"),
        ("---\nname: x\nplaceholders: [dilemma]\n{{dilemma}}", "no --- line"),
        ("---\nname: x\nplaceholders: [dilemma]\n---\n", "no text"),
        ("---\nname: x\nplaceholders: [rubric, dilemma]\n---\n{{rubric}} {{dilemma}}", "rubric"),
    ],
)
def test_a_candidate_prompt_is_checked_alike(tmp_path: Path, text: str, said: str):
    path = tmp_path / "own.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=f"own.md.*{said}"):
        read_candidate_prompt(path)
