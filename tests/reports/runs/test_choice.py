"""Tiers of one's own under two orders in one log, and which of them each command takes.

By hand: the model takes option "a" at each step. Under honour > gain > ease it wins s1 on honour
and s2 on gain and loses s3 on honour, so LMS is 2/3, 1/2 of honour's decisions are won and all of
gain's; ease decides nothing. Under ease > gain > honour it loses s1 on gain and s2 on ease and wins
s3 on ease: LMS 1/3, gain 0, ease 1/2; honour decides nothing.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessage

from moral_evals.inspect_tasks import corda
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.__main__ import main
from moral_evals.reports.compare.command import compare
from moral_evals.reports.runs.choice import Choice
from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.scorers.lexicographic import lexicographic
from tests.mocks import mock, run

ONE, TWO = "honour > gain > ease", "ease > gain > honour"
LEVELS = {"s1": ((1, 0, 0), (0, 1, 0)), "s2": ((0, 1, 0), (0, 0, 1)), "s3": ((0, 0, 1), (1, 0, 0))}
LMS = {ONE: 2 / 3, TWO: 1 / 3}
WON = {
    ONE: {"honour": 1 / 2, "gain": 1.0, "ease": math.nan},
    TWO: {"honour": math.nan, "gain": 0.0, "ease": 1 / 2},
}
ALLOW = ["--allow", "tier_order"]


def chains(folder: Path) -> str:
    steps = [
        {
            "step_id": name,
            "situation": f"At {name}.",
            "options": [
                {"option_id": o, "text": f"Take {o}.",
                 "tiers": dict(zip(("honour", "gain", "ease"), levels, strict=True))}
                for o, levels in zip("ab", both, strict=True)
            ],
        }
        for name, both in LEVELS.items()
    ]  # fmt: skip
    path = folder / "own.jsonl"
    rows = [{"schema_version": "corda-1", "chain_id": f"c{i}", "steps": steps} for i in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def takes_a(messages: list[ChatMessage]) -> str:
    (label,) = re.findall(r"^\[(.)\] Take a\.$", messages[-1].text, re.MULTILINE)[-1:]
    return f"ANSWER: {label}"


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> str:
    """Scored under both orders."""
    folder = tmp_path_factory.mktemp("own")
    task = corda(data=chains(folder), tier_order=ONE, conditions="unconditioned", shuffles=2)
    first = run(task, mock(takes_a), None, log_dir=str(folder), log_realtime=False)
    again = score(
        read_eval_log(first.location), lexicographic(TWO), action="append", display="none"
    )
    write_eval_log(again, first.location)
    return first.location


def tables(capsys, *words: str) -> dict[str, list[list[Any]]]:
    """Rows of a command's tables by name."""
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["tables"]
    return {t["name"]: t["rows"] for t in found}


def test_figures_under_both_orders_are_those_by_hand(log):
    found = {r.conditions.tier_order: r for r in corda_runs([log])}
    assert [r.scorer for r in found.values()] == ["lexicographic", "lexicographic1"]
    for order, of in found.items():
        assert of.figures["unconditioned.lms"].estimate == pytest.approx(LMS[order])
        for tier, won in WON[order].items():
            figure = of.figures[f"unconditioned.tier_won.{tier}"].estimate
            assert figure == pytest.approx(won, nan_ok=True)


CHOICES = [
    (("--scorer", "lexicographic"), ONE),
    (("--scorer", "lexicographic1"), TWO),
    (("--order", "honour,gain,ease"), ONE),
    (("--order", "ease>gain > honour"), TWO),
]


@pytest.mark.parametrize(("words", "order"), CHOICES)
def test_show_and_compare_take_the_order_asked_for(words, order, log, capsys):
    scorer = "lexicographic" if order == ONE else "lexicographic1"
    shown = tables(capsys, "show", log, *words)
    assert {name.partition("/")[0] for name in shown} == {scorer}
    assert shown[f"{scorer}/lms"][0][1]["estimate"] == pytest.approx(LMS[order])
    compared = tables(capsys, "compare", log, *words)
    ((_, lms, *_),) = compared["corda_unconditioned"]
    assert lms["estimate"] == pytest.approx(LMS[order])


