"""What the metadata of the suite's scores holds: written by the scorers, read by every report.

The only file that spells the keys. Its classes also read the logs of versions 1-A and 1-B, which
lack the later fields, and sample summaries, which leave out whatever is longer than 1k.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from inspect_ai.scorer import Score
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.scorers.rubric.aggregate import Verdict, fulfilled

Source = Literal["criterion", "rubric", "alone", "cache"]
"""Where a verdict was read: in the reply to a question about this criterion, in a reply about a
whole rubric, in the reply to a single question that stood in for such a reply, or in a single
question's reply that the verdict cache held. A whole rubric's reply is `rubric` from there too."""

# a summary has a sentence in place of what it leaves out
_TOO_LONG = BeforeValidator(lambda value: {} if isinstance(value, str | None) else value)
_TOO_LONG_LIST = BeforeValidator(lambda value: [] if isinstance(value, str | None) else value)

Usage = Annotated[dict[str, int], _TOO_LONG]
"""Calls and tokens by kind, `saved_*` those that the verdict cache spared."""


class RecordError(SuiteError):
    """Metadata that no scorer of this suite wrote."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)

    @classmethod
    def of(cls, score: Score) -> Self:
        """The record of a score, from a log or just made.

        Raises RecordError, naming the field, for metadata that no scorer of this class wrote.
        """
        return cls.read(score.metadata or {})

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> Self:
        """The same from the metadata alone."""
        try:
            return cls.model_validate(metadata)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or "metadata"
            raise RecordError(
                f"not the metadata of a {cls.__doc__.partition('.')[0].lower()}: "  # type: ignore[union-attr]
                f"field {field}: {first['msg']}"
            ) from None

    def metadata(self) -> dict[str, Any]:
        """The form for the log; what was never set is left out."""
        return self.model_dump(exclude_unset=True)

    def but(self, **changes: Any) -> Self:
        """A copy with other fields."""
        if unknown := changes.keys() - type(self).model_fields.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        return self.model_copy(update=changes)


class JudgeSeat(_Record):
    """Judge in a panel, asked once.

    Attributes:
        model: Its name in the panel.
        settings: Its settings that differ from Inspect's defaults.
        model_args: Its model arguments, without keys and tokens.
        base_url: Its address, where it is known.
        retries: Replies that could not be read and were asked for again.
        usage: Its own; empty in a panel, where `panel_usage` has it.
        vote: 1 for the first time of asking.
        asked_alone: Criteria that a whole-rubric reply left out.
        failed: Criteria on which the call failed for good, `failure` the first error, and
            `missing` their ids, by which a later scoring completes the judging.
    """

    model: str
    settings: dict[str, Any] = {}
    model_args: dict[str, Any] = {}
    base_url: str = ""
    retries: int = 0
    usage: Usage = {}
    vote: int = 1
    asked_alone: int = 0
    failed: int = 0
    failure: str = ""
    missing: Annotated[list[str], _TOO_LONG_LIST] = []


class JudgingRecord(_Record):
    """Score that a judge gave. What rubric scores and labelled texts have in common.

    Attributes:
        protocol: Wording of the judge's prompt.
        judge_prompt: Name of the user's own judge prompt; empty for the protocol's.
        judge_mode: `criterion` or `rubric`; `rubric_chunk` and `rubric_seed` belong to the latter.
        judge_votes: Times that each judge was asked.
        judge: The judges' names, joined; empty if nothing was judged.
        judges: One for each judge and vote.
        judge_usage: Of all judges; `panel_usage` by judge, unless one was asked once.
        verdicts: By criterion id.
        votes: By criterion id the verdict of each of `judges`; empty for one judge asked once.
        sources: By criterion id; one that is missing was read as `judge_mode` says, or, in logs
            up to version 1-B, is not recorded.
    """

    protocol: str = ""
    judge_prompt: str = ""
    judge_mode: str = "criterion"
    rubric_chunk: int | None = None
    rubric_seed: int | None = None
    judge_votes: int = 1
    judge: str = ""
    judges: Annotated[list[JudgeSeat], _TOO_LONG_LIST] = []
    judge_usage: Usage = {}
    panel_usage: Annotated[dict[str, Usage], _TOO_LONG] = {}
    verdicts: Annotated[dict[str, Verdict], _TOO_LONG] = {}
    votes: Annotated[dict[str, list[Verdict]], _TOO_LONG] = {}
    sources: Annotated[dict[str, Source], _TOO_LONG] = {}

    def verdict(self, criterion: str) -> Verdict:
        """The verdict on a criterion by its id; `ungraded` too if there was none at all."""
        return self.verdicts.get(criterion, "ungraded")

    def source(self, criterion: str) -> Source | None:
        """Where the verdict on a criterion was read; None if the log does not say."""
        # a single question needs no entry; a whole rubric's reply may have left the criterion out
        return self.sources.get(criterion) or (
            "criterion" if self.judge_mode == "criterion" else None
        )

    @property
    def incomplete(self) -> bool:
        """Whether judge calls failed for good whose verdicts a later scoring may still bring."""
        return any(seat.missing for seat in self.judges)

    @classmethod
    def usage_in(cls, score: Score) -> dict[str, Usage] | None:
        """Calls and tokens by judge of any score in a log, empty for one that no judge gave.

        None if this is a summary that left them out.
        """
        metadata = score.metadata or {}
        if "judge" not in metadata:
            return {}
        if isinstance(metadata.get("panel_usage"), str):
            return None
        record = cls.read(metadata)
        return record.panel_usage or {record.judge: record.judge_usage}


