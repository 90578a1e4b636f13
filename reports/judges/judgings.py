"""Judgings of the same replies: every verdict of a rubric score, for comparing one with another."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score

from moral_evals.loaders.morebench.records import Criterion, ScenarioMetadata
from moral_evals.reports.runs.conditions import Conditions, rubric_conditions
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.logs import FoundLog, scored_samples, shown_name
from moral_evals.reports.runs.rubric_runs import prefix_of, rubric_scores
from moral_evals.scorers.rubric.record import RubricRecord

ReplyKey = tuple[str, int]
"""Sample id and epoch."""


@dataclass(frozen=True)
class JudgedReply:
    """One judged text with its verdicts.

    Attributes:
        text: Exactly what was judged.
        score: In [0, 1].
        criteria: The rubric.
        record: Verdicts, and where each was read.
    """

    text: str
    score: float
    criteria: Sequence[Criterion]
    record: RubricRecord

    @property
    def by_rubric(self) -> bool:
        """Whether the judge was shown whole rubrics."""
        return self.record.judge_mode == "rubric"

    def counts(self, criterion: Criterion) -> bool:
        """Whether a verdict was read as its judging says; what no log says is taken to be so.

        A criterion that a whole rubric's reply left out was asked alone: that is no verdict of a
        whole rubric.
        """
        return not self.by_rubric or self.record.source(criterion.id) in ("rubric", None)


@dataclass(frozen=True)
class Judging:
    """One rubric score of one log.

    Attributes:
        log: The log's header.
        scorer: Name of the score in the log.
        conditions: Judge, wording, judged text.
        replies: Judged replies; one whose criteria are all ungraded has no number.
        usage: Calls and tokens by kind, `saved_*` those that the verdict cache spared.
        unscored: Replies without a number, judged or not.
    """

    log: EvalLog
    scorer: str
    conditions: Conditions
    replies: Mapping[ReplyKey, JudgedReply]
    usage: Mapping[str, int]
    unscored: int

    @property
    def name(self) -> str:
        """Score and log, as a user would name them."""
        return f"{self.scorer} of {shown_name(self.log.location).rpartition('/')[2]}"


def judgings(logs: Found | Sequence[str]) -> list[Judging]:
    """All rubric scores of some logs, or of the logs and folders named, in their order."""
    return (logs if isinstance(logs, Found) else find_logs(logs)).each(judgings_of)


def judgings_of(log: FoundLog) -> Iterator[Judging]:
    """The rubric scores of one log."""
    header = log.header
    scores = rubric_scores(header)
    samples = scored_samples(log.location) if scores else []
    for entry in scores:
        found = [
            (sample, sample.scores[entry.scorer])
            for sample in samples
            if sample.scores and entry.scorer in sample.scores
        ]
        records = [RubricRecord.of(score) for _, score in found]
        usage: Counter[str] = Counter()
        for record in records:
            usage.update(record.judge_usage)
        replies = {
            (str(sample.id), sample.epoch): _reply(sample, score, record, prefix_of(entry.scorer))
            for (sample, score), record in zip(found, records, strict=True)
            if record.verdicts
        }
        conditions = rubric_conditions(header, entry, [score for _, score in found])
        scored = sum(math.isfinite(r.score) for r in replies.values())
        yield Judging(header, entry.scorer, conditions, replies, usage, len(found) - scored)


def _reply(sample: EvalSample, score: Score, record: RubricRecord, prefix: str) -> JudgedReply:
    value = score.value if isinstance(score.value, dict) else {}
    number = value.get(prefix + "score")
    return JudgedReply(
        text=score.answer or "",
        score=float(number) if isinstance(number, int | float) else math.nan,
        criteria=sample.metadata_as(ScenarioMetadata).criteria,
        record=record,
    )
