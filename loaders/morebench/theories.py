"""The project's own definitions of the five ethical theories, one Markdown file each."""

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.files import TABLE_LIMIT, read_text
from moral_evals.loaders.formats import parse_yaml
from moral_evals.loaders.morebench.records import THEORIES, slug, theory_name
from moral_evals.loaders.paths import bundled


class Theory(BaseModel):
    """A theory's name, the primary works behind the text, and the definition itself."""

    model_config = ConfigDict(frozen=True)

    name: str
    slug: str
    sources: tuple[str, ...]
    definition: str


def theory(name: str) -> Theory:
    """The definition of one of the five theories; SuiteError lists them for any other name."""
    exact = theory_name(name)
    if exact not in THEORIES:
        raise SuiteError(f"theory {name!r} is unknown; allowed: {', '.join(THEORIES)}.")
    return read_theory(bundled("theories") / f"{slug(exact)}.md")


@cache
def read_theory(path: Path) -> Theory:
    """Read a definition: YAML front matter (name, slug, sources) between `---` lines, then text."""
    head, _, body = read_text(path, TABLE_LIMIT).removeprefix("---\n").partition("\n---\n")
    try:
        front = parse_yaml(head, path.name)
        if not isinstance(front, dict) or not body.strip():
            raise ValueError("front matter or definition is missing")
        return Theory(**front, definition=body.strip())
    except (DataError, ValueError, TypeError) as error:
        raise DataError(
            f"{path.name}: needs front matter (name, slug, sources) between --- lines, then the "
            f"definition; {' '.join(str(error).split())[:200]}"
        ) from error