@dataclass(frozen=True)
class Given:
    """A verdict that one judge gave, why it is ungraded if it is, and where it was read."""

    verdict: Verdict
    reason: str
    source: Source | None


@dataclass(frozen=True)
class CriterionRow:
    """One criterion of a scored text.

    Attributes:
        criterion: From the rubric.
        verdict: Of the panel.
        fulfilled: Whether it counts in favour; None if ungraded.
        reason: Why it is ungraded; empty if it is not.
        source: Where the verdict was read; None if the log does not say.
        votes: The verdict of each judge; None for one judge asked once.
    """

    criterion: Criterion
    verdict: Verdict
    fulfilled: bool | None
    reason: str
    source: Source | None
    votes: Sequence[Verdict] | None


class RubricRecord(JudgingRecord):
    """Rubric score.

    Attributes:
        judged: `trace`, `last_turn` or `response`.
        trace_kind: As in `Reply`.
        prompt_sha256: Of the judge's wording.
        candidate_prompts_sha256: Of the prompts that the suite's solver sent; empty if another
            solver asked.
        candidate_prompt: Name of the user's own prompt among them; empty for the suite's.
        criteria_order: Ids in the order in which a whole rubric was shown.
        ungraded: By criterion id why there is no verdict.
        declined: The judge's word on whether the reply declines; None if it gave none.
        imported: The verdicts come from upstream's file.
    """

    judged: Literal["trace", "last_turn", "response"]
    trace_kind: str = "not recorded"
    prompt_sha256: str = ""
    candidate_prompts_sha256: str = ""
    candidate_prompt: str = ""
    criteria_order: Annotated[list[str], _TOO_LONG_LIST] = []
    ungraded: Annotated[dict[str, str], _TOO_LONG] = {}
    declined: bool | None = None
    imported: bool = False

    def given(self) -> list[dict[str, Given]]:
        """What each of `judges` said, by criterion id; without the criteria that it missed."""
        votes = self.votes or {c: [v] for c, v in self.verdicts.items()}
        return [
            {
                c: Given(said[i], self.ungraded.get(c, "ungraded"), self.source(c))
                for c, said in votes.items()
                if c not in seat.missing
            }
            for i, seat in enumerate(self.judges)
        ]

    def paid(self, seat: int) -> Usage:
        """Calls and tokens of one of `judges`; a panel's are known by model, and stand first."""
        judge = self.judges[seat]
        if not self.panel_usage:
            return self.judge_usage
        return self.panel_usage.get(judge.model, {}) if judge.vote == 1 else {}

    def judged_alike(self, facts: Mapping[str, Any], seats: Sequence[JudgeSeat]) -> bool:
        """Whether this judging had the same protocol, mode, wording and judges.

        Args:
            facts: Fields of this class, by name.
            seats: The judges.
        """
        same = all(getattr(self, name) == value for name, value in facts.items())
        return same and [_asked(s) for s in self.judges] == [_asked(s) for s in seats]

    @classmethod
    def within(cls, score: Mapping[str, Any]) -> "RubricRecord | None":
        """The record of a score as plain JSON, as Inspect's frames have it; None for another's."""
        metadata = score.get("metadata") or {}
        rubric = isinstance(score.get("value"), dict) and "judged" in metadata
        return cls.read(metadata) if rubric else None

    def rows(self, criteria: Sequence[Criterion]) -> list[CriterionRow]:
        """The rubric with its verdicts, in its own order; empty if nothing was judged."""
        return [self._row(c) for c in criteria] if self.verdicts else []

    def _row(self, criterion: Criterion) -> CriterionRow:
        verdict = self.verdict(criterion.id)
        return CriterionRow(
            criterion=criterion,
            verdict=verdict,
            fulfilled=None if verdict == "ungraded" else fulfilled(criterion.weight, verdict),
            reason=self.ungraded.get(criterion.id, ""),
            source=self.source(criterion.id),
            votes=self.votes.get(criterion.id),
        )


def score_values(score: Score) -> dict[str, float]:
    """The numbers of a rubric score by value key; empty for a score without keys."""
    if not isinstance(score.value, Mapping):
        return {}
    return {k: float(v) for k, v in score.value.items() if isinstance(v, int | float)}


def _asked(seat: JudgeSeat) -> tuple[object, ...]:
    return seat.model, seat.vote, seat.settings, seat.model_args, seat.base_url


class AttackedPair(_Record):
    """Verdict on one pair without and with the attack, and the one that the attack wants."""

    pair_id: str
    wants: str
    clean: Verdict
    attacked: Verdict


class AttackRecord(JudgingRecord):
    """Score of a text under attack."""

    attack_kind: str = ""
    pairs: Annotated[list[AttackedPair], _TOO_LONG_LIST] = []


class OutcomeRecord(_Record):
    """Score of a reply's outcome."""

    trace_kind: str
    stop_reason: str
