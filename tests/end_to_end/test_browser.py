"""The page and `inspect view` in a real browser: headless Chromium, as Debian packages it."""

import argparse
import io
import math
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright, from pip")
pytest.importorskip("matplotlib", reason="needs matplotlib, from pip")

from inspect_ai.log import EvalLog
from inspect_ai.model import get_model
from PIL import Image

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.reports.form.document import Report, Table
from moral_evals.reports.page import command as page_module
from moral_evals.reports.page.command import Part, page
from moral_evals.reports.plots.catalogue import rubric_drawings
from moral_evals.reports.plots.palette import marks
from moral_evals.scorers.rubric.scenario_table import METRIC_NAMES
from moral_evals.scorers.stats.bootstrap import Interval
from tests.end_to_end.chromium import CHROMIUM, Seen, chromium, viewing
from tests.mocks import always, run, thinking
from tests.reports.builders import rubric_run
from tests.reports.made_runs import HOSTILE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package `chromium`")

PATIENCE = 30_000  # milliseconds


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> EvalLog:
    """Two bundled dilemmas with a mock judge; a CORDA log lies in the same folder."""
    folder = str(tmp_path_factory.mktemp("logs"))
    judged = run(morebench(data="sample"), always(thinking("I weigh it.", "So be it.")),
                 always("yes"), limit=2, log_dir=folder)  # fmt: skip
    chooser = get_model("scripted/uniform", memoize=False)
    run(corda(chains=2, shuffles=4), chooser, None, log_dir=folder)
    return judged


@pytest.fixture(scope="module")
def real_page(log) -> Path:
    """The page of the logs."""
    path = folder_of(log) / "page.html"
    parser = argparse.ArgumentParser()
    page_module.add_command(parser.add_subparsers())
    options = parser.parse_args(["page", str(path.parent), "--out", str(path)])
    options.run(options)
    return path


@pytest.fixture(scope="module")
def browser(real_page):  # after the logs: see `chromium`
    with chromium() as started:
        yield started


@pytest.fixture
def tab(browser, request):
    options = {"viewport": {"width": 1800, "height": 1000}} | getattr(request, "param", {})
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    yield Seen(context.new_page())
    context.close()


def folder_of(log: EvalLog) -> Path:
    return Path(log.location.removeprefix("file://")).parent


def opened(tab: Seen, path: Path) -> None:
    tab.page.goto(path.as_uri())
    assert tab.requests == [path.as_uri()]


@pytest.mark.parametrize(
    ("tab", "brightness"),
    [
        ({"color_scheme": "light", "offline": True}, (225, 256)),
        ({"color_scheme": "dark", "offline": True}, (10, 60)),
    ],
    indirect=["tab"],
)
def test_the_page_opens_offline_in_both_colour_schemes(tab, brightness, real_page):
    opened(tab, real_page)
    tab.page.locator("svg").first.wait_for()
    picture = Image.open(io.BytesIO(tab.page.screenshot(full_page=True)))
    low, high = brightness
    values = picture.convert("L").histogram()
    mean = sum(i * n for i, n in enumerate(values)) / sum(values)
    assert low < mean < high
    assert len(picture.getcolors(picture.width * picture.height)) > 200  # text, lines, cells
    for figure in tab.page.locator("svg").all():
        box = figure.bounding_box()
        assert box["width"] > 300
        assert box["x"] + box["width"] <= 1800
    # the page itself never scrolls sideways, on a telephone either
    tab.page.set_viewport_size({"width": 390, "height": 800})
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.complaints == []
    assert len(tab.requests) == 1


