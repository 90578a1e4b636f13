"""Text in a Markdown table's cell: neither table nor page may be steered by what it says."""

import re

_SHOWN = 240


def cell(text: str, most: int = _SHOWN) -> str:
    """One line, cut at `most` characters, markup escaped."""
    flat = " ".join(text.split())
    if len(flat) > most:
        flat = flat[:most].rstrip() + "…"
    return re.sub(r"([|<>\[\]`*_])", r"\\\1", flat)


def row(cells: list[str]) -> str:
    """A table row of cells that are escaped already."""
    return "| " + " | ".join(cells) + " |"
