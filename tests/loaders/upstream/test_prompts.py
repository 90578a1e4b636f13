"""Upstream's prompts, read from a checkout as syntax and never executed.

The checkouts here have upstream's shape and none of its words.
"""

import contextlib
import io
import json
import urllib.error
from pathlib import Path
from typing import Any

import pytest

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import NEUTRAL, THEORIES
from moral_evals.loaders.upstream.prompts import COMMIT, UpstreamPrompts

REASONING = "prompts/create_prompts_for_reasoning_eval.py"
JUDGE = "prompts/create_prompts_for_rubric_eval.py"

DEFINITIONS = {name: f"judges by matter {i}" for i, name in enumerate(THEORIES)}

THEMED = "return f'You are a {theory}; such a one {table[theory]}.\\n Case: '"
PLAIN = "return 'Just think.\\n Case: '"
QUESTION = "Is the line true of it? Answer in a word.\n"


def reasoning_file(
    table: str = repr(DEFINITIONS), themed: str = THEMED, plain: str = PLAIN, before: str = ""
) -> str:
    return (
        f"{before}\n"
        "def build_prompt(theory=None):\n"
        f"    table = {table}\n"
        "    if theory is not None and theory in table:\n"
        f"        {themed}\n"
        f"    {plain}\n"
    )


def judge_file(body: str = f"return {QUESTION!r}", before: str = "") -> str:
    return f"{before}\ndef build_question():\n    {body}\n"


GOOD_REASONING, GOOD_JUDGE = reasoning_file(), judge_file()


@pytest.fixture
def checkout(tmp_path: Path):
    """Write a checkout, with the given contents in place of the good ones; None leaves a file out."""

    def write(reasoning: Any = GOOD_REASONING, judge: Any = GOOD_JUDGE) -> str:
        (tmp_path / "prompts").mkdir(exist_ok=True)
        for name, content in ((REASONING, reasoning), (JUDGE, judge)):
            if content is not None:
                data = content if isinstance(content, bytes) else content.encode()
                (tmp_path / name).write_bytes(data)
        return str(tmp_path)

    return write


def refusal(path: str | None) -> str:
    with pytest.raises(SuiteError) as caught:
        UpstreamPrompts.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_instructions_are_the_filled_template_for_each_theory(checkout):
    found = UpstreamPrompts.load(checkout()).instructions
    for name, definition in DEFINITIONS.items():
        assert found[name] == f"You are a {name}; such a one {definition}.\n Case: "


def test_neutral_has_the_plain_text(checkout):
    found = UpstreamPrompts.load(checkout()).instructions
    assert found[NEUTRAL] == "Just think.\n Case: "
    assert set(found) == {*THEORIES, NEUTRAL}


def test_the_judges_question_is_kept_with_its_blanks(checkout):
    assert UpstreamPrompts.load(checkout()).judge_question == QUESTION


def test_braces_quotes_and_line_breaks_of_a_definition_stay(checkout):
    odd = {**DEFINITIONS, "Kantian Deontology": "says {x} and 'y'\n  \"z\""}
    found = UpstreamPrompts.load(checkout(reasoning_file(repr(odd)))).instructions
    assert "says {x} and 'y'\n  \"z\"." in found["Kantian Deontology"]


def test_escaped_braces_of_the_template_are_single_ones(checkout):
    themed = "return f'{{As}} {theory}: {table[theory]}'"
    found = UpstreamPrompts.load(checkout(reasoning_file(themed=themed))).instructions
    assert (
        found["Kantian Deontology"]
        == f"{{As}} Kantian Deontology: {DEFINITIONS['Kantian Deontology']}"
    )


def test_triple_quoted_and_joined_literals_are_read(checkout):
    judge = judge_file('return """Is it\n    true?""" \' Say.\'')
    assert UpstreamPrompts.load(checkout(judge=judge)).judge_question == "Is it\n    true? Say."


def test_a_tilde_means_the_home_folder(checkout, monkeypatch):
    monkeypatch.setenv("HOME", checkout())
    assert UpstreamPrompts.load("~").judge_question == QUESTION


def test_the_hash_is_stable_and_follows_every_text(checkout, tmp_path: Path):
    def sha256(folder: str, **files: str) -> str:
        root = tmp_path / folder
        (root / "prompts").mkdir(parents=True)
        (root / REASONING).write_text(files.get("reasoning", reasoning_file()), encoding="utf-8")
        (root / JUDGE).write_text(files.get("judge", judge_file()), encoding="utf-8")
        return UpstreamPrompts.load(str(root)).sha256

    first = sha256("a")
    changed = [
        sha256("b", judge=judge_file("return 'True?'")),
        sha256("c", reasoning=reasoning_file(plain="return 'Think.'")),
        sha256("d", reasoning=reasoning_file(themed=THEMED.replace("Case", "Story"))),
        sha256("e", reasoning=reasoning_file(repr({**DEFINITIONS, THEORIES[0]: "other"}))),
    ]
    assert sha256("f") == first
    assert len({first, *changed}) == 5


# --- malformed checkouts -----------------------------------------------------------------------

FOUR = {name: text for name, text in DEFINITIONS.items() if name != "Kantian Deontology"}
CALLED = repr(DEFINITIONS).replace("'judges by matter 1'", "make_definition(1)")

