"""The project's own definitions of the five ethical theories, one Markdown file each."""

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.front_matter import read_front_matter
from moral_evals.loaders.morebench.records import THEORIES, slug, theory_name
from moral_evals.loaders.paths import bundled
from moral_evals.loaders.values import Words


class _Front(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Words
    slug: Words
    sources: tuple[Words, ...]


class Theory(_Front):
    """A theory's name, the primary works behind the text, and the definition itself."""

    definition: str


def theory(name: str) -> Theory:
    """The definition of one of the five theories; SuiteError lists them for any other name."""
    exact = theory_name(name)
    if exact not in THEORIES:
        raise SuiteError(f"theory {name!r} is unknown; allowed: {', '.join(THEORIES)}.")
    return _bundled_theory(slug(exact))


@cache
def _bundled_theory(name: str) -> Theory:
    return read_theory(bundled("theories") / f"{name}.md")


def read_theory(path: Path) -> Theory:
    """Read a definition: YAML front matter (name, slug, sources) between `---` lines, then text.

    Raises DataError naming file and field.
    """
    front, definition = read_front_matter(path, _Front)
    return Theory(**front.model_dump(), definition=definition)
