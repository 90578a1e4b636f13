"""A figure's SVG made part of a page: ids of its own, colours that follow the page's scheme."""

import re
from xml.etree import ElementTree

from moral_evals.reports.plots.palette import VARIABLES

_HREF = "{http://www.w3.org/1999/xlink}href"
_COLOUR = re.compile("|".join(VARIABLES))
_TARGET = re.compile(r"url\(#")


def inline_svg(svg: str, prefix: str, label: str) -> str:
    """Rewrite what matplotlib wrote.

    Args:
        svg: The document.
        prefix: Put before every id, so that two figures of a page share none.
        label: What the figure shows, for those who do not see it.
    """
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        for child in list(parent):
            # its style sheet would hold for the whole page
            if _name(child) in ("style", "metadata"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _name(element)
        _rewrite(element, prefix)
    root.attrib |= {"role": "img", "aria-label": label}
    return ElementTree.tostring(root, encoding="unicode")


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _rewrite(element: ElementTree.Element, prefix: str) -> None:
    given = element.attrib
    if _HREF in given:
        given["href"] = "#" + prefix + given.pop(_HREF).removeprefix("#")
    for key in ("id", "clip-path", "style"):
        if key not in given:
            continue
        if key == "id":
            given[key] = prefix + given[key]
        else:
            coloured = _COLOUR.sub(lambda m: f"var({VARIABLES[m[0]]})", given[key])
            given[key] = _TARGET.sub(f"url(#{prefix}", coloured)
