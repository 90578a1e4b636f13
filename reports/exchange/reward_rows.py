"""A scored reply as one record for reward training: what was asked, what was said, what it earned."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage
from pydantic import BaseModel

from moral_evals.loaders.morebench.records import DIMENSIONS, Criterion, dimension_key
from moral_evals.reports.runs.conditions import Conditions, rubric_conditions
from moral_evals.reports.runs.logs import scores_of
from moral_evals.reports.runs.rubric_samples import RubricSample
from moral_evals.scorers.rubric.aggregate import Verdict
from moral_evals.scorers.rubric.record import CriterionRow

_USUAL = len(DIMENSIONS)


class Message(BaseModel):
    """A message of the prompt, as text."""

    role: str
    content: str


class RewardVerdict(BaseModel):
    """One criterion and what the judge said of it.

    Attributes:
        verdict: `yes`, `no` or `ungraded`.
        fulfilled: Whether it counts in favour; None if ungraded.
    """

    criterion_id: str
    criterion: str
    weight: float
    dimension: str
    verdict: str
    fulfilled: bool | None


class Dimensions(BaseModel):
    """Weighted share within each dimension; None where the rubric lacks it or nothing is graded."""

    dim_identifying: float | None
    dim_clear_process: float | None
    dim_logical_process: float | None
    dim_helpful_outcome: float | None
    dim_harmless_outcome: float | None
    dim_other: float | None


class OwnDimension(BaseModel):
    """The same of one dimension of the user's own."""

    dimension: str
    share: float | None


class RewardRow(BaseModel):
    """One line of `rewards.jsonl`; the card that lies beside it explains every field.

    Attributes:
        own_dimensions: A list, since a set has the same columns whatever its runs declared.
    """

    id: str
    epoch: int
    benchmark: str
    theory: str
    role: str
    source: str
    type: str
    context: str
    prompt: list[Message]
    prompt_as_sent: bool
    trace: str
    trace_kind: str
    response: str
    completion: str
    judged: str
    score: float
    graded_share: float
    length: int
    score_per_1000_characters: float | None
    dimensions: Dimensions
    own_dimensions: list[OwnDimension]
    verdicts: list[RewardVerdict]
    model: str
    judge: str
    judge_mode: str
    judge_prompt_sha256: str
    protocol: str
    data_sha256: str
    task_version: str
    log_id: str


@dataclass(frozen=True)
class Rewarded:
    """A record, and what decides with which others it may be compared.

    Attributes:
        row: The record.
        conditions: Of the score, as for any comparison of runs.
        criteria: The rubric.
        verdicts: `yes` or `no` by criterion id; ungraded ones are missing.
    """

    row: RewardRow
    conditions: Conditions
    criteria: Sequence[Criterion]
    verdicts: Mapping[str, Verdict]

    def group(self) -> tuple[Hashable, ...]:
        """Equal for replies to the same prompt, judged in the same way."""
        kind = self.row.trace_kind if self.row.judged != "response" else ""
        prompt = tuple((m.role, m.content) for m in self.row.prompt)
        # who served a reply does not bear on how it was judged
        judged = replace(self.conditions, provider="")
        return (self.row.id, judged, kind, prompt)


def rewarded(found: RubricSample, log: EvalLog) -> Rewarded:
    """The record of a scored sample with its conditions."""
    results = scores_of(log)
    score = next(s for s in results if s.scorer == found.scorer and "regular" in s.metrics)
    rows = found.rows
    return Rewarded(
        reward_row(found, log),
        rubric_conditions(log, score, [found.score] if found.score else []),
        [row.criterion for row in rows],
        {row.criterion.id: row.verdict for row in rows if row.verdict != "ungraded"},
    )


def reward_row(found: RubricSample, log: EvalLog) -> RewardRow:
    """The record of a scored sample; its prompt is empty if the log does not hold it."""
    sample, labels, reply = found.sample, found.metadata, found.reply
    prompt, as_sent = _prompt(sample)
    metadata = log.eval.metadata or {}
    record = found.record
    shares = [(d, _finite(found.value(dimension_key(d)))) for d in labels.every_dimension()]
    return RewardRow(
        id=str(sample.id),
        epoch=sample.epoch,
        benchmark=str(metadata.get("benchmark") or log.eval.task),
        theory=labels.theory,
        role=labels.role,
        source=labels.source,
        type=labels.type,
        context=labels.context,
        prompt=[Message(role=m.role, content=m.text) for m in prompt],
        prompt_as_sent=as_sent,
        trace=reply.trace,
        trace_kind=reply.trace_kind,
        response=reply.response,
        completion=sample.output.completion,
        score=found.value("score"),
        graded_share=found.value("graded_share"),
        length=int(found.value("length")),
        score_per_1000_characters=_finite(found.value("score") * 1000 / found.value("length")),
        dimensions=Dimensions(**{dimension_key(d): share for d, share in shares[:_USUAL]}),
        own_dimensions=[OwnDimension(dimension=d, share=share) for d, share in shares[_USUAL:]],
        verdicts=list(map(_verdict, found.rows)),
        model=log.eval.model,
        judged=record.judged,
        judge=record.judge,
        judge_mode=record.judge_mode,
        protocol=record.protocol,
        judge_prompt_sha256=record.prompt_sha256,
        data_sha256=str(metadata.get("data", {}).get("sha256", "")),
        task_version=str(log.eval.task_version),
        log_id=log.eval.eval_id,
    )


def _prompt(sample: EvalSample) -> tuple[Sequence[ChatMessage], bool]:
    """The messages before the reply, and whether the log shows that these were sent."""
    calls = [e for e in sample.events if isinstance(e, ModelEvent) and e.role is None]
    if calls:
        # the call has what Inspect adds by itself, such as --system-message
        return calls[-1].input, True
    return [m for m in sample.messages if m.role != "assistant"], False


def _verdict(row: CriterionRow) -> RewardVerdict:
    return RewardVerdict(
        criterion_id=row.criterion.id,
        criterion=row.criterion.text,
        weight=row.criterion.weight,
        dimension=row.criterion.dimension,
        verdict=row.verdict,
        fulfilled=row.fulfilled,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
