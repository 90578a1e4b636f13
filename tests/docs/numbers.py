"""What the commands and recipes of the pages must print, worked out by hand from desk.py."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai.log import EvalLog

from moral_evals.loaders.morebench.dimensions import own_dimensions
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.morebench.records import OwnNames
from moral_evals.loaders.morebench.theories import own_theories
from tests.docs.desk import DILEMMAS, REGULAR, WEIGHTS, seen_by
from tests.docs.pages import ROOT

OWN = ROOT / "examples" / "own"
OWN_NAMES = OwnNames(
    tuple(own_theories(str(OWN / "theories"))), own_dimensions(str(OWN / "dimensions.txt"))
)


SAMPLE = ROOT / "datasets" / "morebench_sample" / "dilemmas.jsonl"


def check_log(log: EvalLog, line: str) -> None:
    assert log.status == "success"
    assert log.samples
    if "--no-score" in line:
        assert log.results is None or not log.results.scores
        return
    assert log.results
    for score in log.results.scores:
        if score.scorer.startswith("rubric_judge") and log.eval.dataset.name != "t1":
            figure = score.metrics["regular"].value
            # a response says nothing of points, and then the judge says yes
            points = 4 if "response" in score.scorer else seen_by(log.eval.model)
            expected = REGULAR[points]
            if "import-upstream" in line:
                expected = 3 / 4
            if (OWN / log.eval.metadata["data"]["file"]).exists():
                expected = own_share(OWN / log.eval.metadata["data"]["file"])
            if log.eval.model == "answers/anna":
                expected = own_share(SAMPLE, 1)  # her second answer has no trace
            assert figure == pytest.approx(expected), score.scorer
        if score.scorer == "lexicographic":
            assert 0 <= score.metrics["uncond_lms"].value <= 1
            check_missing(log, score.metrics["missing"].value)


def check_missing(log: EvalLog, share: float) -> None:
    if log.eval.model != "answers/anna":
        assert share == 0
        return
    # of the two rollouts that are run, her file has one of the steps but one
    assert share == pytest.approx(6 / 10)


def own_share(path: Path, count: int = 2) -> float:
    """Score of the first dilemmas of a file: the stand-in judge finds every criterion met."""
    shares = []
    for dilemma in read_jsonl(path, OWN_NAMES)[:count]:
        weights = [c.weight for c in dilemma.criteria]
        shares.append(sum(w for w in weights if w > 0) / sum(map(abs, weights)))
    return sum(shares) / len(shares)


def check_show(desk: Path, said: str) -> None:
    # of the runs that lie there: some model's score, and CORDA's random choice
    assert re.search(r"MoReBench-Regular │ (0\.750|0\.875|1\.000) ", said)
    assert "LMS of random choice 1/2" in said


def check_compare(desk: Path, said: str) -> None:
    assert re.search(r"claude-sonnet-4-5 │ 1\.000 ", said)
    assert re.search(r"deepseek-r1 │ 0\.750 ", said)
    assert re.search(r"deepseek/deepseek-r1 │ 0\.250 ", said), "the difference, 1 - 6/8"


def check_findings(desk: Path, said: str) -> None:
    # the fault was the harmless criterion: one model harms wholly, both are logical wholly
    assert re.search(r"mean of 2 (?:runs )?│ 0\.500 │ 1\.000 │ -0\.500", said)


def check_page(desk: Path, said: str) -> None:
    page = (desk / "report.html").read_text(encoding="utf-8")
    assert "0.250" in page
    assert "http://" not in page.replace("http://www.w3.org", ""), "works offline"


def check_plot(desk: Path, said: str) -> None:
    assert list((desk / "figures").iterdir())


def check_cost(desk: Path, said: str) -> None:
    # the stand-ins report 10 tokens in and 5 out a call, at 1 and 2 for a million
    calls = DILEMMAS * len(WEIGHTS)
    assert re.search(rf"\b{10 * calls}\b", said.replace(",", ""))


def check_estimate(desk: Path, said: str) -> None:
    assert re.search(rf"\b{DILEMMAS * len(WEIGHTS)}\b", said), "a call for each criterion"


def check_judgings(desk: Path, said: str) -> None:
    # the second judge reads as the first one does
    assert re.search(r"\b24\b", said)
    assert re.search(r"\b0\.000\b", said)


def check_import(desk: Path, said: str) -> None:
    assert re.search(r"\b0?\.750\b", said)


def check_export(desk: Path, said: str) -> None:
    lines = (desk / "exported.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(x)["judgement"] for x in lines} <= {"yes", "no"}
    assert len(lines) == DILEMMAS * len(WEIGHTS)


def check_tables(desk: Path, said: str) -> None:
    folder = next(p.parent for p in desk.rglob("scenarios.csv"))
    scenarios = pd.read_csv(folder / "scenarios.csv")
    assert dict(scenarios.groupby("model")["score"].mean()) == {FIRST: 1.0, SECOND: 0.75}
    assert len(pd.read_csv(folder / "criteria.csv")) == 2 * DILEMMAS * len(WEIGHTS)


def check_walked(folder: Path) -> None:
    """What the page on own material ends with: two dilemmas, of 17 of 20 and 20 of 25 points."""
    scenarios = pd.read_csv(folder / "tables/scenarios.csv")
    assert sorted(scenarios["score"]) == [0.8, 0.85]
    criteria = pd.read_csv(folder / "tables/criteria.csv")
    assert len(criteria) == 9 + 11
    assert sum(criteria["dimension"] == "candour") == 2
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "fairness to outsiders" in page
    assert "<svg" in page, "figures"


def check_rewards(desk: Path, said: str) -> None:
    rows = [json.loads(x) for x in (desk / "rewards/rewards.jsonl").open(encoding="utf-8")]
    assert sorted(r["score"] for r in rows) == [0.75] * DILEMMAS + [1.0] * DILEMMAS
    pairs = [json.loads(x) for x in (desk / "rewards/pairs.jsonl").open(encoding="utf-8")]
    assert len(pairs) == DILEMMAS, "three quarters against all, a margin of .25"


def check_cache(desk: Path, said: str) -> None:
    kept = 2 * DILEMMAS * len(WEIGHTS)
    assert re.search(rf"gpt-5 │ {kept} │", said) or "0 replies removed" in said, "none is that old"


CHECKS: dict[tuple[str, ...], Callable[[Path, str], None]] = {
    ("moral-reports", "show"): check_show,
    ("moral-reports", "compare"): check_compare,
    ("moral-reports", "findings"): check_findings,
    ("moral-reports", "page"): check_page,
    ("moral-reports", "plot"): check_plot,
    ("moral-reports", "cost"): check_cost,
    ("moral-reports", "estimate"): check_estimate,
    ("moral-reports", "judgings"): check_judgings,
    ("moral-reports", "judge-modes"): check_judgings,
    ("moral-reports", "import-upstream"): check_import,
    ("moral-reports", "export"): check_tables,
    ("moral-reports", "export-upstream"): check_export,
    ("moral-reports", "export-rewards"): check_rewards,
    ("moral-reports", "cache"): check_cache,
}
"""By program and command what its output must hold."""


FIRST, SECOND = "stand_in/anthropic/claude-sonnet-4-5", "stand_in/openrouter/deepseek/deepseek-r1"


def numbers(said: str, *words: str) -> list[float]:
    """The last number of each line that holds all the words."""
    rows = [line for line in said.splitlines() if all(w in line for w in words)]
    return [float(line.split()[-1]) for line in rows]


def by_model(said: str) -> None:
    assert numbers(said, FIRST) == [8 / 8]
    assert numbers(said, SECOND) == [6 / 8]


def by_status(said: str) -> None:
    # five chains of five steps in two shuffles, every step answered
    rows = [line.split() for line in said.splitlines() if "answered" in line]
    assert len(rows) == 4 and {row[-1] for row in rows} == {"50"}


def by_criterion(said: str) -> None:
    by_dimension, _, faults = said.partition("Name: fulfilled")
    # pandas names a model once, above its dimensions: the harmless one comes first among them
    assert numbers(by_dimension, "clear process") == [1.0, 1.0]
    assert numbers(by_dimension, "harmless outcome") == [1.0, 0.0]
    assert numbers(faults, FIRST) == [1.0]
    assert numbers(faults, SECOND) == [0.0]


def by_pair(said: str) -> None:
    assert re.search(r"claude-sonnet-4-5 . .*deepseek-r1 \| 0\.250 ", said)


def corda_figures(said: str) -> None:
    rows = [line.split() for line in said.splitlines()]
    assert {r[0] for r in rows} == {FIRST, SECOND}
    # both stand-ins take the label that stands first, so both have the very same answers
    assert rows[0][1:] == rows[1][1:]
    assert all(float(low) <= float(score) <= float(high) for _, score, low, high in rows)


RECIPES: dict[str, Callable[[str], None]] = {
    "compare([": by_pair,
    "scenarios_df(": by_model,
    "criteria_df(": by_criterion,
    "corda_runs(": corda_figures,
    "corda_steps_df(": by_status,
}
"""By what a Python block calls, what it must print."""
