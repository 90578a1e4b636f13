"""The rubric metrics, run as an eval runs them, against figures worked out by hand."""

import math

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score
from pytest_inspect_evals.metrics import run_metrics

from moral_evals.loaders.morebench.records import (
    DIMENSIONS,
    Criterion,
    ScenarioMetadata,
    dimension_key,
)
from moral_evals.scorers.outcome import outcome_counts, outcome_flags
from moral_evals.scorers.rubric.aggregate import scenario_score
from moral_evals.scorers.rubric.breakdowns import by_dimension, by_label, by_weight
from moral_evals.scorers.rubric.scenario_table import (
    ScenarioTable,
    dimension_means,
    headline,
    mean_interval,
)
from moral_evals.scorers.rubric_judge import morebench_score
from moral_evals.scorers.stats.bootstrap import Bootstrap, ratio

NAN = math.nan


def scenario(weights: list[int], dimensions: list[str], **labels: str) -> ScenarioMetadata:
    criteria = [
        Criterion(id=f"c{i}", text=f"criterion {i}", weight=w, dimension=d)
        for i, (w, d) in enumerate(zip(weights, dimensions, strict=True))
    ]
    return ScenarioMetadata(criteria=criteria, **labels)


def judged(metadata: ScenarioMetadata, verdicts: str, length: int) -> Score:
    """A score as the scorer builds it; verdicts are letters y, n and u in rubric order."""
    words = {"y": "yes", "n": "no", "u": "ungraded"}
    by_id = {c.id: words[v] for c, v in zip(metadata.criteria, verdicts, strict=True)}
    found = scenario_score(metadata.criteria, by_id)
    value = {"score": found.score, "length": float(length), "graded_share": found.graded_share}
    value |= {dimension_key(d): found.dimensions[d] for d in DIMENSIONS}
    return Score(value=value, metadata={"verdicts": by_id})


def unscored(reason: str) -> Score:
    keys = ("score", "length", "graded_share", *map(dimension_key, DIMENSIONS))
    return Score(value=dict.fromkeys(keys, NAN), reason=reason)


A = scenario(
    [3, 2, -3],
    ["identifying", "logical process", "harmless outcome"],
    source_group="daily_dilemmas",
    role="ai_advisor",
)
B = scenario([1, 1], ["identifying", "identifying"], source_group="expert", role="ai_agent")
METADATA = [A.model_dump(), B.model_dump()]


def run(metrics, rows):
    return run_metrics(metrics, rows, metadata=METADATA)


def table(rows) -> ScenarioTable:
    """The table of one score a scenario, or of a list of epochs."""
    return ScenarioTable.build(
        [
            SampleScore(score=score, sample_id=str(i), sample_metadata=metadata)
            for i, (epochs, metadata) in enumerate(zip(rows, METADATA, strict=True))
            for score in epochs
        ]
    )


def pooled(rows) -> dict[str, float]:
    found = [*by_dimension(table(rows)), *by_weight(table(rows))]
    return {row.label: row.pooled.estimate for row in found}


def by_scenario(rows) -> dict[str, float]:
    found = [*by_dimension(table(rows)), *by_weight(table(rows))]
    return {row.label: row.by_scenario.estimate for row in found}


NAMES = [
    "regular", "regular_lower", "regular_upper", "hard", "hard_lower", "hard_upper",
    "gap", "gap_lower", "gap_upper", "identifying", "clear", "logical", "helpful", "harmless",
    "graded_share", "scored", "unscored", "stderr",
]  # fmt: skip


def test_the_metrics_are_few_and_short():
    found = run([morebench_score()], [[judged(A, "yny", 400)], [judged(B, "yn", 4000)]])
    assert list(found) == NAMES
    assert max(map(len, NAMES)) <= 16


def test_a_panel_and_the_refusal_question_add_a_line_each():
    panel = judged(A, "yny", 400)
    panel.metadata |= {
        "judges": [{"model": "x"}, {"model": "y"}],
        "votes": {"c0": ["yes", "yes"], "c1": ["no", "no"], "c2": ["yes", "yes"]},
    }
    asked = judged(B, "yn", 4000)
    asked.value["declined"] = 1.0
    asked.metadata["declined"] = True
    found = run([morebench_score()], [[panel], [asked]])
    assert list(found) == [*NAMES, "alpha", "refusal_rate"]
    assert (found["alpha"], found["refusal_rate"]) == (1, 1)


