"""Which text of a reply is judged, or the reason why none is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from inspect_ai.model import ChatMessage, ModelOutput

from moral_evals.loaders.limits import LIMITS, LimitName
from moral_evals.loaders.reply import Reply, read_reply
from moral_evals.loaders.turns import read_turns

JudgedPart = Literal["trace", "last_turn", "response"]
"""`trace` is the reasoning over all turns, `last_turn` that of the last one alone, and `response`
the last turn's text. Without an agent, a reply has one turn."""
JUDGED_PARTS: tuple[JudgedPart, ...] = get_args(JudgedPart)

UNSCORED_REASONS = (
    "refusal",  # the provider filtered the reply or marks it as a refusal
    "truncated",  # the text was cut at a token limit before it was complete
    "no_response",  # an empty reply
    "no_trace",  # a response without any thinking trace
    "redacted_trace",  # reasoning happened, but only a blob of it came back
    "provider_error",  # an error text or nothing at all in place of a reply
    "not_judged",  # imported without any judgement
    "grader_failed",  # the judge gave no verdict on any criterion
    *LIMITS,  # the user's own limit ended the sample before there was a text
)
"""Why a sample has no score; an empty text is never judged, since avoided faults earn credit."""


_NOTHING_BACK = ("provider_error", "no_response", "no_trace")


def reply_for(
    judged: JudgedPart, messages: Sequence[ChatMessage], output: ModelOutput, api: str
) -> Reply:
    """The reply with the trace that is asked for; arguments as in `read_turns`."""
    if judged == "last_turn":
        return read_reply(output, api)
    return read_turns(messages, output, api)


@dataclass(frozen=True)
class JudgedText:
    """The text to judge, or `reason` from UNSCORED_REASONS if there is none."""

    text: str
    reason: str = ""


def judged_text(reply: Reply, judged: JudgedPart, limit: LimitName | None = None) -> JudgedText:
    """Choose the trace or the response of a reply; never the one in place of the other.

    Args:
        reply: What came back, all turns or the last, as `judged` asks.
        judged: Which of its texts.
        limit: The limit that ended the sample. It is the reason where nothing came back; a text
            that did is judged.
    """
    found = _chosen(reply, judged)
    return JudgedText("", limit) if limit and found.reason in _NOTHING_BACK else found


def _chosen(reply: Reply, judged: JudgedPart) -> JudgedText:
    text = reply.response if judged == "response" else reply.trace
    if reply.error or reply.stop_reason == "none":
        return JudgedText("", "provider_error")
    if reply.refused:
        return JudgedText("", "refusal")
    # A trace is complete once the response has begun, wherever that was cut.
    if reply.truncated and (judged == "response" or not reply.response):
        return JudgedText("", "truncated")
    if text:
        return JudgedText(text)
    if judged == "response" or not reply.response:
        return JudgedText("", "no_response")
    return JudgedText("", "redacted_trace" if reply.trace_kind == "redacted" else "no_trace")