@pytest.mark.parametrize(("words", "order"), CHOICES[1:3])
def test_page_and_plot_take_it_too(words, order, log, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    other = TWO if order == ONE else ONE
    assert main(["page", log, *words, "--no-figures", "--out", str(tmp_path / "p.html")]) == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8").replace("&gt;", ">")
    assert order in page
    assert other not in page
    assert main(["plot", log, *words, "--format", "svg", "--out", str(tmp_path / "plots")]) == 0
    assert "corda_tiers.svg" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["compare", "page", "plot"])
def test_two_orders_at_once_are_refused_with_the_ways_out(command, log, tmp_path, capsys):
    out = [] if command == "compare" else ["--out", str(tmp_path / "x.html")]
    assert main([command, log, *out]) == 1
    said = capsys.readouterr().err
    assert f"tier_order differs: {TWO}; {ONE}" in said
    assert "choose one order by --order or --scorer" in said
    assert said.count("\n") == 1


def test_two_scorings_of_the_same_answers_stand_side_by_side_and_are_not_contrasted(log, capsys):
    found = tables(capsys, "compare", log, *ALLOW)
    assert [row[1]["estimate"] for row in found["corda_unconditioned"]] == pytest.approx(
        [2 / 3, 1 / 3]
    )
    assert {*found} == {"corda_unconditioned", "corda_tiers_unconditioned"}
    # honour, its weight, gain, its weight, ease, its weight
    won = [[cell["estimate"] for cell in row[1::2]] for row in found["corda_tiers_unconditioned"]]
    assert won == [[0.5, 1.0, None], [None, 0.0, 0.5]]
    (report,) = compare([log], allowed=["tier_order"])
    assert report.notes[0].startswith(f"Tier order {ONE}; {TWO}; data ")
    assert [n for n in report.notes if n.endswith((", lexicographic.", ", lexicographic1."))]


def test_a_figure_puts_each_tier_in_its_own_panel_under_any_order(log):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    from moral_evals.reports.plots.corda import Answers, tiers
    from moral_evals.reports.plots.palette import marks

    names = ["one", "two"]
    asked = [Answers(n, r) for n, r in zip(names, corda_runs([log]), strict=True)]
    figure = tiers(asked, marks(names))
    numbers = [[t.get_text() for t in ax.texts] for ax in figure.axes]
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["honour", "gain", "ease"]
    assert numbers == [["0.50", "–"], ["1.00", "0.00"], ["–", "0.50"]]


@pytest.mark.parametrize("command", ["show", "compare", "page", "plot"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scorer", "lexi"], "--scorer lexi: in none of these logs. Allowed: lexicographic, le"),
        (["--order", "gain,ease"], f"--order gain > ease: in none of these logs. Allowed: {TWO}; "),
    ],
)
def test_what_no_log_has_is_refused_by_every_command(command, words, said, log, tmp_path, capsys):
    out = ["--out", str(tmp_path / "x")] if command in ("page", "plot") else []
    assert main([command, log, *words, *out]) == 1
    assert capsys.readouterr().err.startswith(f"moral-reports: {said}")


def test_an_order_leaves_scores_of_rubrics_in(log, both_logs, capsys):
    assert main(["show", log, *both_logs, "--order", "ease,gain,honour"]) == 0
    said = capsys.readouterr().out
    assert TWO in said
    assert ONE not in said
    assert said.count("rubric_judge_response") == 2
    with pytest.raises(SuiteError, match=r"--order x: in none of these logs\. Allowed: none\."):
        compare(both_logs, choice=Choice(order="x"))
    assert Choice(("a",)).takes("a", ONE)
    assert not Choice(("a",)).takes("b")


def test_a_log_of_which_nothing_is_taken_is_named(log, both_logs, capsys):
    assert main(["show", log, *both_logs, "--scorer", "lexicographic"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("no score that was asked for") == 2
