"""Colours, names, places of labels: what holds for all figures."""

import sys
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.plots.canvas import drawing, short
from moral_evals.reports.plots.palette import DARK, LIGHT, VARIABLES, marks
from moral_evals.reports.plots.scatter import spread

# what is left of a colour, after Machado, Oliveira and Fernandes (2009), severity 1
VISION = {
    "full": np.eye(3),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    xyz = TO_XYZ @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(a: str, b: str) -> float:
    low, high = sorted(float(TO_XYZ[1] @ linear(c)) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("vision", VISION)
def test_any_two_models_colours_can_be_told_apart(scheme, vision):
    series = [colour for name, colour in scheme.items() if name.startswith("--series")]
    seen = [lab(VISION[vision] @ linear(colour)) for colour in series]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 26


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_text_and_marks_stand_out_from_the_page(scheme):
    assert set(scheme) == set(VARIABLES.values())
    for name, colour in scheme.items():
        least = {"--ink": 7, "--muted": 4.5, "--rule": 1, "--paper": 1}.get(name, 3)
        assert contrast(colour, scheme["--paper"]) >= least, name


def test_forty_models_look_different_and_a_model_always_the_same():
    names = [f"m{i}" for i in range(40)]
    looks = marks([*names, *names])
    assert len(set(looks.values())) == 40
    assert looks["m3"] == marks(names[:5])["m3"]


@given(st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=40), st.floats(0.001, 0.2))
def test_labels_keep_their_order_and_distance(wanted, gap):
    places = spread(sorted(wanted), gap)
    kept = min(gap, 1 / max(len(wanted) - 1, 1))
    assert all(-1e-9 <= p <= 1 for p in places)
    assert all(b - a >= kept - 1e-9 for a, b in pairwise(places))


@given(st.text(max_size=200), st.integers(9, 60))
def test_a_name_is_one_short_printable_line(name, longest):
    line = short(name, longest)
    assert len(line) <= longest
    assert line.isprintable()


def test_a_long_name_keeps_both_ends():
    assert short("openrouter/deepseek/deepseek-r1:free", 21) == "openrouter…ek-r1:free"


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SuiteError, match=r"pip install \"moral-evals\[plots\]\""), drawing():
        pass
