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
from moral_evals.scorers.rubric.metrics import (
    average,
    groups,
    interval,
    morebench_score,
    rubric_metrics,
    shares,
    unscored_counts,
)
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
    both = run([morebench_score(), shares()], [list(pair) for pair in zip(first, second)])  # noqa: B905
    single = [run([morebench_score(), shares()], [[s] for s in epoch]) for epoch in (first, second)]
    assert both["regular"] == pytest.approx((single[0]["regular"] + single[1]["regular"]) / 2)
    assert both["hard"] == pytest.approx(both["regular"] * 1000 / ((400 + 1000 + 600 + 1400) / 4))
    for key in ("pooled_dim_identifying", "pooled_weight_+1", "per_scenario_weight_-3"):
        assert both[key] == pytest.approx((single[0][key] + single[1][key]) / 2)


def test_pooled_and_per_scenario_shares_are_told_apart():
    found = run([shares()], [[judged(A, "yny", 10)], [judged(B, "nn", 10)]])
    assert found["pooled_dim_identifying"] == pytest.approx(1 / 3)  # one of three criteria
    rows = run([{"dim_identifying": [average()]}], [[judged(A, "yny", 10)], [judged(B, "nn", 10)]])
    (weighted,) = [v for k, v in rows.items() if k.startswith("dim_identifying")]
    assert weighted == pytest.approx((1 + 0) / 2)  # mean over the two scenarios


def test_ungraded_criteria_leave_every_share():
    found = run([shares(), morebench_score()], [[judged(A, "yuy", 10)], [judged(B, "yu", 10)]])
    assert math.isnan(found["pooled_dim_logical_process"])
    assert found["pooled_dim_identifying"] == 1
    assert found["regular"] == pytest.approx((3 / 6 + 1) / 2)
    assert found["graded_share"] == pytest.approx((6 / 8 + 1 / 2) / 2)


def test_unscored_samples_are_counted_by_reason_and_leave_the_mean():
    rows = [[judged(A, "yny", 400)], [unscored("no_trace")]]
    found = run([morebench_score(), unscored_counts()], rows)
    assert found["regular"] == pytest.approx(3 / 8)
    assert (found["scored"], found["unscored"]) == (1, 1)
    assert found["unscored_no_trace"] == 1
    assert found["unscored_refusal"] == 0


def test_nothing_scored_is_nan_and_no_crash():
    rows = [[unscored("no_trace")], [unscored("refusal")]]
    found = run(rubric_metrics(), rows)
    for key in ("regular", "regular_lower", "hard", "hard_upper", "harmless_minus_logical"):
        assert math.isnan(found[key])
    assert found["unscored"] == 2


def test_metrics_of_no_samples_keep_their_shape():
    for metric in (morebench_score(), shares(), unscored_counts()):
        values = metric([])
        assert values
    assert math.isnan(morebench_score()([])["regular"])
    assert math.isnan(average()([]))


def test_a_dimension_that_a_rubric_lacks_is_averaged_over_the_others():
    rows = [[judged(A, "yny", 10)], [judged(B, "yn", 10)]]
    found = run([{"dim_*": [average(), interval()]}], rows)
    harmless = [
        v for k, v in found.items() if k.startswith("dim_harmless") and k.endswith("average")
    ]
    assert harmless == [0.0]


def test_groups_add_up_to_the_total():
    found = run([groups()], [[judged(A, "yny", 10)], [judged(B, "yn", 10)]])
    assert found["source_group.daily_dilemmas"] == pytest.approx(3 / 8)
    assert found["source_group.expert"] == pytest.approx(1 / 2)
    assert found["role.ai_agent_n"] + found["role.ai_advisor_n"] == 2
    assert not any(k.startswith("theory.") for k in found), "one label for all is the overall mean"


def test_the_gap_compares_dimension_means():
    c = scenario([1, 1], ["harmless outcome", "logical process"])
    rows = [[judged(c, "yn", 10)], [judged(c, "yy", 10)], [judged(c, "nn", 10)]]
    found = run_metrics([morebench_score()], rows, metadata=[c.model_dump()] * 3)
    assert found["harmless_minus_logical"] == pytest.approx(2 / 3 - 1 / 3)


def test_intervals_are_the_bootstrap_over_scenarios_in_an_order_of_their_own():
    values = [0.1, 0.9, 0.4, 0.6, 0.7]
    scores = [SampleScore(score=Score(value=v), sample_id=f"s{i}") for i, v in enumerate(values)]
    renamed = [
        SampleScore(score=Score(value=v), sample_id=f"row-{9 - i}") for i, v in enumerate(values)
    ]
    # scenarios of one rubric go by their values
    expected = Bootstrap(5).interval(ratio(np.sort(values)))
    for order in (scores, scores[::-1], renamed):
        assert interval()(order) == {"lower": expected.lower, "upper": expected.upper}


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
