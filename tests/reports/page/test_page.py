"""The page as a document: complete in itself, well formed, and deaf to what names contain."""

import argparse
import base64
import hashlib
import math
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.form.document import Report, Table
from moral_evals.reports.page import command as module
from moral_evals.reports.page.command import Part, page
from moral_evals.scorers.stats.bootstrap import Interval
from tests.mocks import always, run, thinking
from tests.reports.made_runs import HOSTILE

VOID = {"meta", "link", "br", "hr", "img"}
CELLS = [
    ["a", Interval(0.5, 0.25, 0.75, 12, "small_n"), 1234, math.inf, "10/12"],
    ["b", Interval.unmeasured(), "–", math.nan, "9/12"],
    [HOSTILE, Interval(-0.1, math.nan, math.nan, 1), 7, -math.inf, HOSTILE],
]
TABLE = Table("scores", "Scores", ["model", "Regular", "characters", "odds", "scored"], CELLS)


class Document(HTMLParser):
    """Elements with their attributes and own text; fails on a tag that is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[int] = []
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {k: v or "" for k, v in attrs}, []))
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {k: v or "" for k, v in attrs}, []))

    def handle_endtag(self, tag):
        assert self.elements[self.open.pop()][0] == tag

    def handle_data(self, data):
        if self.open:
            self.elements[self.open[-1]][2].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str], str]]:
        return [(given, "".join(text)) for name, given, text in self.elements if name == tag]


def document(*tables: Table, title: str = "a report", notes: tuple[str, ...] = ()) -> Document:
    return Document(page([Part(Report(title, tables, notes))]))


def written(tmp_path, *arguments: str) -> str:
    parser = argparse.ArgumentParser()
    module.add_command(parser.add_subparsers())
    out = tmp_path / "page.html"
    options = parser.parse_args(["page", *arguments, "--out", str(out)])
    options.run(options)
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> str:
    folder = str(tmp_path_factory.mktemp("logs"))
    reply = thinking("I weigh it.", "So be it.")
    run(morebench(data="sample", judged="both"), always(reply), always("yes"), limit=2,
        log_dir=folder)  # fmt: skip
    chooser = get_model("scripted/uniform", memoize=False)
    run(corda(chains=2, shuffles=4), chooser, None, log_dir=folder)
    return folder


def test_a_page_of_real_logs_is_whole(logs, tmp_path):
    pytest.importorskip("matplotlib")
    text = written(tmp_path, logs)
    found = Document(text)
    ids = [given["id"] for _, given, _ in found.elements if "id" in given]
    assert len(ids) == len(set(ids))
    inner = [given["href"] for given, _ in found.all("a") if given["href"].startswith("#")]
    assert inner
    assert {href[1:] for href in inner} <= set(ids)
    assert len(found.all("svg")) == 2 + 2 + 3
    headings = [text for _, text in found.all("h2")]
    assert headings[:3] == [
        "morebench, trace judged: 1 runs", "morebench, response judged: 1 runs", "corda: 1 runs"
    ]  # fmt: skip
    assert "Trace against response: morebench" in headings
    titles = {text for _, text in found.all("h3")}
    assert {"Scores", "Conditions", "Runs", "Choices along the chain"} <= titles
    assert "Paired differences in Regular" not in titles  # of one run
    assert "Bundled sample, not MoReBench scores" in text


def test_the_page_asks_for_nothing(logs, tmp_path):
    found = Document(written(tmp_path, logs, "--no-figures"))
    assert found.all("svg") == []
    for tag, given, _ in found.elements:
        assert "src" not in given
        assert "srcset" not in given
        assert tag not in ("iframe", "object", "embed", "base", "form")
        if "href" in given:
            assert given["href"].startswith(("#", "data:")), given
        assert not any(name.startswith("on") for name in given)
    (style,) = (text for _, text in found.all("style"))
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_this_script_and_no_other():
    found = document(TABLE)
    policy = next(given["content"] for given, _ in found.all("meta") if "http-equiv" in given)
    ((_, script),) = found.all("script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_what_a_log_says_is_text_and_nothing_else():
    plain = document(TABLE)
    hostile = document(
        Table(HOSTILE, HOSTILE, [HOSTILE, "x"], [[HOSTILE, HOSTILE]], [HOSTILE]),
        title=HOSTILE, notes=(HOSTILE,),
    )  # fmt: skip
    assert len(hostile.all("script")) == len(plain.all("script")) == 1
    assert hostile.all("img") == []
    for tag in ("h2", "h3", "th", "td", "button", "p"):
        assert HOSTILE in [text for _, text in hostile.all(tag)], tag
    assert all(re.fullmatch(r"[\w-]+", g["id"]) for _, g, _ in hostile.elements if "id" in g)


def test_cells_carry_what_the_page_sorts_by():
    found = document(TABLE)
    values = [given.get("data-value") for given, _ in found.all("td")]
    columns = [values[i::4] for i in range(4)]
    assert columns == [
        ["0.5", "", "-0.1"], ["1234", "", "7"], ["Infinity", "", "-Infinity"], [None] * 3
    ]  # fmt: skip
    heads = [given.get("class") for given, _ in found.all("th") if given["scope"] == "col"]
    assert heads == [None, "number", "number", "number", None]
    assert [given["title"] for given, _ in found.all("td") if "title" in given] == [
        "n = 12, few", "n = 0", "n = 1"
    ]  # fmt: skip


def test_intervals_are_shown_and_the_unmeasured_is_a_dash():
    found = document(TABLE)
    assert [text for _, text in found.all("span")] == ["[0.250, 0.750]‡"]
    texts = [text.strip() for _, text in found.all("td")]
    assert texts[4:8] == ["–", "–", "–", "9/12"]
    assert "nan" not in " ".join(texts).lower()


def test_a_table_is_saved_as_csv():
    found = document(TABLE)
    (link,) = (given for given, _ in found.all("a") if "download" in given)
    assert link["download"] == "scores.csv"
    start, _, data = link["href"].partition(",")
    assert start == "data:text/csv;charset=utf-8"
    lines = unquote(data).splitlines()
    assert lines[0] == "table,row,run_id,run_id_2,column,value,lower,upper,n,flag,text"
    assert lines[1] == "scores,a,,,regular,0.5,0.25,0.75,12,small_n,"


def test_half_a_surrogate_does_not_stop_the_page(logs, tmp_path, monkeypatch):
    broken = Report("a \ud800 title", [TABLE])
    section = argparse.Namespace(report=lambda: broken, drawings=(), rubrics=False, logs=())
    monkeypatch.setattr(module, "sections", lambda *_: [section])
    assert "a ? title" in written(tmp_path, logs)


def test_runs_that_are_not_comparable_are_refused(logs, tmp_path):
    other = tmp_path / "other"
    reply = thinking("I weigh it.", "So be it.")
    run(morebench(data="sample", votes=3), always(reply), always("yes"), limit=1,
        log_dir=str(other))  # fmt: skip
    with pytest.raises(SuiteError, match="judge_mode differs"):
        written(tmp_path, logs, str(other), "--no-figures")
    written(tmp_path, logs, str(other), "--no-figures", "--allow", "judge_mode")


def test_without_matplotlib_tables_can_be_had(logs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SuiteError, match="figures need matplotlib"):
        written(tmp_path, logs)
    assert "Scores" in written(tmp_path, logs, "--no-figures")
