"""The walks of CONTRIBUTING.md: their files and functions exist and are linked by imports."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MOST = {"A criterion": 14, "A step": 12}
"""By the walk's heading how many files it may pass through."""

STEP = re.compile(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`: (.+)$", re.MULTILINE)


def walk(heading: str) -> list[tuple[str, str]]:
    """File and function of each step."""
    section = re.split(r"^#+ ", PAGE.partition(f"### {heading}")[2], flags=re.MULTILINE)[0]
    return [(file, name) for file, name, _ in STEP.findall(section)]


def module_of(file: str) -> str:
    return "moral_evals." + file.removesuffix(".py").replace("/", ".")


def imports(file: str) -> set[str]:
    """Dotted names that a file imports."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    froms = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    return {f"{n.module}.{alias.name}" for n in froms for alias in n.names}


@pytest.mark.parametrize("heading", MOST)
def test_a_walk_is_short_and_visits_each_file_once(heading):
    files = [file for file, _ in walk(heading)]
    assert 8 <= len(files) <= MOST[heading]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("heading", MOST)
def test_every_function_of_a_walk_exists(heading):
    for file, name in walk(heading):
        found = importlib.import_module(module_of(file))
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


@pytest.mark.parametrize("heading", MOST)
def test_every_step_is_linked_to_one_before_by_an_import(heading):
    before: list[tuple[str, str]] = []
    for file, name in walk(heading):
        own = {module_of(file), f"{module_of(file)}.{name.partition('.')[0]}"}
        used = imports(file)
        linked = any(
            own & imports(other) or f"{module_of(other)}.{what.partition('.')[0]}" in used
            for other, what in before
        )
        assert linked or not before, f"{file}: {name}"
        before.append((file, name))


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"`((?:\w+/)+[\w.]*\w\.(?:py|md|yaml|jsonl))`", PAGE))
    assert named
    assert [name for name in sorted(named) if not Path(ROOT, name).exists()] == []
