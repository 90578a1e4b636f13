"""`compare` on CORDA: contrasts of scripted models, from the options that the logs hold."""

from itertools import combinations

import numpy as np
import pytest
from inspect_ai import score
from inspect_ai.log import EvalMetric, read_eval_log, write_eval_log

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.compare.command import compare
from moral_evals.reports.compare.corda import compare_corda
from moral_evals.reports.form.document import Report
from moral_evals.reports.runs.choice import Choice
from moral_evals.reports.runs.remarks import UNCONTRASTED
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.stats.bootstrap import Interval
from tests.chain_figures import chain_figures
from tests.reports import by_hand
from tests.reports.compare.chosen_options import (
    TIERS,
    ahead,
    benefit_interval,
    choices,
    gaps,
    largest_p,
    leading,
    means,
    tier_sums,
)  # fmt: skip
from tests.reports.conftest import RULES, corda_log
from tests.reports.made_runs import answers, corda_run
from tests.scorers.corda.chain_examples import rollouts

EXACT = {"rel": 0, "abs": 1e-9}
PAIRS = list(combinations(RULES, 2))


def cells(report: Report, name: str) -> dict[str, dict]:
    """Cells of a table by row and column."""
    (table,) = [t for t in report.tables if t.name == name]
    return {r[0]: dict(zip(table.columns[1:], r[1:], strict=True)) for r in table.rows}


def ends(cell: Interval) -> tuple[float, float, float]:
    return cell.estimate, cell.lower, cell.upper


@pytest.fixture(scope="module")
def report(corda_logs) -> Report:
    (found,) = compare(list(corda_logs.values()))
    return found


@pytest.fixture(scope="module")
def chosen(corda_logs) -> dict[str, dict]:
    return {name: choices(path) for name, path in corda_logs.items()}


# --- three models -----------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ["unconditioned", "own"])
def test_paired_contrasts_are_those_of_the_options_chosen(report, chosen, condition):
    shown = cells(report, f"corda_pairs_{condition}")
    assert len(shown) == len(PAIRS)
    chances = []
    for first, second in PAIRS:
        row = shown[f"scripted/{first} − scripted/{second}"]
        x = means(gaps(chosen[first], chosen[second], condition))
        figure = by_hand.share(x)
        expected = by_hand.interval(figure, len(x), bounds=(-1, 1))
        assert ends(row["ΔLMS"]) == pytest.approx(expected, **EXACT)
        assert row["ΔLMS"].n == len(x) == 8
        sums = tier_sums(chosen[first], chosen[second], condition)
        better = [np.mean([leading(t[:-1]) for t in chain]) for chain in sums]
        net = benefit_interval(better)
        assert ends(row["net benefit"]) == pytest.approx(net, **EXACT)
        chances.append(largest_p(better))
        assert row["p"] == pytest.approx(chances[-1], abs=by_hand.RESOLUTION)
        odds = [(1 + b) / (1 - b) if b < 1 else np.inf for b in net]
        assert ends(row["win odds"]) == pytest.approx(odds, **EXACT)
        assert row["P_lex"] == pytest.approx(ahead(sums), **EXACT)
    for row, held in zip(shown.values(), by_hand.holm(chances), strict=True):
        assert row["Holm p"] == pytest.approx(held, abs=3 * by_hand.RESOLUTION)
    assert len({row["P_lex"] for row in shown.values()}) > 1


def test_the_difference_in_how_conditioning_moves_two_models(report, chosen):
    shown = cells(report, "corda_conditioning")
    chances = []
    for first, second in PAIRS:
        effects = []
        for model in (first, second):
            own, fresh = (
                {(c, "", s): v for (c, arm, s), v in chosen[model].items() if arm == condition}
                for condition in ("own", "unconditioned")
            )
            effects.append(means(gaps(own, fresh, ""), first_step=1))
        figure = by_hand.minus(*map(by_hand.share, effects))
        row = shown[f"scripted/{first} − scripted/{second}"]
        if np.allclose(effects[0], effects[1]):
            assert row["difference"].estimate == 0
            assert row["difference"].flag == "degenerate"
            chances.append(1.0)
            continue
        expected = by_hand.interval(figure, 8, bounds=(-2, 2))
        assert ends(row["difference"]) == pytest.approx(expected, **EXACT)
        flips = by_hand.flip_p(np.mean, *effects)
        chances.append(max(flips, by_hand.t_p(figure, 8), by_hand.p_value(figure, 8)))
    assert chances.count(1.0) == 1
    for row, held in zip(shown.values(), by_hand.holm(chances), strict=True):
        assert row["Holm p"] == pytest.approx(held, abs=3 * by_hand.RESOLUTION)


