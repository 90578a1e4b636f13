"""Partiality to a theory: means, spread, and the test within dilemmas."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import f_oneway

from moral_evals.reports.findings.theories import partiality, theories
from tests.reports.builders import column, rubric_run

A, B, C = "Act Utilitarianism", "Kantian Deontology", "Scanlonian Contractualism"


def test_worked_example():
    run = rubric_run(scores=[0.2, 0.4, 0.5, 0.7, 0.8, 1.0], theories=[A, A, B, B, C, C])
    found = partiality(run)
    assert [found.means[t].estimate for t in (A, B, C)] == pytest.approx([0.3, 0.6, 0.9])
    assert found.spread == pytest.approx(0.6)
    assert found.sd == pytest.approx(0.3)
    assert (found.scenarios, found.blocked) == (6, 0)
    assert 0 < found.chance < 0.6


def test_a_small_effect_shows_within_dilemmas_that_differ_much():
    dilemmas = [f"d{i}" for i in range(6)]
    hardness = np.array([0.1, 0.25, 0.4, 0.55, 0.7, 0.85])
    lead = np.array([0.04, 0.05, 0.06, 0.05, 0.04, 0.06])
    scores = [*hardness, *(hardness + lead)]
    theory = [A] * 6 + [B] * 6
    blocked = partiality(rubric_run(scores=scores, theories=theory, dilemmas=dilemmas * 2))
    # of 64 ways to swap within dilemmas, the data's own and its mirror image are the most extreme
    swaps = [abs(np.sum(lead * signs)) for signs in product((1, -1), repeat=6)]
    exact = np.mean(np.array(swaps) >= lead.sum() - 1e-12)
    assert exact == 2 / 64
    assert blocked.p == pytest.approx(exact, abs=0.01)
    assert blocked.blocked == 12
    free = partiality(rubric_run(scores=scores, theories=theory))
    assert free.p > 0.5 and free.blocked == 0


def test_without_blocks_it_is_the_permutation_form_of_one_way_anova():
    rng = np.random.default_rng(3)
    groups = [rng.normal(0.5 + 0.08 * i, 0.15, 30) for i in range(3)]
    found = partiality(
        rubric_run(scores=np.concatenate(groups), theories=[A] * 30 + [B] * 30 + [C] * 30)
    )
    assert found.p == pytest.approx(f_oneway(*groups).pvalue, abs=0.01)


def test_no_effect_is_found_in_one_run_of_twenty_at_most():
    rng = np.random.default_rng(5)
    low = 0
    for _ in range(60):
        scores = rng.uniform(0, 1, 20)
        found = partiality(rubric_run(scores=scores, theories=[A, B] * 10,
                                      dilemmas=[f"d{i // 2}" for i in range(20)]))  # fmt: skip
        low += found.p < 0.05
    assert low <= 8


def test_a_theory_with_one_scored_scenario_is_shown_and_not_tested():
    scores = [0.5, 0.6, 0.7, 0.8, 0.0, math.nan]
    run = rubric_run("m", scores, theories=[A, A, B, B, C, C])
    found = partiality(run)
    assert found.means[C].estimate == 0
    assert found.tested == (A, B)
    assert found.spread == pytest.approx(0.2)
    assert found.scenarios == 4
    notes = theories([run]).notes
    assert any("so in no spread and no test: m, Scanlonian" in note for note in notes)


def test_a_dilemma_that_only_an_untested_theory_shares_is_no_block():
    run = rubric_run(
        scores=[0.5, 0.6, 0.7, 0.8, 0.1], theories=[A, A, B, B, C],
        dilemmas=["x", "y", "z", "w", "x"],
    )  # fmt: skip
    assert partiality(run).blocked == 0


def test_one_theory_is_not_tested():
    found = partiality(rubric_run(scores=[0.5, 0.6], theories=[A, A]))
    assert math.isnan(found.spread) and math.isnan(found.p) and math.isnan(found.chance)
    assert theories([rubric_run(scores=[0.5, 0.6], theories=[A, A])]) is None


def test_equal_scores_show_nothing():
    found = partiality(rubric_run(scores=[0.5] * 6, theories=[A, A, B, B, C, C]))
    assert found.spread == 0 and found.p == 1


def test_neutral_scenarios_are_no_theory():
    assert theories([rubric_run(scores=[0.5] * 4)]) is None
    run = rubric_run(scores=[0.5] * 5, theories=[A, A, B, B, "neutral"])
    assert list(partiality(run).means) == [A, B]


def test_the_tables():
    first = rubric_run("a", [0.2, 0.4, 0.5, 0.7], theories=[A, A, B, B])
    second = rubric_run("b", [0.6, 0.6, 0.6, 0.6], theories=[A, A, B, B])
    third = rubric_run("c", [math.nan] * 4, theories=[A, A, B, B], traces={})
    scores, test, ahead = theories([first, second, third]).tables
    assert list(scores.columns) == ["model", A, B]
    assert column(scores, A)[0].estimate == pytest.approx(0.3)
    assert math.isnan(column(scores, A)[2].estimate)
    assert column(test, "spread")[:2] == pytest.approx([0.3, 0.0])
    assert column(test, "Holm p")[0] == pytest.approx(min(1, 2 * column(test, "p")[0]))
    assert math.isnan(column(test, "Holm p")[2])
    # the tie of the second counts for both
    assert column(ahead, "highest for") == [1, 2]
    assert column(ahead, "lowest for") == [2, 1]
    assert column(ahead, "of models") == [2, 2]
    assert column(ahead, "mean") == pytest.approx([0.45, 0.6])
    assert column(ahead, "paper") == [0.648, 0.659]


def test_the_result_does_not_hang_on_the_order_of_models_or_on_luck():
    run = rubric_run(scores=[0.2, 0.4, 0.5, 0.7], theories=[A, A, B, B])
    assert partiality(run).p == partiality(run).p
