"""The same replies to the same data, from files of another kind and order: no digit differs."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda, morebench_theory
from moral_evals.loaders.morebench.records import DIMENSIONS, THEORIES
from moral_evals.loaders.paths import bundled
from moral_evals.reports.__main__ import main
from tests.mocks import run
from tests.reports.conftest import SKILL, candidate, grader

CASES = 4
KINDS = ("csv", "jsonl")


def rows() -> list[dict[str, Any]]:
    """A dilemma under each theory, as a line of `dilemma-1`."""
    return [
        {
            "schema_version": "dilemma-1",
            "id": f"z{99 - i}-{theory[:3]}",
            "dilemma": f"Case {i}?",
            "theory": theory,
            "role": ("ai_advisor", "ai_agent")[i % 2],
            "criteria": [
                {"id": f"c{j}", "text": f"Sees {j} in case {i} by {theory}.", "weight": weight,
                 "dimension": DIMENSIONS[(i + j) % 5]}
                for j, weight in enumerate((3, 2, 1, -2))
            ],
        }
        for i in range(CASES)
        for theory in THEORIES
    ]  # fmt: skip


def as_csv(path: Path) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["DILEMMA", "THEORY", "ROLE_DOMAIN", "RUBRIC"])
        for row in rows():
            rubric = [
                {"id": c["id"], "title": c["text"], "weight": c["weight"],
                 "annotations": {"rubric_dimension": c["dimension"]}}
                for c in row["criteria"]
            ]  # fmt: skip
            table.writerow([row["dilemma"], row["theory"], row["role"], json.dumps(rubric)])
    return str(path)


def as_jsonl(path: Path, lines: Sequence[Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, str]:
    """By kind of file the logs of three models."""
    folder = tmp_path_factory.mktemp("same")
    files = {
        "csv": as_csv(folder / "own.csv"),
        "jsonl": as_jsonl(folder / "own.jsonl", rows()[::-1]),
    }
    for kind, data in files.items():
        for name in SKILL:
            run(
                morebench_theory(data=data, judged="both", judge_cache=False), candidate(name),
                grader(), log_dir=str(folder / kind), log_realtime=False,
            )  # fmt: skip
    return {kind: str(folder / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def chain_folders(tmp_path_factory) -> dict[str, str]:
    """The bundled chains in their order, and the other way round."""
    folder = tmp_path_factory.mktemp("chains")
    lines = (bundled("corda") / "chains.jsonl").read_text(encoding="utf-8").splitlines()[:8]
    chains = [json.loads(line) for line in lines]
    for kind, order in zip(KINDS, (chains, chains[::-1]), strict=True):
        (folder / f"{kind}-data").mkdir()
        data = as_jsonl(folder / f"{kind}-data" / "own.jsonl", order)
        for rule in ("welfare-first", "lexicographic-worst", "first-label"):
            model = get_model(f"scripted/{rule}", memoize=False, chains=data)
            run(corda(data=data, shuffles=2), model, None, log_dir=str(folder / kind),
                log_realtime=False)  # fmt: skip
    return {kind: str(folder / kind) for kind in KINDS}


def figures(capsys, folder: str, *words: str) -> dict[str, list[list[Any]]]:
    """Every cell of a command's tables, by title of the table and in an order of their own."""
    command, *rest = words
    assert main([command, folder, *rest, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    found: dict[str, list[list[Any]]] = {}
    for table in tables:
        # a title tells the minute of its run
        title = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d", "", table["title"])
        found.setdefault(title, []).extend(table["rows"])
    return {title: sorted(rows, key=json.dumps) for title, rows in found.items()}


BY = ["--by", "role", "--by", "theory", "--by", "weight", "--by", "dimension"]
REPORTS = (["show", *BY], ["compare"], ["findings"])


@pytest.mark.parametrize("words", REPORTS, ids=lambda words: words[0])
def test_reports_on_rubrics(words, folders, capsys):
    first, second = (figures(capsys, folders[kind], *words) for kind in KINDS)
    cells = [cell for table in first.values() for row in table for cell in row]
    assert any(isinstance(cell, dict) and cell.get("lower") is not None for cell in cells)
    assert first == second


@pytest.mark.parametrize(
    "words",
    [["show"], ["show", "--by", "condition", "--by", "step", "--by", "contrast", "--by", "order"],
     ["compare"]],
    ids=" ".join,
)  # fmt: skip
def test_reports_on_chains(words, chain_folders, capsys):
    first, second = (figures(capsys, chain_folders[kind], *words) for kind in KINDS)
    assert first == second


@pytest.mark.parametrize("which", ["folders", "chain_folders"])
def test_the_page_and_its_figures(which, request, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    pages = {}
    for kind, folder in request.getfixturevalue(which).items():
        assert main(["page", folder, "--out", str(tmp_path / f"{kind}.html")]) == 0
        page = (tmp_path / f"{kind}.html").read_text(encoding="utf-8")
        pages[kind] = {
            "cells": sorted(re.findall(r'data-value="([^"]+)"', page)),
            "curves": sorted(re.findall(r'<path[^>]* d="([^"]+)"', page)),
        }
    assert len(pages["csv"]["curves"]) > 20
    assert pages["csv"] == pages["jsonl"]


def test_exported_scenarios(folders, tmp_path):
    tables = {}
    for kind, folder in folders.items():
        assert main(["export", folder, "--out", str(tmp_path / kind)]) == 0
        with (tmp_path / kind / "scenarios.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        left_out = {"run_id", "sample_id", "scenario_id", "unit", "log"}
        tables[kind] = sorted(
            tuple((k, v) for k, v in line.items() if k not in left_out) for line in lines
        )
    assert len(tables["csv"]) == 2 * len(SKILL) * CASES * len(THEORIES)
    assert tables["csv"] == tables["jsonl"]


def test_the_files_differ_in_ids_and_order(folders):
    first, second = (
        [s.id for s in read_eval_log(str(next(Path(folders[k]).glob("*.eval")))).samples]
        for k in KINDS
    )
    assert {*first}.isdisjoint(second)
