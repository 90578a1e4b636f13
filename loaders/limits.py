"""Limits that ended a sample, under their own names: nobody's fault, and no provider's error."""

from typing import Literal, get_args

from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import EvalSampleLimit, transcript

LimitName = Literal[
    "token_limit", "message_limit", "turn_limit", "time_limit", "working_limit", "cost_limit",
    "context_limit", "operator_limit", "custom_limit",
]  # fmt: skip
LIMITS: tuple[LimitName, ...] = get_args(LimitName)
"""`operator_limit`: someone ended the sample by hand; `custom_limit`: a limit in a user's code."""


def limit_reached() -> LimitName | None:
    """The limit that ended the sample that is being scored; of a log's sample too."""
    # a scorer sees no sample, but `inspect score` shows it the events of the log's
    found = [e.type for e in transcript().events if isinstance(e, SampleLimitEvent)]
    return _named(found[-1]) if found else None


def limit_of(limit: EvalSampleLimit | str | None) -> LimitName | None:
    """The name of a sample's limit as a log or a summary of it has it."""
    return _named(limit.type if isinstance(limit, EvalSampleLimit) else limit) if limit else None


def _named(kind: str) -> LimitName:
    # a kind of a later Inspect is at least known to be a limit
    return next((name for name in LIMITS if name == f"{kind}_limit"), "custom_limit")
