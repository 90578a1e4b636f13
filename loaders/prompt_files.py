"""Prompts are data: one Markdown file each, read by this one function and hashed for the log."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.files import TABLE_LIMIT, read_text

PROTOCOLS = ("suite", "upstream")
"""Whose wording a run uses: this project's, or the paper's as read from its repository."""


@cache
def prompt_text(folder: Path, name: str) -> str:
    """The text of `NAME.md` in a folder of prompts; SuiteError lists what there is instead."""
    path = folder / f"{name}.md"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.md")))
        raise SuiteError(f"prompt {name!r} is unknown; allowed: {known}.")
    return read_text(path, TABLE_LIMIT).strip()


def wording_sha256(texts: Iterable[str]) -> str:
    """Hash of all texts of a protocol, for the log; any change of a prompt file changes it."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