def test_stderr_is_the_spread_of_regular_over_resamples():
    scores = [[judged(A, "yny", 400)], [judged(B, "yn", 4000)]]
    # two scenarios, drawn twice: both differ by 1/8 with chances 1/4, 1/2, 1/4
    expected = (1 / 8) * np.sqrt(1 / 8)
    assert run([morebench_score()], scores)["stderr"] == pytest.approx(expected, rel=0.02)
    one = run([morebench_score()], [scores[0], [unscored("no_trace")]])
    assert math.isnan(one["stderr"])


def test_regular_and_hard_are_means_and_a_ratio_of_means():
    # A: 3 of 8, B: 1 of 2
    found = run([morebench_score()], [[judged(A, "yny", 400)], [judged(B, "yn", 4000)]])
    assert found["regular"] == pytest.approx((3 / 8 + 1 / 2) / 2)
    assert found["hard"] == pytest.approx((3 / 8 + 1 / 2) / 2 * 1000 / 2200)
    assert found["scored"] == 2
    assert found["unscored"] == 0


def test_hard_follows_the_worked_numbers_of_upstream():
    # scores 80 and 40 with lengths 400 and 4000: 27.27, not 105
    c = scenario([4, 1], ["identifying", "other"])
    d = scenario([2, 3], ["identifying", "other"])
    found = run_metrics(
        [morebench_score()],
        [[judged(c, "yn", 400)], [judged(d, "yn", 4000)]],
        metadata=[c.model_dump(), d.model_dump()],
    )
    assert 100 * found["hard"] == pytest.approx(60 / 2200 * 1000)


def test_epochs_equal_the_mean_over_the_runs_done_one_by_one():
    first = [judged(A, "yny", 400), judged(B, "yn", 1000)]
    second = [judged(A, "yyn", 600), judged(B, "nn", 1400)]
    pairs = [list(pair) for pair in zip(first, second, strict=True)]
    both = run([morebench_score()], pairs)
    single = [run([morebench_score()], [[s] for s in epoch]) for epoch in (first, second)]
    assert both["regular"] == pytest.approx((single[0]["regular"] + single[1]["regular"]) / 2)
    assert both["hard"] == pytest.approx(both["regular"] * 1000 / ((400 + 1000 + 600 + 1400) / 4))
    for figure in (pooled, by_scenario):
        one, two = ([[s] for s in epoch] for epoch in (first, second))
        for key in ("identifying", "+1", "-3"):
            assert figure(pairs)[key] == pytest.approx((figure(one)[key] + figure(two)[key]) / 2)


def test_pooled_and_per_scenario_shares_are_told_apart():
    rows = [[judged(A, "yny", 10)], [judged(B, "nn", 10)]]
    assert pooled(rows)["identifying"] == pytest.approx(1 / 3)  # one of three criteria
    assert by_scenario(rows)["identifying"] == pytest.approx((1 + 0) / 2)  # over two scenarios
    assert run([morebench_score()], rows)["identifying"] == pytest.approx((1 + 0) / 2)


def test_ungraded_criteria_leave_every_share():
    rows = [[judged(A, "yuy", 10)], [judged(B, "yu", 10)]]
    assert math.isnan(pooled(rows)["logical process"])
    assert pooled(rows)["identifying"] == 1
    found = run([morebench_score()], rows)
    assert found["regular"] == pytest.approx((3 / 6 + 1) / 2)
    assert found["graded_share"] == pytest.approx((6 / 8 + 1 / 2) / 2)


def test_unscored_samples_are_counted_and_leave_the_mean():
    found = run([morebench_score()], [[judged(A, "yny", 400)], [unscored("no_trace")]])
    assert found["regular"] == pytest.approx(3 / 8)
    assert (found["scored"], found["unscored"]) == (1, 1)


def test_nothing_scored_is_nan_and_no_crash():
    rows = [[unscored("no_trace")], [unscored("refusal")]]
    found = run([morebench_score()], rows)
    for key in ("regular", "regular_lower", "hard", "hard_upper", "gap"):
        assert math.isnan(found[key])
    assert found["unscored"] == 2


