"""Upstream's own prompt texts, read from a checkout at run time for runs comparable to the paper.

Nothing of upstream's wording is kept in this project. The two files that hold it are read as
syntax trees, never executed.
"""

import ast
import hashlib
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from inspect_ai.model import cache_path

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.files import TABLE_LIMIT, file_sha256, find, read_text, shown, write_whole
from moral_evals.loaders.morebench.records import NEUTRAL, THEORIES, theory_name
from moral_evals.loaders.prompt_files import wording_sha256

COMMIT = "71eaf71857fecf57e20e30fb40416d843fdd473b"
_REASONING = "prompts/create_prompts_for_reasoning_eval.py"
_JUDGE = "prompts/create_prompts_for_rubric_eval.py"
_SHA256 = {
    _REASONING: "26f8fdeaf66fe00bcf0691c3ccb655c67c3ecee823dbe4b030104161fabaf8eb",
    _JUDGE: "9a0f03ff3284ef04ac36339af7d15a6b1d7c9e45095056f755eeaabfcfc8b70d",
}
_URL = "https://raw.githubusercontent.com/morebench/morebench/{commit}/{file}"


@dataclass(frozen=True)
class UpstreamPrompts:
    """Instruction before a dilemma, by theory name or `neutral`, and the judge's question.

    Upstream puts instruction and dilemma together without a separator.
    """

    instructions: dict[str, str]
    judge_question: str

    @classmethod
    def load(cls, checkout: str | None = None) -> "UpstreamPrompts":
        """Read the prompts from a checkout, or fetch the pinned commit once into Inspect's cache.

        Raises SuiteError if a file is missing, does not have the pinned hash (when fetched), or
        is not built as expected.
        """
        return _load(_checkout(checkout) if checkout else _fetched())

    @property
    def sha256(self) -> str:
        """Hash of all texts, for the log."""
        return wording_sha256([*sorted(self.instructions.values()), self.judge_question])


def _checkout(name: str) -> Path:
    found = find(name)
    if found is None:
        raise SuiteError(
            f"-T upstream_path={shown(name)}: no such folder; set it to a checkout of the "
            "MoReBench repository."
        )
    return found


@cache
def _load(root: Path) -> UpstreamPrompts:
    judge = _function(root / _JUDGE)
    question = next((t for t in map(_text, _returns(judge)) if t is not None), None)
    if question is None:
        _unexpected(root / _JUDGE)
    return UpstreamPrompts(_instructions(root / _REASONING), question)


def _instructions(path: Path) -> dict[str, str]:
    function = _function(path)
    definitions = _definitions(function)
    neutral = [t for t in map(_text, _returns(function)) if t is not None]
    themed = [r for r in _returns(function) if isinstance(r, ast.JoinedStr)]
    if len(neutral) != 1 or len(themed) != 1 or not _names_and_defines(themed[0]):
        _unexpected(path)
    found = {NEUTRAL: neutral[0]}
    for written, definition in definitions.items():
        found[theory_name(written) or ""] = _filled(themed[0], written, definition)
    if set(found) != {NEUTRAL, *THEORIES}:
        _unexpected(path)
    return found


def _names_and_defines(template: ast.JoinedStr) -> bool:
    fields = [v.value for v in template.values if isinstance(v, ast.FormattedValue)]
    return sorted(type(f).__name__ for f in fields) == ["Name", "Subscript"]


def _filled(template: ast.JoinedStr, theory: str, definition: str) -> str:
    # two fields: the theory's name, and a look-up by it
    parts = []
    for value in template.values:
        if isinstance(value, ast.FormattedValue):
            parts.append(theory if isinstance(value.value, ast.Name) else definition)
        else:
            parts.append(_text(value) or "")
    return "".join(parts)


def _function(path: Path) -> ast.FunctionDef:
    try:
        source = read_text(path, TABLE_LIMIT)
    except DataError:
        _unexpected(path)
    except SuiteError as error:
        raise SuiteError(
            f"upstream prompt file {path} cannot be read ({error}); set -T upstream_path= to a "
            "checkout of the MoReBench repository."
        ) from error
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _unexpected(path)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) != 1:
        _unexpected(path)
    return found[0]


def _returns(function: ast.FunctionDef) -> list[ast.expr]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Return))
    return [node.value for node in nodes if node.value is not None]


def _definitions(function: ast.FunctionDef) -> dict[str, str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            pairs = zip(map(_text, node.keys), map(_text, node.values), strict=True)
            return {k: v for k, v in pairs if k is not None and v is not None}
    return {}


def _text(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _unexpected(path: Path) -> NoReturn:
    raise SuiteError(f"{path}: not built like upstream's prompt file at commit {COMMIT[:8]}.")


def _fetched() -> Path:
    root = cache_path().parent / "moral_evals" / f"morebench-{COMMIT[:12]}"
    for file, sha256 in _SHA256.items():
        target = root / file
        if not target.exists():
            _download(_URL.format(commit=COMMIT, file=file), target, sha256)
        elif file_sha256(target) != sha256:
            raise SuiteError(f"{target} does not have the pinned hash; delete it and run again.")
    return root


def _download(url: str, target: Path, sha256: str) -> None:
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            content = response.read()
    except (urllib.error.URLError, OSError) as error:
        raise SuiteError(
            f"upstream's prompts cannot be fetched from {url} ({error}); set -T upstream_path= to "
            "a checkout of the MoReBench repository."
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SuiteError(f"{url}: the content does not have the pinned hash; not used.")
    write_whole(target, content)