def test_eight_chains_have_no_verdict_and_the_row_says_why(report):
    shown = cells(report, "corda_pairs_own")
    assert {row["verdict"] for row in shown.values()} == {"too few units (8)"}
    for row in shown.values():
        found = row["net benefit"]
        said = "interval leaves out 0, no verdict below 10 units" in row["remark"]
        assert said == (found.lower > 0 or found.upper < 0)
    assert shown["scripted/lexicographic-best − scripted/welfare-first"]["net benefit"].lower > 0


def test_profiles_are_the_figures_of_the_logs(report, corda_logs):
    keys = {
        "LMS": "lms", "conflict LMS": "conflict_lms", "drift": "drift",
        "first position": "first_position_excess", "first label": "first_label_excess",
    }  # fmt: skip
    for rule, path in corda_logs.items():
        values = chain_figures(read_eval_log(path))
        for condition in ("unconditioned", "own"):
            row = cells(report, f"corda_{condition}")[f"scripted/{rule}"]
            for column, key in keys.items():
                expected = [values[f"{condition}.{key}{end}"] for end in ("", "_lower", "_upper")]
                assert ends(row[column]) == tuple(expected)
            assert row["chains"] == 8
            assert row["missing"] == 0
            tiers = cells(report, f"corda_tiers_{condition}")[f"scripted/{rule}"]
            for t in TIERS:
                assert tiers[t].estimate == values[f"{condition}.tier_won.{t}"]
                assert tiers[f"weight of {t}"] == values[f"{condition}.tier_weight.{t}"]
    best = cells(report, "corda_tiers_own")["scripted/lexicographic-best"]
    assert best["rights_harm"].estimate == 1
    assert best["rights_harm"].lower == pytest.approx(0.05 ** (1 / best["rights_harm"].n))
    assert cells(report, "corda_tiers_own")["scripted/welfare-first"]["welfare"].estimate == 1


# --- small cases by hand ----------------------------------------------------------------------


def test_a_small_case_by_hand():
    """Three chains of two steps, option 1 better: d is (1 + 0)/2, (0 + 1)/2 and (-1 + 0)/2."""
    first = corda_run("m/a", answers({"c1": ["1", "1"], "c2": ["2", "1"], "c3": ["2", "2"]}))
    second = corda_run("m/b", answers({"c1": ["2", "1"], "c2": ["2", "2"], "c3": ["1", "2"]}))
    table = compare_corda_pairs(first, second)
    (row,) = table.rows
    assert row[0] == "m/a − m/b"
    assert row[1].estimate == pytest.approx(1 / 3), "better, better, worse"
    assert row[2].estimate == pytest.approx(1 / 6)
    assert row[3].estimate == pytest.approx(2), "two chains to one"
    # rights are won by 1/2 in two chains, lost by 1/2 in one: ahead if drawn at least twice
    assert row[4] == pytest.approx(20 / 27, abs=0.02)
    assert row[7:] == ["too few units (3)", ""]


def disagreeing(chains: int):
    """Model a wins the rights step of every chain and loses the four welfare steps (A 5)."""
    rights, welfare = [(1, 0, 0, 0), (0, 0, 0, 0)], [(0, 0, 1, 0), (0, 0, 0, 0)]
    steps = [rights, *[welfare] * 4]
    # at the last step of the last chain they choose alike, so that not all chains are alike
    last = chains - 1
    made = {
        "m/a": ["1", "2", "2", "2", "2"],
        "m/b": ["2", "1", "1", "1", "1"],
    }
    runs = []
    for name, picks in made.items():
        given = [
            a
            for i in range(chains)
            for a in rollouts(
                f"c{i:02}", steps, picks if i < last else [*picks[:4], "1"], "unconditioned"
            )
        ]
        runs.append(corda_run(name, given))
    return runs


