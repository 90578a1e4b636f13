"""Preference pairs: two replies to the same prompt, judged in the same way, one clearly better."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from pydantic import BaseModel

from moral_evals.loaders.errors import OptionError
from moral_evals.reports.exchange.reward_rows import Message, Rewarded, RewardRow
from moral_evals.scorers.rubric.aggregate import weighted_share

# sums of binary fractions: a margin of 0.1 must admit 0.3 against 0.2
_ROUNDING = 1e-9


class Completion(BaseModel):
    """A reply as a training library takes it.

    Attributes:
        content: The visible text as it was produced, with `<reasoning>` tags if it had them.
        reasoning_content: The provider's own reasoning, raw or a summary; empty if there is none.
    """

    role: str = "assistant"
    content: str
    reasoning_content: str


class PreferencePair(BaseModel):
    """One line of `pairs.jsonl`; the card that lies beside it explains every field."""

    id: str
    prompt: list[Message]
    chosen: list[Completion]
    rejected: list[Completion]
    chosen_score: float
    rejected_score: float
    margin: float
    criteria_compared: int
    criteria: int
    chosen_model: str
    rejected_model: str
    chosen_epoch: int
    rejected_epoch: int
    judged: str
    trace_kind: str
    judge: str
    benchmark: str


def check_margin(margin: float) -> None:
    """Raise OptionError unless a margin is above 0 and at most 1."""
    if not 0 < margin <= 1:
        raise OptionError(f"--margin {margin:g}: must be above 0 and at most 1.")


def preference_pairs(
    replies: Sequence[Rewarded], margin: float, most: int | None = None
) -> Iterator[PreferencePair]:
    """All pairs whose scores differ by at least a margin, the widest of each dilemma first.

    Two replies are compared on the criteria that are graded in both, since an ungraded criterion
    would otherwise make a difference that no reply made.

    Args:
        replies: Of any number of runs.
        margin: Least difference of the two scores, in (0, 1].
        most: Pairs for each dilemma and conditions at most.
    """
    check_margin(margin)
    groups: dict[object, list[Rewarded]] = {}
    for reply in replies:
        groups.setdefault(reply.group(), []).append(reply)
    for group in groups.values():
        found = [p for a, b in combinations(group, 2) if (p := _pair(a, b, margin))]
        # a stable sort: equal margins stay in the order of the logs
        yield from sorted(found, key=lambda p: -p.margin)[:most]


def _pair(a: Rewarded, b: Rewarded, margin: float) -> PreferencePair | None:
    if (a.row.completion, a.row.trace) == (b.row.completion, b.row.trace):
        return None  # one reply scored twice, or the same words twice
    shared = [c for c in a.criteria if c.id in a.verdicts and c.id in b.verdicts]
    if not shared:
        return None
    first, second = weighted_share(shared, a.verdicts), weighted_share(shared, b.verdicts)
    if abs(first - second) < margin - _ROUNDING:
        return None
    chosen, rejected = (a.row, b.row) if first > second else (b.row, a.row)
    high, low = max(first, second), min(first, second)
    return PreferencePair(
        id=chosen.id,
        prompt=chosen.prompt,
        chosen=[_completion(chosen)],
        rejected=[_completion(rejected)],
        chosen_score=high,
        rejected_score=low,
        margin=high - low,
        criteria_compared=len(shared),
        criteria=len(a.criteria),
        chosen_model=chosen.model,
        rejected_model=rejected.model,
        chosen_epoch=chosen.epoch,
        rejected_epoch=rejected.epoch,
        judged=chosen.judged,
        trace_kind=chosen.trace_kind,
        judge=chosen.judge,
        benchmark=chosen.benchmark,
    )


def _completion(row: RewardRow) -> Completion:
    own = row.trace_kind in ("raw", "summary")
    return Completion(content=row.completion, reasoning_content=row.trace if own else "")
