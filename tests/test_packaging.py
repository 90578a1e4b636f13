"""pyproject.toml against the tree: every room and every data file is named, every import declared."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("inspect_tasks", "loaders", "solvers", "scorers", "providers", "reports")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
EMBEDDED = {"xllamacpp", "snowballstemmer"}
"""In providers/requirements.txt, by hash."""


def dotted(folder: Path) -> str:
    return ".".join(("moral_evals", *folder.relative_to(ROOT).parts))


def test_every_folder_with_code_is_a_package_of_the_wheel():
    folders = {f.parent for room in ROOMS for f in (ROOT / room).rglob("*.py")}
    named = set(SETUPTOOLS["packages"])
    assert {dotted(f) for f in folders} | {"moral_evals", "moral_evals.datasets"} == named
    assert all((f / "__init__.py").is_file() for f in folders)


def sub_rooms() -> list[Path]:
    return sorted({f.parent for room in ROOMS for f in (ROOT / room).glob("*/*.py")})


@pytest.mark.parametrize("folder", sub_rooms(), ids=lambda f: f.relative_to(ROOT).as_posix())
def test_a_sub_room_is_small_and_says_what_it_is_for(folder: Path):
    files = [f.name for f in folder.glob("*.py") if f.name != "__init__.py"]
    assert len(files) <= 15
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert said, "what enters, what leaves, which file to open first"
    first = re.search(r"`(\w+\.py)`", said)
    assert first, "the file to open first"
    assert first[1] in files


def test_datasets_holds_no_code():
    assert not list((ROOT / "datasets").rglob("*.py"))


def data_files() -> list[Path]:
    """Whatever lies in a room or in datasets/ and is no code; plus the marker of types."""
    found = [f for room in (*ROOMS, "datasets") for f in (ROOT / room).rglob("*") if f.is_file()]
    return [f for f in found if f.suffix not in (".py", ".pyc")] + [ROOT / "py.typed"]


@pytest.mark.parametrize("file", data_files(), ids=lambda f: f.relative_to(ROOT).as_posix())
def test_every_data_file_travels_in_the_wheel(file: Path):
    for package, patterns in SETUPTOOLS["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        if file.is_relative_to(folder):
            inside = PurePosixPath(file.relative_to(folder).as_posix())
            if any(matches(inside, pattern) for pattern in patterns):
                return
    pytest.fail(f"no pattern of package-data matches {file}")


def matches(path: PurePosixPath, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch(path.name, pattern.removeprefix("**/"))
    return len(path.parts) == len(PurePosixPath(pattern).parts) and fnmatch(str(path), pattern)


def imported() -> set[str]:
    """Top-level names that the package imports, its own and the standard library's left out."""
    names = set()
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"moral_evals"}


def normal(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower().replace("_", "-")


def test_everything_imported_is_declared():
    declared = {normal(r) for r in PROJECT["project"]["dependencies"]}
    declared |= {normal(r) for r in PROJECT["project"]["optional-dependencies"]["plots"]}
    providers = importlib.metadata.packages_distributions()
    for name in imported() - EMBEDDED:
        assert {normal(d) for d in providers.get(name, [name])} & declared, name


def test_every_dependency_has_a_lower_bound():
    assert all(">=" in r for r in PROJECT["project"]["dependencies"])


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['project']['version']}\n" in text
