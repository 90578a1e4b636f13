"""How a model looks: one colour and marker, the same in every figure, for light and dark pages."""

from collections.abc import Iterable
from dataclasses import dataclass

# Eight hues found by search: to eyes with full colour vision and to those without red or green
# receptors, any two differ by at least 26 in CIELAB, and each has a contrast of at least 3:1 to its
# page. Place by place the two tuples are one hue, for a light and for a dark page.
_LIGHT = ("#0473e7", "#8f4f0e", "#13a76c", "#bc61b0", "#c08904", "#08375e", "#562c12", "#585a5e")
_DARK = ("#178bf4", "#f0803c", "#aefee8", "#a24195", "#f6d11e", "#54b9ee", "#fed399", "#9b9ea2")
_MARKERS = "osD^vPX<>h"  # ten against eight colours: no pair recurs before the fortieth model

INK, MUTED, RULE, PAPER = "#1b1f24", "#59616b", "#d5d9de", "#fefefe"

VARIABLES = {
    INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper",
    **{colour: f"--series-{i}" for i, colour in enumerate(_LIGHT)},
}  # fmt: skip
"""The page's variable for each colour that follows its colour scheme."""

LIGHT = {variable: colour for colour, variable in VARIABLES.items()}
"""Value of each variable on a light page; figures are drawn in these."""

DARK = {
    "--ink": "#e6e9ed", "--muted": "#a3abb5", "--rule": "#3a4149", "--paper": "#16191d",
    **{f"--series-{i}": colour for i, colour in enumerate(_DARK)},
}  # fmt: skip
"""Value of each variable on a dark page."""


@dataclass(frozen=True)
class Mark:
    """A model's look."""

    colour: str
    marker: str


def marks(names: Iterable[str]) -> dict[str, Mark]:
    """A mark for each name, in the order given."""
    return {
        name: Mark(_LIGHT[i % len(_LIGHT)], _MARKERS[i % len(_MARKERS)])
        for i, name in enumerate(dict.fromkeys(names))
    }
