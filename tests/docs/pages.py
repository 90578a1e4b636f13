"""The commands that the documentation shows."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


CARDS = sorted((ROOT / "datasets").rglob("*.md"))
"""What the bundled data say of themselves."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of each code block."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(page: Path, program: str, *more: str) -> list[list[str]]:
    """The words from `program` on, for each command of the page that calls it."""
    shell = [text.replace("\\\n", " ") for kind, text in blocks(page) if kind in ("", "bash")]
    lines = [*"\n".join(shell).splitlines(), *more]
    called = [shlex.split(line, comments=True) for line in lines if program in line]
    return [words[words.index(program) :] for words in called if program in words]
