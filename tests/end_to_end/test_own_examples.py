"""The examples of own material, run in an empty folder by an environment that has the wheel alone.

The stub's judge finds every criterion met, so a dilemma earns its positive weights over all.
"""

import csv
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from benchmarks.stub_server import StubServer
from tests.end_to_end.wheel_site import ROOT, Site

MODELS = ("--model", "openai-api/own/candidate", "--model-role", "grader=openai-api/own/judge")
DILEMMAS = ("-T", "data=dilemmas.jsonl", "-T", "dimensions=dimensions.txt")
GERMAN = ("-T", "judge_prompt=judge-deutsch.md")

# weights of dilemmas.jsonl, added up by hand: positive over all
SHARES = (17 / 20, 20 / 25, 19 / 21, 18 / 22, 19 / 22, 15 / 19)


class Yes(StubServer):
    """A judge that says yes to each criterion, in the language in which it is asked."""

    def _answer(self, body: dict[str, Any]) -> tuple[str, tuple[str, str], dict[str, Any]]:
        scope, item, reply = super()._answer(body)
        asked = body["messages"][-1]["content"]
        if scope == "judge":
            last = asked if isinstance(asked, str) else asked[-1]["text"]
            word = "Trifft zu." if "Aussage" in last else "yes"
            listed = re.findall(r"^(\d+)\. ", last, re.MULTILINE)
            reply = {"content": "\n".join(f"{n}: {word}" for n in listed) or word}
        return scope, item, reply


@pytest.fixture
def own(site: Site, tmp_path: Path) -> Iterator[Site]:
    """The wheel's environment in a folder that holds the examples, with models to ask."""
    folder = tmp_path / "own"
    shutil.copytree(ROOT / "examples" / "own", folder)
    with Yes() as stub:
        yield replace(site, folder=folder, variables=stub.environment("own"))


def run(own: Site, task: str, *words: str) -> EvalLog:
    log = read_eval_log(str(own.eval(f"moral_evals/{task}", *words)))
    assert log.status == "success", log.error
    return log


def metrics(log: EvalLog) -> dict[str, float]:
    (first, *_) = log.results.scores
    return {name: m.value for name, m in first.metrics.items()}


@pytest.mark.parametrize("mode", ["criterion", "rubric"])
def test_six_dilemmas_with_own_dimensions_and_a_german_judge(own: Site, mode: str):
    found = metrics(run(own, "morebench", *DILEMMAS, *GERMAN, "-T", f"judge_mode={mode}", *MODELS))
    assert found["scored"] == 6
    assert found["graded_share"] == 1
    assert found["regular"] == pytest.approx(sum(SHARES) / 6, abs=1e-12)
    # candour: 3 of 6, 5 of 5 and 2 of 2 in the three dilemmas that have it
    assert found["candour"] == pytest.approx((3 / 6 + 1 + 1) / 3, abs=1e-12)
    assert found["fairness_to_outsiders"] == found["reversibility"] == 1


def test_from_the_folder_to_a_page_and_tables(own: Site):
    log = run(own, "morebench", *DILEMMAS, *MODELS)
    logs = str(Path(log.location).parent)
    shown = own.report("show", logs, "--by", "dimension")
    # by scenario 3/6, 5/5 and 2/2; pooled, one of the five criteria is a fault that was found
    assert re.search(r"candour +│ +0\.833[^│]*│ +0\.800", shown)
    own.report("page", logs, "--out", "report.html")
    assert "fairness to outsiders" in (own.folder / "report.html").read_text(encoding="utf-8")
    own.report("export", logs, "--out", "tables")
    rows = [*csv.DictReader((own.folder / "tables/scenarios.csv").open(encoding="utf-8"))]
    scores = {r["scenario_id"]: float(r["score"]) for r in rows}
    assert scores["the-tenor-who-cannot-hear"] == SHARES[0]
    assert sum(bool(r["dim_candour"]) for r in rows) == 3
    criteria = [*csv.DictReader((own.folder / "tables/criteria.csv").open(encoding="utf-8"))]
    assert sum(r["dimension"] == "reversibility" for r in criteria) == 3


def test_a_theory(own: Site):
    options = ("-T", "data=theory_dilemmas.jsonl", "-T", "theories=theories")
    found = metrics(run(own, "morebench_theory", *options, *MODELS))
    # 3 3 2 3 3 2 2 of these and the faults' 3 2
    assert found["regular"] == 18 / 23


def test_chains_with_three_tiers_of_other_names(own: Site):
    order = "tier_order=safety,pledge,thrift"
    thrifty = ("scripted/lexicographic-best", "-M", "chains=chains.jsonl",
               "-M", "tier_order=thrift,pledge,safety")  # fmt: skip
    log = run(own, "corda", "-T", "data=chains.jsonl", "-T", order, "--model", *thrifty)
    # who saves first takes, of three or four steps, so many that are best under this order
    expected = (1 / 3 + 1 / 4 + 0 + 1 / 3) / 4
    assert metrics(log)["uncond_lms"] == pytest.approx(expected, abs=1e-12)
    assert "safety" in own.report("show", str(Path(log.location).parent))


def test_without_the_declaration_a_refusal_names_the_option(own: Site):
    words = ("eval", "moral_evals/morebench", "-T", "data=dilemmas.jsonl", *MODELS)
    printed = " ".join(own.inspect(*words, "--display", "plain", check=False).split())
    assert "dilemmas.jsonl, row 2, field criteria[3].dimension" in printed
    assert "-T dimensions=FILE" in printed
    assert "Traceback" not in printed
    assert not list_eval_logs(str(own.folder / "logs"))
