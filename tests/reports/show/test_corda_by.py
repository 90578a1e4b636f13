"""`moral-reports show --by` on CORDA: each breakdown holds the run's own figures."""

import json
import re
from pathlib import Path

import pytest

from moral_evals.reports.__main__ import main
from moral_evals.reports.runs.corda_runs import CordaRun, corda_runs
from moral_evals.reports.runs.logs import FoundLog
from moral_evals.reports.show.corda import BY, figures

LOG = Path(__file__).parents[2] / "legacy" / "logs" / "checkout-corda.eval"
CONDITIONS = ["unconditioned", "own", "best", "worst"]


@pytest.fixture(scope="module")
def log_run() -> CordaRun:
    (run,) = corda_runs([str(LOG)])
    return run


@pytest.fixture(scope="module")
def tables(log_run):
    """By name, the tables of all breakdowns; rows by their first cell."""
    found = figures(FoundLog(log_run.log), log_run.score, BY)
    return {t.name.partition("/")[2]: {row[0]: row[1:] for row in t.rows} for t in found}


def test_lms_comes_first_with_its_bounds_and_what_is_missing(tables, log_run):
    assert next(iter(tables)) == "lms"
    assert list(tables["lms"]) == CONDITIONS
    for condition, (score, _, missing, chains) in tables["lms"].items():
        assert score == log_run.figures[f"{condition}.lms"]
        assert (missing, chains) == (0, 3)


def test_every_figure_stands_in_some_breakdown(tables, log_run):
    cells = {repr(cell) for rows in tables.values() for row in rows.values() for cell in row}
    # these two are remarks, and so are the counts of steps
    remarks = ("order_scan_best", "order_scan_stated", "steps", "informative_steps")
    for name, figure in log_run.figures.items():
        if name.rpartition(".")[2] not in remarks:
            assert repr(figure) in cells, name


def test_tiers_steps_strata_and_orders(tables, log_run):
    won, weight = tables["tier_own"]["welfare"]
    assert (won, weight) == tuple(
        log_run.figures[f"own.{kind}.welfare"] for kind in ("tier_won", "tier_weight")
    )
    assert list(tables["step_best"]) == ["1", "2", "3", "4", "5"]
    # welfare-first picks the same whatever it is told, so each stratum has its own single score
    assert set(tables["stratum"]) == set(log_run.table.strata)
    best = max(tables["order_own"].values())[0]
    assert best == log_run.figures["own.order_scan_best"].estimate == 1
    stated = "stated: rights_harm > honesty_fairness > welfare > convention"
    assert tables["order_own"][stated] == [log_run.figures["own.lms"].estimate]


def test_the_default_is_a_selection_that_names_the_rest(capsys):
    assert main(["show", str(LOG), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["tables"]
    names = [t["name"].rpartition("/")[2] for t in found]
    assert names == [
        "lms", "profile_unconditioned", "tier_unconditioned",
        "contrasts_primary", "contrasts_exploratory",
    ]  # fmt: skip
    notes = "\n".join(note for t in found for note in t["notes"])
    assert "Primary: LMS unconditioned." in notes and "P_lex is descriptive" in notes
    assert "dominance pairs fail under every order" in notes
    assert "fits best (LMS 1.000" in notes and "the best of 24 orders leads by up to" in notes
    assert any(f"--by {', '.join(BY)}" in note for t in found for note in t["notes"])


def test_a_breakdown_by_the_command(capsys):
    assert main(["show", str(LOG), "--by", "missing", "--format", "csv"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"/missing_worst,unparsed,\w+,,value,0\.0,", printed)
    assert "conditioning" not in printed