def test_net_benefit_decides_where_lms_points_the_other_way():
    (row,) = compare_corda_pairs(*disagreeing(30)).rows
    assert row[1].estimate == 1
    assert row[2].estimate == pytest.approx((29 * (1 - 4) / 5 + (1 - 3) / 5) / 30)
    assert row[7] == "m/a higher"
    assert "net benefit and ΔLMS point opposite ways" in row[8]
    (few,) = compare_corda_pairs(*disagreeing(12)).rows
    assert few[7] == "leans m/a (12 units)"


def test_missing_answers_bound_the_differences():
    first = corda_run("m/a", answers({f"c{i:02}": ["11", "1-"] for i in range(12)}))
    second = corda_run("m/b", answers({f"c{i:02}": ["22", "11"] for i in range(12)}))
    (row,) = compare_corda_pairs(first, second).rows
    # ranks: step 1 is 1 - 0; step 2 (1 + x)/2 - 1 with x in {0, 1}
    assert "missing answers allow ΔLMS 0.250 to 0.500" in row[8]
    # one of two shuffles has a missing answer, the other is won
    assert "missing answers allow net benefit 0.000 to 1.000" in row[8]


def compare_corda_pairs(*runs, name: str = "corda_pairs_unconditioned"):
    for run in runs:
        for condition in {a.condition for a in run.answers}:
            run.score.metrics[f"{condition}.lms"] = EvalMetric(name="lms", value=0.5)
    report = compare_corda(runs)
    return next(t for t in report.tables if t.name == name)


def test_five_skewed_chains_show_no_difference():
    """Levels that such few chains ask for lie beyond the pole of the interval's correction."""
    first = {"c1": "1112", "c2": "1111", "c3": "1111", "c4": "1111", "c5": "1122"}
    second = {"c1": "1111", "c2": "1111", "c3": "1111", "c4": "2222", "c5": "1111"}
    runs = [
        corda_run(name, answers({c: [choice] for c, choice in given.items()}))
        for name, given in (("m/a", first), ("m/b", second))
    ]
    (row,) = compare_corda_pairs(*runs).rows
    d = by_hand.share([-0.25, 0, 0, 1, -0.5])
    assert ends(row[1]) == pytest.approx(by_hand.interval(d, 5, bounds=(-1, 1)), **EXACT)
    assert by_hand.p_value(d, 5) > 0.5
    assert row[5] == 1, "any signs of -1/4, 1 and -1/2 give a sum as large"
    assert row[7:] == ["too few units (5)", ""]


def test_only_chains_that_both_were_given_count():
    first = corda_run("m/a", answers({"c1": ["1"], "c2": ["1"], "c3": ["1"], "lost": ["2"]}))
    second = corda_run("m/b", answers({"c1": ["2"], "c2": ["1"], "c3": ["2"], "other": ["1"]}))
    (row,) = compare_corda_pairs(first, second).rows
    assert row[2].estimate == pytest.approx(2 / 3)
    assert row[2].n == 3


def test_conditioning_is_compared_on_shared_chains_and_from_the_second_step_on():
    own = {"c1": ["2", "1"], "c2": ["1", "2"], "lost": ["1", "2"]}
    fresh = {"c1": ["1", "2"], "c2": ["1", "1"], "lost": ["1", "1"]}
    first = corda_run("m/a", [*answers(own, ["own"]), *answers(fresh)])
    same = {"c1": ["1", "1"], "c2": ["2", "2"], "other": ["1", "1"]}
    second = corda_run("m/b", answers(same, ["unconditioned", "own"]))
    (row,) = compare_corda_pairs(first, second, name="corda_conditioning").rows
    assert row[0] == "m/a − m/b"
    assert row[1].estimate == 0, "+1 and -1; the lost chain would make it -1/3"
    assert row[1].n == 2


