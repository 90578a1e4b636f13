"""Which text of a reply is judged, or the reason why none is (cases A14, A15, B18, B22, B25, F62)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.reply import Reply, TraceKind, read_reply
from moral_evals.scorers.rubric.judged_text import UNSCORED_REASONS, JudgedText, judged_text
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.shapes import no_choices, openai_compatible, output


def reply(trace: str = "", response: str = "", kind: TraceKind | None = None, **more: Any) -> Reply:
    kind = kind or ("raw" if trace else "none")
    return Reply(trace, kind, response, **{"stop_reason": "stop", **more})


BOTH = reply("I weigh both.", "Do it.")
CUT = {"stop_reason": "max_tokens", "truncated": True}
FILTERED = {"stop_reason": "content_filter", "refused": True}


@pytest.mark.parametrize(("judged", "text"), [("trace", "I weigh both."), ("response", "Do it.")])
def test_the_asked_text_is_judged(judged: str, text: str):
    assert judged_text(BOTH, judged) == JudgedText(text)


@pytest.mark.parametrize(
    ("given_reply", "trace_reason", "response_reason"),
    [
        # A14: no trace is no text, and the response never stands in for it
        pytest.param(reply(response="Do it."), "no_trace", "", id="response only"),
        pytest.param(reply("I weigh."), "", "no_response", id="trace only"),
        pytest.param(reply(), "no_response", "no_response", id="empty"),
        # B18
        pytest.param(reply("", "Do it.", "redacted"), "redacted_trace", "", id="blob"),
        # B22: reasoning ate the budget
        pytest.param(reply("I weigh", **CUT), "truncated", "truncated", id="cut in the trace"),
        pytest.param(reply("I weigh.", "Do", **CUT), "", "truncated", id="cut in the response"),
        pytest.param(reply("", "Do", **CUT), "no_trace", "truncated", id="cut, no trace"),
        pytest.param(reply(**CUT), "truncated", "truncated", id="cut, nothing"),
        # A15
        pytest.param(reply("I weigh.", "No.", **FILTERED), "refusal", "refusal", id="refusal"),
        pytest.param(reply(**FILTERED), "refusal", "refusal", id="empty refusal"),
        # F62
        pytest.param(
            reply("", "502", stop_reason="unknown", error="502"),
            "provider_error", "provider_error", id="error as text",
        ),
        pytest.param(
            reply("I weigh.", "Do it.", error="quota"),
            "provider_error", "provider_error", id="error beside text",
        ),
        pytest.param(
            reply(stop_reason="none"), "provider_error", "provider_error", id="no choice"
        ),
    ],
)  # fmt: skip
def test_reasons_for_no_text(given_reply: Reply, trace_reason: str, response_reason: str):
    for judged, reason in (("trace", trace_reason), ("response", response_reason)):
        assert judged_text(given_reply, judged).reason == reason


def reasoned(reasoning: str, text: str) -> list:
    return [ContentReasoning(reasoning=reasoning), ContentText(text=text)]


@pytest.mark.parametrize(
    ("parsed", "judged", "expected"),
    [
        pytest.param(output("Do it."), "trace", JudgedText("", "no_trace"), id="A14"),
        pytest.param(
            output("I can't help.", "content_filter"), "response", JudgedText("", "refusal"),
            id="A15 with text",
        ),
        pytest.param(
            output("", "content_filter"), "response", JudgedText("", "refusal"), id="A15 empty"
        ),
        pytest.param(
            openai_compatible(refusal="I can't help."), "response", JudgedText("", "refusal"),
            id="A15 marked",
        ),
        pytest.param(
            output([ContentReasoning(reasoning="gAAAA", redacted=True), ContentText(text="Do.")]),
            "trace", JudgedText("", "redacted_trace"), id="B18",
        ),
        pytest.param(
            output([*(ContentReasoning(reasoning=r) for r in "ab"), ContentText(text="Do.")]),
            "trace", JudgedText("a\n\nb"), id="B19",
        ),
        pytest.param(
            output("I weigh.</think>\nDo."), "response", JudgedText("Do."), id="B21 response"
        ),
        pytest.param(
            output("I weigh.</think>\nDo."), "trace", JudgedText("I weigh."), id="B21 trace"
        ),
        pytest.param(
            output(reasoned("I weigh", ""), "max_tokens"), "response", JudgedText("", "truncated"),
            id="B22",
        ),
        pytest.param(
            output(reasoned("meets it", "misses it")), "response", JudgedText("misses it"),
            id="B25 response",
        ),
        pytest.param(
            output(reasoned("meets it", "misses it")), "trace", JudgedText("meets it"),
            id="B25 trace",
        ),
        pytest.param(
            output("Internal error", "unknown"), "response", JudgedText("", "provider_error"),
            id="F62",
        ),
        pytest.param(no_choices(), "trace", JudgedText("", "provider_error"), id="no choices"),
    ],
)  # fmt: skip
def test_from_a_providers_output_to_the_judged_text(
    parsed: ModelOutput, judged: str, expected: JudgedText
):
    assert judged_text(read_reply(parsed), judged) == expected


REPLIES = st.builds(
    Reply,
    trace=st.sampled_from(["", "I weigh."]),
    trace_kind=st.sampled_from(["raw", "summary", "elicited", "redacted", "none"]),
    response=st.sampled_from(["", "Do it."]),
    stop_reason=st.sampled_from(["stop", "max_tokens", "content_filter", "unknown", "none"]),
    truncated=st.booleans(),
    refused=st.booleans(),
    error=st.sampled_from(["", "502"]),
)


@given(REPLIES, st.sampled_from(["trace", "response"]))
def test_there_is_a_text_or_a_known_reason_and_never_both(any_reply: Reply, judged: str):
    found = judged_text(any_reply, judged)
    assert bool(found.text) != bool(found.reason)
    assert found.reason in ("", *UNSCORED_REASONS)
    assert found.text in ("", any_reply.trace if judged == "trace" else any_reply.response)


@pytest.mark.parametrize("mode", ["thinking", "Trace", "", "both", False, None, 1])
def test_an_unknown_mode_is_refused_with_the_allowed_ones(mode: Any):
    """YAML turns `no` into False; no mode may fall back to a default."""
    with pytest.raises(OptionError, match="'trace', 'last_turn', 'response'"):
        rubric_judge(judged=mode)
