"""Text in Markdown: neither table nor page may be steered by what it says."""

import re

_SHOWN = 240
# the backslash itself, since `\[a\](b)` would otherwise come out as a link; `$` begins a formula
_MARKUP = re.compile(r"([\\|\[\]`*_$~])")
_HTML = re.compile(r"([<>&])")


def viewer_cell(text: str, most: int = _SHOWN) -> str:
    """One line for `inspect view`, cut at `most` characters, markup escaped.

    `<`, `>` and `&` stay: the viewer makes them entities before it reads Markdown, and a
    backslash before them would show the entity's letters.
    """
    flat = " ".join(text.split())
    if len(flat) > most:
        flat = flat[:most].rstrip() + "…"
    return _MARKUP.sub(r"\\\1", flat)


def cell(text: str, most: int = _SHOWN) -> str:
    """One line for any other reader of Markdown, which takes HTML too."""
    return _HTML.sub(r"\\\1", viewer_cell(text, most))


def row(cells: list[str]) -> str:
    """A table row of cells that are escaped already."""
    return "| " + " | ".join(cells) + " |"