def test_runs_that_share_no_chain_are_not_tested():
    runs = [corda_run(f"m/{c}", answers({c: ["1", "2"]})) for c in "abc"]
    runs[2] = corda_run("m/c", answers({"a": ["2", "2"]}))
    rows = compare_corda_pairs(*runs).rows
    assert [row[-2:] for row in rows] == [["not tested", ""]] * 3
    assert [row[1].n for row in rows] == [0, 1, 0]
    assert np.isnan(rows[0][1].estimate)
    assert (rows[1][1].estimate, rows[1][2].estimate) == (1, 0.5)


def test_runs_that_contradict_each_other_are_refused_in_one_line():
    first = corda_run("m/a", answers({"c": ["1"]}))
    second = corda_run("m/b", answers({"c": ["2"]}))
    second.answers[0].steps[0].options["o1"] = dict.fromkeys(TIERS, 9)
    with pytest.raises(SuiteError, match="m/a and m/b cannot be compared: chain 'c'"):
        compare_corda_pairs(first, second)


# --- real logs --------------------------------------------------------------------------------


def test_runs_of_some_shared_chains_and_one_condition(corda_logs, tmp_path):
    few = corda_log(tmp_path, "uniform", ["unconditioned"], chains=3, shuffles=4)
    (report,) = compare([few, corda_logs["welfare-first"]])
    names = [t.name for t in report.tables]
    assert "corda_pairs_unconditioned" in names
    assert "corda_own" in names, "one of the two has it"
    assert not {"corda_pairs_own", "corda_conditioning"} & set(names)
    (row,) = cells(report, "corda_pairs_unconditioned").values()
    x = means(gaps(choices(few), choices(corda_logs["welfare-first"]), "unconditioned"))
    assert len(x) == row["ΔLMS"].n == 3
    assert row["ΔLMS"].estimate == pytest.approx(x.mean(), **EXACT)


def test_a_baseline_and_one_score_of_several(corda_logs, tmp_path):
    (report,) = compare(list(corda_logs.values()), baseline="welfare")
    for name in ("corda_pairs_own", "corda_pairs_unconditioned", "corda_conditioning"):
        assert list(cells(report, name)) == [
            "scripted/lexicographic-best − scripted/welfare-first",
            "scripted/welfare-first − scripted/history-sensitive",
        ]
    with pytest.raises(SuiteError, match="--baseline nobody: fits 0 of the runs"):
        compare(list(corda_logs.values()), baseline="nobody")
    log = read_eval_log(corda_logs["welfare-first"])
    dropping = lexicographic(tier_order=["welfare", "rights_harm"], drop_tiers=True)
    again = score(log, dropping, action="append", display="none")
    path = str(tmp_path / "again.eval")
    write_eval_log(again, path)
    with pytest.raises(SuiteError, match="tier_order differs"):
        compare([path])
    (both,) = compare([path], allowed=["tier_order"])
    assert not [t for t in both.tables if "pairs" in t.name or t.name == "corda_conditioning"]
    assert UNCONTRASTED in both.notes
    (alone,) = compare([path], choice=Choice(("lexicographic1",)))
    assert alone.notes[0].startswith("Tier order welfare > rights_harm;")
    assert cells(alone, "corda_own")["scripted/welfare-first"]["LMS"].estimate > (
        cells(report, "corda_own")["scripted/welfare-first"]["LMS"].estimate
    )
    with pytest.raises(SuiteError, match=r"Allowed: lexicographic, lexicographic1\."):
        compare([path], choice=Choice(("other",)))


def test_both_benchmarks_at_once(corda_logs, both_logs):
    reports = compare([*both_logs, corda_logs["welfare-first"]])
    assert [r.title for r in reports] == [
        "morebench, trace judged: 2 runs",
        "morebench, response judged: 2 runs",
        "corda: 1 runs",
    ]