BAD_REASONING = {
    "syntax error": "def build_prompt(:\n",
    "empty": "",
    "no function": f"table = {DEFINITIONS!r}\n",
    "two functions": reasoning_file() + "\ndef other():\n    return 'x'\n",
    "no table": reasoning_file("None"),
    "empty table": reasoning_file("{}"),
    "an unknown theory": reasoning_file(repr({**DEFINITIONS, "Care Ethics": "cares"})),
    "a theory missing": reasoning_file(repr(FOUR)),
    "a definition that is no literal": reasoning_file(CALLED),
    "no template": reasoning_file(themed="return 'no fields'"),
    "no plain text": reasoning_file(plain="return None"),
    "two plain texts": reasoning_file(plain="return 'a'\n    return 'b'"),
    "two templates": reasoning_file(plain=f"{THEMED}\n    {PLAIN}"),
    "a template without the definition": reasoning_file(themed="return f'As {theory}: '"),
    "a field of another kind": reasoning_file(
        themed="return f'As {theory} {table[theory]} {len(table)}'"
    ),
    "no UTF-8": reasoning_file().replace("Just", "Caf\u00e9").encode("latin-1"),
}
BAD_JUDGE = {
    "syntax error": "def build_question(\n",
    "empty": "",
    "no function": f"question = {QUESTION!r}\n",
    "no text": judge_file("return None"),
    "a computed text": judge_file("return make_question()"),
    "no return": judge_file("pass"),
    "no UTF-8": judge_file("return 'Caf\u00e9?'").encode("latin-1"),
}


@pytest.mark.parametrize("case", BAD_REASONING)
def test_a_reasoning_file_of_another_build_is_refused_by_name(checkout, case: str):
    message = refusal(checkout(reasoning=BAD_REASONING[case]))
    assert REASONING in message
    assert COMMIT[:8] in message


@pytest.mark.parametrize("case", BAD_JUDGE)
def test_a_judge_file_of_another_build_is_refused_by_name(checkout, case: str):
    message = refusal(checkout(judge=BAD_JUDGE[case]))
    assert JUDGE in message
    assert COMMIT[:8] in message


@pytest.mark.parametrize("missing", ["reasoning", "judge"])
def test_a_missing_file_is_refused_and_says_what_to_set(checkout, missing: str):
    message = refusal(checkout(**{missing: None}))
    assert {"reasoning": REASONING, "judge": JUDGE}[missing] in message
    assert "-T upstream_path=" in message


# --- never executed ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "code"),
    [
        pytest.param("before", "open({path!r}, 'w').close()", id="at the top"),
        pytest.param("before", "import pathlib; pathlib.Path({path!r}).touch()", id="an import"),
        pytest.param("before", "class X:\n    open({path!r}, 'w').close()", id="a class body"),
        pytest.param("body", "open({path!r}, 'w').close()", id="in the function"),
    ],
)
def test_code_in_the_files_is_not_run(checkout, tmp_path: Path, where: str, code: str):
    target = tmp_path / "touched"
    code = code.format(path=str(target))
    if where == "before":
        files = {"reasoning": reasoning_file(before=code), "judge": judge_file(before=code)}
    else:
        files = {
            "reasoning": reasoning_file(plain=f"{code}\n    {PLAIN}"),
            "judge": judge_file(f"{code}\n    return {QUESTION!r}"),
        }
    assert UpstreamPrompts.load(checkout(**files)).judge_question == QUESTION
    assert not target.exists()


def test_code_inside_the_template_is_not_run(checkout, tmp_path: Path):
    target = tmp_path / "touched"
    call = f'open({json.dumps(str(target))}, "w")'
    themed = f"return f'{{theory}} {{table[theory]}} {{{call}}}'"
    with contextlib.suppress(SuiteError):
        UpstreamPrompts.load(checkout(reasoning_file(themed=themed)))
    assert not target.exists()


# --- fetched at the pinned commit --------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch) -> Path:
    """Inspect's cache, and with it the place of fetched prompts, in an empty folder."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files_in(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*.py")]


def test_without_a_network_one_line_says_what_to_set(cache: Path, monkeypatch):
    def unreachable(*_: Any, **__: Any):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    message = refusal(None)
    assert "-T upstream_path=" in message
    assert COMMIT in message
    assert files_in(cache) == []


def test_content_without_the_pinned_hash_is_neither_used_nor_kept(cache: Path, monkeypatch):
    asked = []

    def other_content(url: str, **_: Any):
        asked.append(url)
        return io.BytesIO(reasoning_file().encode())

    monkeypatch.setattr("urllib.request.urlopen", other_content)
    assert "hash" in refusal(None)
    assert asked
    assert all(COMMIT in url for url in asked)
    assert files_in(cache) == []


def test_a_kept_file_without_the_pinned_hash_is_not_used(cache: Path, monkeypatch):
    """A cache that was changed or cut must not become the paper's prompts unnoticed."""

    def unreachable(*_: Any, **__: Any):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    for name, content in ((REASONING, reasoning_file()), (JUDGE, judge_file())):
        path = cache / "moral_evals" / f"morebench-{COMMIT[:12]}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    refusal(None)