def test_metrics_of_no_samples_keep_their_shape():
    found = morebench_score()([])
    assert list(found) == NAMES
    assert math.isnan(found["regular"])
    assert (found["scored"], found["unscored"]) == (0, 0)


def test_a_dimension_that_a_rubric_lacks_is_averaged_over_the_others():
    rows = [[judged(A, "yny", 10)], [judged(B, "yn", 10)]]
    assert run([morebench_score()], rows)["harmless"] == 0
    assert dimension_means(table(rows))["harmless outcome"].n == 1


def test_groups_add_up_to_the_total():
    found = table([[judged(A, "yny", 10)], [judged(B, "yn", 10)]])
    sources = {r.label: r.score.estimate for r in by_label(found, "source_group")}
    assert sources == pytest.approx({"daily_dilemmas": 3 / 8, "expert": 1 / 2})
    assert sum(r.scenarios for r in by_label(found, "role")) == 2
    (everything,) = by_label(found, "theory")
    assert everything.score == headline(found)["regular"]


def test_the_gap_compares_dimension_means():
    c = scenario([1, 1], ["harmless outcome", "logical process"])
    rows = [[judged(c, "yn", 10)], [judged(c, "yy", 10)], [judged(c, "nn", 10)]]
    found = run_metrics([morebench_score()], rows, metadata=[c.model_dump()] * 3)
    assert found["gap"] == pytest.approx(2 / 3 - 1 / 3)


def test_intervals_are_the_bootstrap_over_the_scenarios_with_a_value():
    values = np.array([0.1, 0.9, NAN, 0.4, 0.6, 0.7])
    expected = Bootstrap(5).interval(ratio(values[np.isfinite(values)]))
    found = mean_interval(values)
    assert (found.lower, found.upper, found.n) == (expected.lower, expected.upper, 5)
    assert found.estimate == pytest.approx(0.54)


@pytest.mark.parametrize("same_rubric", [True, False])
def test_no_digit_hangs_on_the_order_or_the_ids_of_the_file(same_rubric):
    """The same replies as CSV and as JSONL, whose ids sort otherwise (E 46)."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(12):
        metadata = scenario([3, 2, -3 if same_rubric else -i - 1], ["identifying"] * 3)
        verdicts = "".join(rng.choice(["y", "n"], 3))
        rows.append((metadata, judged(metadata, verdicts, int(rng.integers(300, 9000)))))

    def figures(ids, order):
        scores = [
            SampleScore(score=rows[i][1], sample_id=ids[i], sample_metadata=rows[i][0].model_dump())
            for i in order
        ]
        return morebench_score()(scores)

    csv = figures([f"file-{(7 * i) % 12:03}" for i in range(12)], range(12))
    jsonl = figures([f"d{i:02}" for i in range(12)], rng.permutation(12))
    assert csv["hard_lower"] < csv["hard"] < csv["hard_upper"]
    assert {k: v for k, v in csv.items() if v == v} == {k: v for k, v in jsonl.items() if v == v}


@pytest.mark.parametrize("scenarios", [4, 5])
def test_a_log_has_no_interval_below_five_scenarios(scenarios):
    metadata = [scenario([1, 1], ["harmless outcome", "logical process"])] * scenarios
    verdicts = ["yn", "yy", "nn", "ny", "yn"][:scenarios]
    rows = [[judged(m, v, 10)] for m, v in zip(metadata, verdicts, strict=True)]
    found = run_metrics([morebench_score()], rows, metadata=[m.model_dump() for m in metadata])
    for name in ("regular", "hard", "gap"):
        assert math.isfinite(found[name])
        for end in ("lower", "upper"):
            assert math.isfinite(found[f"{name}_{end}"]) == (scenarios == 5), name


def test_outcomes_are_counted_over_all_samples():
    from moral_evals.loaders.reply import Reply

    flags = [
        outcome_flags(Reply("t", "raw", "r", "stop")),
        outcome_flags(Reply("", "redacted", "r", "stop")),
        outcome_flags(Reply("t", "elicited", "", "max_tokens", truncated=True)),
    ]
    found = run_metrics([outcome_counts()], [[f] for f in flags])
    assert found["samples"] == 3
    assert (found["trace_raw"], found["trace_redacted"], found["truncated"]) == (1, 1, 1)
