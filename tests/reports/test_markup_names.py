"""Names that speak some markup stay text in every report."""

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from markdown_it import MarkdownIt

from moral_evals.reports.__main__ import main
from moral_evals.reports.form import output
from tests.reports.conftest import corda_log, dilemmas, grader, small_log

NAMES = ["[/x]", "[bold]", r"\[l\](http://127.0.0.1/)", "$x$", "<b>"]
EVERY = "".join(NAMES)
"""All in one name; no space, so that no cell is wrapped within it."""


def renamed(path: str, name: str, folder: Path, judge: str = EVERY) -> None:
    """Write a log whose candidate and judges have another name."""
    log = read_eval_log(path)
    log.eval.model = log.eval.model.partition("/")[0] + f"/{name}"
    for sample in log.samples:
        for score in (sample.scores or {}).values():
            if "judge" in (score.metadata or {}):
                score.metadata["judge"] = f"mockllm/{judge}"
                for seat in score.metadata["judges"]:
                    seat["model"] = f"mockllm/{judge}"
    write_eval_log(log, str(folder / Path(path.removeprefix("file://")).name))


@pytest.fixture(scope="module")
def rubric(tmp_path_factory) -> Path:
    """Two runs of six dilemmas, each judged twice."""
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("rubric")
    data = dilemmas(made, 6)
    for place, name in enumerate(("steady", "quick")):
        log = small_log(made / name, name, [grader(), grader("second")], data, judged="both")
        renamed(log.location, EVERY + "2" * place, folder)
    return folder


@pytest.fixture(scope="module")
def judged_again(rubric, tmp_path_factory) -> Path:
    """One of the runs by a judge of another name."""
    folder = tmp_path_factory.mktemp("again")
    renamed(str(min(rubric.glob("*.eval"))), EVERY, folder, judge=EVERY + "3")
    return folder


@pytest.fixture(scope="module")
def chains(tmp_path_factory) -> Path:
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("chains")
    for place, rule in enumerate(("welfare-first", "uniform")):
        path = corda_log(made / rule, rule, ["unconditioned"], chains=6)
        renamed(path, EVERY + "2" * place, folder)
    return folder


COMMANDS = ["show", "compare", "findings", "cost"]


def said(command: str, logs: Sequence[Path], form: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([command, *map(str, logs), "--format", form]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_on_the_terminal(command, rubric, capsys, monkeypatch):
    monkeypatch.setattr(output, "_PIPE_WIDTH", 2000)
    assert EVERY in said(command, [rubric], "terminal", capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_in_json_and_markdown(command, rubric, capsys):
    texts = json.dumps(json.loads(said(command, [rubric], "json", capsys)), ensure_ascii=False)
    assert json.dumps(EVERY, ensure_ascii=False)[1:-1] in texts
    page = MarkdownIt("gfm-like", {"linkify": False}).render(
        said(command, [rubric], "markdown", capsys)
    )
    assert_text(page)


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_in_a_report_on_two_judgings(rubric, judged_again, form, capsys, monkeypatch):
    monkeypatch.setattr(output, "_PIPE_WIDTH", 2000)
    logs = [min(folder.glob("*.eval")) for folder in (rubric, judged_again)]
    arguments = [*map(str, logs), "--scorer", "rubric_judge", "--format", form]
    assert main(["judgings", *arguments]) == 0
    printed = capsys.readouterr().out
    if form == "terminal":
        assert f"mockllm/{EVERY}3" in printed
    else:
        assert_text(MarkdownIt("gfm-like", {"linkify": False}).render(printed))


def assert_text(page: str) -> None:
    """The name is in the page's text, and nothing of it is an element."""
    assert EVERY in html.unescape(re.sub(r"<[^>]*>", "", page))
    assert not re.search(r"<(b|a)\b", page)


@pytest.mark.parametrize("command", ["show", "compare"])
def test_chains_on_the_terminal_and_in_markdown(command, chains, capsys, monkeypatch):
    monkeypatch.setattr(output, "_PIPE_WIDTH", 2000)
    assert EVERY in said(command, [chains], "terminal", capsys)
    page = MarkdownIt("gfm-like", {"linkify": False}).render(
        said(command, [chains], "markdown", capsys)
    )
    assert_text(page)


def test_in_latex(rubric, capsys):
    text = said("compare", [rubric], "latex", capsys)
    assert r"[/x][bold]\textbackslash{}[l\textbackslash{}](http://127.0.0.1/)\$x\$$<$b$>$" in text


def test_on_the_page(rubric, chains, tmp_path):
    path = tmp_path / "page.html"
    assert main(["page", str(rubric), str(chains), "--out", str(path)]) == 0
    page = path.read_text(encoding="utf-8")
    assert html.escape(EVERY) in page
    assert "<b>" not in page
    drawn = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", page)))
    assert all(name in drawn for name in ("[/x]", "$x$", "<b>"))  # long names lose their middle


def test_in_a_training_set_and_its_card(rubric, tmp_path):
    assert main(["export-rewards", str(rubric), "--out", str(tmp_path / "set")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "set/rewards.jsonl").open(encoding="utf-8")]
    assert any(EVERY in json.dumps(row, ensure_ascii=False).replace("\\\\", "\\") for row in rows)
    (card,) = (tmp_path / "set").glob("*.md")
    body = re.sub(r"\A---\n.*?\n---\n", "", card.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert_text(MarkdownIt("gfm-like", {"linkify": False}).render(body))
