"""Every command on every page names options, files, tasks and parameters that exist."""

import argparse
import inspect
import re
from itertools import pairwise

import pytest
import yaml
from inspect_ai._cli.main import inspect as inspect_command
from inspect_ai.model import GenerateConfig

from moral_evals.inspect_tasks import corda, judge_agreement, morebench, morebench_theory
from moral_evals.reports.__main__ import parser
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.docs.pages import CARDS, PAGES, ROOT, commands

NOTES = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

TASKS = {f.__name__: f for f in (corda, judge_agreement, morebench, morebench_theory)}
SCORERS = {f.__name__: f for f in (lexicographic, rubric_judge)}


def shown(program: str) -> list:
    found = [(page, words) for page in PAGES for words in commands(page, program)]
    return [pytest.param(words, id=f"{page.stem}: {' '.join(words)}") for page, words in found]


def parameters(function) -> set[str]:
    found = inspect.signature(function).parameters.values()
    return {p.name for p in found if p.kind != p.VAR_KEYWORD}


@pytest.mark.parametrize("words", shown("inspect"))
def test_inspect_commands(words):
    command = inspect_command.commands[words[1]]
    options = {o for p in command.params for o in p.opts} | {"--help"}
    given = {w for w in words if re.match(r"--?[A-Za-z]", w)}
    if words[1] != "view":  # its options belong to sub-commands
        assert given <= options
    files = [w for w in words if re.search(r"\.py(@|$)", w)]
    assert all((ROOT / w.partition("@")[0]).is_file() for w in files)
    named = {w.rpartition("@")[2].rpartition("/")[2].removesuffix(".py") for w in words}
    for flag, value in pairwise(words):
        name = value.partition("=")[0]
        if flag == "-T":
            assert all(name in parameters(TASKS[t]) for t in named & set(TASKS))
        if flag == "-S":
            assert all(name in parameters(SCORERS[s]) for s in named & set(SCORERS))
        if flag == "--model-role" and "{" in value:
            found = yaml.safe_load(value.partition("=")[2])
            for settings in found if isinstance(found, list) else [found]:
                assert settings.pop("model")
                settings.pop("model_args", None)
                GenerateConfig(**settings)


@pytest.mark.parametrize("words", shown("moral-reports"))
def test_report_commands(words):
    if words[1] == "COMMAND":
        return
    options = parser().parse_args(words[1:])
    assert isinstance(options, argparse.Namespace)
    assert callable(options.run)


@pytest.mark.parametrize(
    "page", [*PAGES, *CARDS, *NOTES], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        file, _, heading = target.partition("#")
        found = (page.parent / file) if file else page
        assert found.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}


@pytest.mark.parametrize("task", ["morebench", "morebench_theory", "corda"])
def test_every_parameter_of_a_task_is_in_a_table(task):
    page = ROOT / ("docs/corda.md" if task == "corda" else "README.md")
    rows = [line.split("|")[1] for line in page.read_text(encoding="utf-8").splitlines()
            if line.startswith("| `")]  # fmt: skip
    assert parameters(TASKS[task]) <= {name for row in rows for name in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize(
    "capture", sorted((ROOT / "docs/captures").glob("*.txt")), ids=lambda p: p.stem
)
def test_captures_fit_their_terminal_and_cut_no_name(capture):
    lines = capture.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert not any("…" in line or "..." in line for line in lines)
    assert any(capture.name in page.read_text(encoding="utf-8") for page in PAGES)
