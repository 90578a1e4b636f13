"""Figures as files and as parts of a page."""

import argparse
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.plots import files
from moral_evals.reports.plots.canvas import to_file, to_page_svg
from moral_evals.reports.plots.catalogue import rubric_drawings
from moral_evals.reports.plots.inline import inline_svg
from moral_evals.reports.plots.palette import marks
from tests.mocks import run
from tests.reports.builders import rubric_run
from tests.reports.made_runs import HOSTILE

START = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


def drawings(*models: str):
    runs = [rubric_run(m, [0.2, 0.5, 0.9], values={"dim_identifying": [0.5] * 3}) for m in models]
    return list(rubric_drawings(runs, models, marks(models)))


def inline(drawing, prefix: str) -> str:
    return inline_svg(to_page_svg(drawing.draw()), prefix, 'a "label" <b>')


@pytest.mark.parametrize("form", START)
def test_a_file_is_the_same_every_time(form):
    first, second = (
        to_file(files.titled(drawings(HOSTILE)[1], "title"), form, 72) for _ in range(2)
    )
    assert first.startswith(START[form])
    assert first == second


def test_two_figures_of_a_page_share_no_id_and_refer_to_their_own():
    parts = [inline(d, f"f{i}-") for i, d in enumerate(drawings("a", "b"))]
    ids = [re.findall(r'\bid="([^"]+)"', part) for part in parts]
    assert not set(ids[0]) & set(ids[1])
    for part, own in zip(parts, ids, strict=True):
        assert len(own) == len(set(own))
        targets = re.findall(r'(?:url\(|href=")#([^)"]+)', part)
        assert targets
        assert set(targets) <= set(own)


def test_colours_follow_the_page_and_nothing_reaches_out():
    part = inline(drawings("a")[1], "f-")
    assert {"var(--ink)", "var(--rule)", "var(--series-0)"} <= set(
        re.findall(r"var\(--\S+\)", part)
    )
    assert "http" not in part
    assert "<style" not in part
    assert 'aria-label="a &quot;label&quot; &lt;b&gt;"' in part


def test_a_name_is_text_in_the_figure():
    part = inline(drawings(HOSTILE)[1], "f-")
    root = ElementTree.fromstring(part)
    assert "script" not in {e.tag for e in root.iter()}
    assert any("</title><script>" in (e.text or "") for e in root.iter("text"))


def test_the_command_writes_a_file_for_each_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    log = run(corda(chains=2, shuffles=4), get_model("scripted/uniform", memoize=False), None)
    parser = argparse.ArgumentParser()
    files.add_command(parser.add_subparsers())
    arguments = ["plot", log.location, "--out", str(tmp_path / "out"), "--format", "svg"]
    options = parser.parse_args(arguments)
    options.run(options)
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert written == ["corda_drift.svg", "corda_positions.svg", "corda_tiers.svg"]
    assert all(name in capsys.readouterr().out for name in written[:1])
    options.dpi = 5
    with pytest.raises(SuiteError, match="from 20 to 1200"):
        options.run(options)