def test_tables_sort_by_mouse_and_keyboard_with_the_unmeasured_last(tab, tmp_path):
    unmeasured = Interval.unmeasured()
    rows = [
        ["b", Interval(0.5, 0.4, 0.6, 9), 900, "10/12"],
        ["c", unmeasured, 10_000, "9/12"],
        ["A", Interval(-0.25, -0.3, -0.2, 9), "–", "11/12"],
        ["d", Interval(0.75, math.nan, math.nan, 1), 20, "2/12"],
    ]
    table = Table("t", "A table", ["model", "score", "characters", "scored"], rows)
    path = tmp_path / "page.html"
    path.write_text(page([Part(Report("r", [table]))]), encoding="utf-8")
    opened(tab, path)

    def order() -> str:
        return "".join(tab.page.locator("tbody th").all_inner_texts())

    def sort(column: str) -> str:
        tab.page.get_by_role("button", name=column, exact=True).click()
        head = tab.page.get_by_role("columnheader", name=column, exact=True)
        return head.get_attribute("aria-sort")

    assert order() == "bcAd"
    assert (sort("score"), order()) == ("descending", "dbAc")
    assert (sort("score"), order()) == ("ascending", "Abdc")
    assert (sort("characters"), order()) == ("descending", "cbdA")
    assert (sort("characters"), order()) == ("ascending", "dbcA")
    assert (sort("scored"), order()) == ("ascending", "dcbA")
    assert (sort("model"), order()) == ("ascending", "Abcd")
    assert tab.page.locator("[aria-sort]").count() == 1
    tab.page.keyboard.press("Enter")  # the heading clicked last has the focus
    assert order() == "dcbA"
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Space")
    assert order() == "dbAc"
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("link", name="A table as CSV").click()
    assert "t,b,,,score,0.5,0.4,0.6,9" in Path(saved.value.path()).read_text(encoding="utf-8")
    assert tab.complaints == []


def test_a_name_made_of_markup_runs_nothing(tab, tmp_path):
    drawings = list(rubric_drawings([rubric_run(HOSTILE, [0.2, 0.9])], [HOSTILE], marks([HOSTILE])))
    table = Table("t", HOSTILE, ["model", HOSTILE], [[HOSTILE, HOSTILE], ["b", "x"]], [HOSTILE])
    path = tmp_path / "page.html"
    text = page([Part(Report(HOSTILE, [table], [HOSTILE]), drawings)])
    path.write_text(text, encoding="utf-8")
    opened(tab, path)
    tab.page.locator("thead button").first.click()
    assert tab.page.locator("tbody th").first.inner_text() != "b"
    assert tab.page.locator("script").count() == 1
    assert tab.page.locator("img").count() == 0
    assert tab.page.locator("svg text", has_text="<script>").count() >= 1
    assert tab.complaints == []
    # were the escaping to fail, the policy would still hold
    tab.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')"
    )
    tab.page.wait_for_function("document.querySelector('img').complete")
    assert any("Content Security Policy" in said for said in tab.complaints)
    assert not any(said.startswith("dialog") for said in tab.complaints)


def test_inspect_view_shows_the_scores_and_the_criterion_table(tab, log):
    with viewing(folder_of(log)) as address:
        look_at_the_first_sample(tab, address, log)
    assert all(url.startswith((address, "data:", "blob:")) for url in tab.requests)
    # the viewer asks every folder for its flow, and the answer that there is none is an error to
    # the console, whatever the logs hold
    assert [said for said in tab.complaints if "/api/flow" not in said] == []


def look_at_the_first_sample(tab: Seen, address: str, log: EvalLog) -> None:
    sample = log.samples[0]
    criteria = sample.metadata["criteria"]
    tab.page.goto(f"{address}#/tasks/{Path(log.location).name}")
    tab.page.get_by_text(str(sample.id)).first.wait_for()
    shown = {t.strip().casefold() for t in tab.page.get_by_role("columnheader").all_inner_texts()}
    assert {"score", *METRIC_NAMES.values(), "chars", "graded"} <= shown
    tab.page.get_by_text(str(sample.id)).first.click()
    tab.page.get_by_role("tab", name="Scoring").click()
    table = tab.page.locator("table", has=tab.page.locator("th", has_text="verdict"))
    table.wait_for()
    assert table.locator("th", has_text="criterion").count() == 1
    assert table.locator("tbody tr").count() == len(criteria)
    first = table.locator("tbody tr").first
    assert criteria[0]["text"] in first.inner_text()
    assert first.locator("td").first.inner_text() == "yes"
