"""The screen that `inspect eval` leaves behind, in a terminal of 80 x 40."""

import pytest

pytest.importorskip("pty", reason="needs a Unix terminal")

from tests.end_to_end.corda_screen import CONDITIONS, corda_screen
from tests.end_to_end.screen import CAPTURES, HEIGHT, WIDTH

CHIEF = [*("uncond_lms" if c == "unconditioned" else f"{c}_lms" for c in CONDITIONS), "cond_effect"]
NAMES = [f"{n}{end}" for n in CHIEF for end in ("", "_lower", "_upper")]
NAMES += ["missing", "chains", "stderr"]


def scores_block(screen: str) -> list[str]:
    """Names under the score's own, in order."""
    words = [line.strip("│ ").split() for line in screen.splitlines()]
    begin = words.index(["lexicographic"])
    return [w[0] for w in words[begin + 1 : begin + 1 + len(NAMES)]]


def test_all_conditions_fit_and_no_name_is_cut(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)  # the screen names the log from here
    screen = corda_screen("logs", chains=2)
    assert scores_block(screen) == NAMES
    lines = screen[screen.index("╭") :].splitlines()  # a message may stand above the panel
    assert len(lines) <= HEIGHT, screen
    assert max(map(len, lines)) <= WIDTH
    assert "…" not in screen
    assert "Headline metric" not in screen


def test_the_capture_in_the_docs_is_of_such_a_run() -> None:
    assert scores_block((CAPTURES / "corda-80-columns.txt").read_text(encoding="utf-8")) == NAMES
