"""The record of a score's metadata: written and read by one class, old logs and summaries included."""

import json
import math
from dataclasses import fields
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
from inspect_ai.scorer import SampleScore, Score

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.panel import Ballot, combine
from moral_evals.scorers.rubric.record import (
    JudgingRecord,
    OutcomeRecord,
    RubricRecord,
)
from moral_evals.scorers.rubric.scenario_table import ScenarioTable
from moral_evals.scorers.rubric.score import scored, unscored
from moral_evals.scorers.rubric_judge import morebench_score

LEGACY = Path(__file__).parents[2] / "legacy" / "logs"
RUBRIC = [
    Criterion(id="c1", text="one", weight=3, dimension="identifying"),
    Criterion(id="c2", text="two", weight=-2, dimension="other"),
]
PLAIN = RubricRecord(judged="trace", trace_kind="raw")


def judgement(*verdicts: str, **ballot):
    said = dict(zip(("c1", "c2"), verdicts, strict=True))
    return combine([Ballot("j", verdicts=said, **ballot)], ["c1", "c2"])


@pytest.mark.parametrize("name", ["checkout-morebench", "wheel-morebench"])
def test_scores_of_the_landed_suite_are_read(name):
    samples = read_eval_log(str(LEGACY / f"{name}.eval")).samples
    scores = [s for x in samples for n, s in x.scores.items() if n.startswith("rubric_judge")]
    records = [RubricRecord.of(s) for s in scores]
    assert {r.judged for r in records} >= {"trace"}
    assert {r.judge for r in records} == {"embedded/overlap-judge", ""}
    for score, record in zip(scores, records, strict=True):
        # nothing is lost on the way back, and nothing is added
        assert json.loads(json.dumps(record.metadata())) == score.metadata
    outcomes = [OutcomeRecord.of(x.scores["outcome"]) for x in samples]
    assert {r.stop_reason for r in outcomes} == {"stop", "max_tokens"}


@pytest.mark.parametrize("name", ["checkout-judge-agreement", "wheel-judge-agreement"])
def test_judged_labels_of_the_landed_suite_are_read(name):
    for sample in read_eval_log(str(LEGACY / f"{name}.eval")).samples:
        score = sample.scores["judge_labels"]
        record = JudgingRecord.of(score)
        assert record.metadata() == score.metadata
        assert len(record.verdicts) == len(sample.metadata["pairs"])


def test_a_summary_that_left_long_entries_out_is_read():
    path = str(LEGACY / "checkout-morebench.eval")
    for summary in read_eval_log_sample_summaries(path):
        assert RubricRecord.of(summary.scores["rubric_judge"]).trace_kind == "raw"
    left_out = {"judged": "trace", "verdicts": "Key removed from summary (> 1k)"}
    assert RubricRecord.read(left_out).verdicts == {}


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "not the metadata of a rubric score: field judged: "),
        ({"judged": "thought"}, "field judged: Input should be 'trace', 'last_turn' or 'response'"),
        ({"judged": "trace", "verdicts": {"c1": "maybe"}}, "field verdicts.c1: "),
        ({"judged": "trace", "judges": [{}]}, "field judges.0.model: "),
    ],
)
def test_the_metadata_of_others_is_refused_in_one_line(metadata, said):
    with pytest.raises(SuiteError) as caught:
        RubricRecord.of(Score(value=1, metadata=metadata))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_was_never_set_is_left_out_of_the_log():
    assert PLAIN.metadata() == {"judged": "trace", "trace_kind": "raw"}
    assert scored(RUBRIC, "text", judgement("yes", "no"), PLAIN).metadata == {
        "judged": "trace", "trace_kind": "raw",
        "verdicts": {"c1": "yes", "c2": "no"}, "ungraded": {},
    }  # fmt: skip


def test_a_field_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="has no judgd"):
        PLAIN.but(judgd="response")
    modes = (JudgeOptions(votes=3), JudgeOptions(judge_mode="rubric"))
    for options in modes:
        assert options.facts().keys() <= RubricRecord.model_fields.keys()
        assert RubricRecord(judged="trace", **options.facts()).metadata().items() > (
            options.facts().items()
        )


def test_a_row_says_verdict_reason_and_source():
    result = judgement(
        "yes", "ungraded", ungraded={"c2": "judge_unclear"}, sources={"c1": "rubric", "c2": "alone"}
    )
    record = PLAIN.but(judge_mode="rubric")
    rows = RubricRecord.of(scored(RUBRIC, "text", result, record)).rows(RUBRIC)
    assert [(r.verdict, r.fulfilled, r.reason, r.source, r.votes) for r in rows] == [
        ("yes", True, "", "rubric", None),
        ("ungraded", None, "judge_unclear", "alone", None),
    ]
    assert {f.name for f in fields(rows[0])} >= {"criterion", "verdict", "source"}
    assert PLAIN.rows(RUBRIC) == [], "nothing was judged"


def test_a_source_that_no_log_says_is_unknown():
    assert PLAIN.source("c1") == "criterion"
    assert PLAIN.but(judge_mode="rubric").source("c1") is None


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (["rubric", "rubric"], {"c": "rubric"}),
        (["rubric", "alone"], {"c": "alone"}),
        (["cache", "rubric"], {"c": "cache"}),
        (["criterion", "criterion"], {}),
        (["criterion", "cache"], {}),
    ],
)
def test_a_panel_s_verdict_is_of_a_rubric_only_if_every_judge_s_is(sources, expected):
    seats = [Ballot("j", v, verdicts={"c": "yes"}, sources={"c": s})
             for v, s in enumerate(sources, 1)]  # fmt: skip
    assert combine(seats, ["c"]).sources() == expected


UNSCORED = [
    scored(RUBRIC, "x" * 9000, judgement("ungraded", "ungraded"), PLAIN),
    unscored("grader_failed", "x" * 9000, PLAIN, "the judge is down"),
    unscored("truncated", "x" * 9000, PLAIN),
    # as versions up to 1-B wrote it
    Score(
        value={"score": math.nan, "length": 9000.0, "graded_share": 0.0, "declined": 0.0},
        reason="grader_failed", metadata={"verdicts": {"c1": "ungraded", "c2": "ungraded"}},
    ),
]  # fmt: skip


@pytest.mark.parametrize("lost", UNSCORED)
@pytest.mark.parametrize("same_scenario", [False, True])
def test_what_has_no_score_has_no_length_and_no_share(lost, same_scenario):
    """Traces of 1,000 and 9,000 characters, rubric {+3, -2}, all yes and all unreadable."""
    good = scored(RUBRIC, "x" * 1000, judgement("yes", "yes"), PLAIN)
    metadata = {"criteria": [c.model_dump() for c in RUBRIC]}
    scores = [
        SampleScore(score=s, sample_id=i, sample_metadata=metadata)
        for s, i in ((good, "a"), (lost, "a" if same_scenario else "b"))
    ]
    table = ScenarioTable.build(scores)
    assert table.score[0] == pytest.approx(0.6)
    for array, value in ((table.length, 1000.0), (table.graded_share, 1.0)):
        assert [v for v in array if math.isfinite(v)] == [value]
    found = morebench_score()(scores)
    assert [found[k] for k in ("regular", "hard", "graded_share")] == pytest.approx([0.6, 0.6, 1])
    assert (found["scored"], found["unscored"]) == (1, 1)


@pytest.mark.parametrize("lost", UNSCORED[:3])
def test_every_key_of_an_unscored_text_is_nan(lost):
    assert all(math.isnan(v) for v in lost.value.values())
    assert unscored("refusal", "", PLAIN).value["declined"] == 1
