"""The project's own definitions of the five ethical theories, one Markdown file each."""

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.loaders.files import shown
from moral_evals.loaders.front_matter import field_error, read_front_matter
from moral_evals.loaders.morebench.records import THEORIES, slug, theory_name
from moral_evals.loaders.options import text
from moral_evals.loaders.paths import bundled, local_file
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


def own_theories(folder: str | None) -> dict[str, Theory]:
    """The theories of a user's folder by name, one Markdown file each; README.md is passed over.

    Raises SuiteError naming the folder or the file: none there, a name that is taken or stands
    twice, or a malformed file.
    """
    if folder is None:
        return {}
    path = local_file("theories", text("theories", folder, "folder"))
    files = sorted(p for p in path.glob("*.md") if p.name.casefold() != "readme.md")
    if not files:
        raise OptionError(f"-T theories={shown(folder)}: must be a folder with .md files.")
    found: dict[str, Theory] = {}
    for file in files:
        own = read_theory(file)
        if theory_name(own.name, found):
            problem = f"{own.name!r} is taken; taken are {', '.join((*THEORIES, *found))}, neutral"
            raise field_error(file.name, "name", problem)
        found[own.name] = own
    return found
