"""Reading a model's reply: which text is the thinking trace, of what kind, and which the response.

Inspect's `ContentReasoning.reasoning` is often not readable text: it may hold a signature, an
encrypted blob, or only the last of several blocks. Nothing here joins that field blindly.
"""

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from inspect_ai.model import ContentReasoning, ContentText, ModelOutput

from moral_evals.loaders.model_text import whole_characters
from moral_evals.loaders.thinking import split_thinking

TraceKind = Literal["raw", "summary", "elicited", "redacted", "none"]
"""Where a thinking trace comes from.

`raw` is the provider's own reasoning text, `summary` the provider's summary of it, `elicited`
text that the prompt asked for in tags, `redacted` reasoning that exists but cannot be read.
"""

_OPENROUTER_DETAILS = "reasoning-details://"
# OpenRouter marks these as text, but what the two providers send is a summary.
_SUMMARISED_FORMATS = ("anthropic-claude-v1", "google-gemini-v1")
# Google's thoughts are summaries although nothing in the message says so.
_SUMMARISING_APIS = ("google", "vertex")
_TEXT_KEYS = ("text", "thinking", "summary", "reasoning_content", "reasoning", "content")

_DEEPEST = 30

_Part = tuple[str, TraceKind]


@dataclass(frozen=True)
class Reply:
    """A candidate's reply, taken apart.

    Attributes:
        trace: The thinking trace, all blocks joined by a blank line; empty if there is none.
        trace_kind: Where the trace comes from.
        response: The final text without any thinking.
        stop_reason: Inspect's stop reason; `none` if the reply holds no choice at all.
        truncated: The reply was cut at a token limit.
        refused: The provider marks the reply as a refusal or filtered it.
        error: The provider's error that came in place of a reply.
        unclosed: Thinking in the text whose end is not marked; part of `trace` as well.
    """

    trace: str
    trace_kind: TraceKind
    response: str
    stop_reason: str
    truncated: bool = False
    refused: bool = False
    error: str = ""
    unclosed: str = ""


def read_reply(output: ModelOutput, api: str = "") -> Reply:
    """Take a model's output apart.

    Args:
        output: As Inspect parsed it, live or from a log.
        api: Inspect's provider name (`state.model.api`), needed to tell Google's summaries.
    """
    # not `output.empty`: `output.message` raises when a limit left no choice
    if not output.choices:
        return Reply("", "none", "", "none", error=whole_characters(output.error or ""))
    choice = output.choices[0]
    content = choice.message.content
    blocks = [ContentText(text=content)] if isinstance(content, str) else content
    texts = [b for b in blocks if isinstance(b, ContentText)]
    parts = [p for b in blocks if isinstance(b, ContentReasoning) for p in _block(b, api)]
    said = split_thinking("\n".join(t.text for t in texts if not _is_refusal(t)))
    # Inspect repeats a block that nothing follows
    if said.thought and (said.thought, "raw") not in parts:
        parts.append((said.thought, "raw"))
    refusal = "\n".join(t.text for t in texts if _is_refusal(t))
    trace, kind = _trace(parts, said.elicited)
    response = whole_characters(said.response)
    unknown = "" if choice.stop_reason != "unknown" else response or "unknown"
    return Reply(
        trace=whole_characters(trace),
        trace_kind=kind,
        response=response or whole_characters(refusal),
        stop_reason=choice.stop_reason,
        truncated=choice.stop_reason in ("max_tokens", "model_length"),
        refused=choice.stop_reason == "content_filter" or bool(refusal),
        error=whole_characters(output.error or unknown),
        unclosed=whole_characters(said.unclosed),
    )


def _trace(parts: list[_Part], tagged: str) -> tuple[str, TraceKind]:
    for kind in ("raw", "summary"):
        readable = [text for text, k in parts if k == kind]
        if readable:
            return _join(readable), kind
    if tagged:
        return tagged, "elicited"
    return "", "redacted" if parts else "none"


def _block(block: ContentReasoning, api: str) -> list[_Part]:
    if block.signature and block.signature.startswith(_OPENROUTER_DETAILS):
        try:
            details = json.loads(block.signature.removeprefix(_OPENROUTER_DETAILS))
        except (ValueError, RecursionError):
            details = None
        if isinstance(details, list):
            return _openrouter_parts(details)
    if block.summary and block.summary.strip() and (block.redacted or not block.reasoning.strip()):
        return [(block.summary.strip(), "summary")]
    if block.redacted:
        return [("", "redacted")]
    if not block.reasoning.strip():
        # OpenAI keeps reasoning on its side and says only that there was some
        return [("", "redacted")] if block.signature else []
    text = unwrap_payload(block.reasoning)
    if not text:
        return [("", "redacted")]
    return [(text, "summary" if api in _SUMMARISING_APIS else "raw")]


def _openrouter_parts(details: list[Any]) -> list[_Part]:
    parts: list[_Part] = []
    for detail in details:
        if not isinstance(detail, dict):
            continue
        if detail.get("type") == "reasoning.summary":
            text, kind = detail.get("summary"), "summary"
        else:
            text = detail.get("text")
            summarised = detail.get("format") in _SUMMARISED_FORMATS or detail.get("signature")
            kind = "summary" if summarised else "raw"
        if isinstance(text, str) and text.strip():
            parts.append((text.strip(), kind))  # type: ignore[arg-type]
        else:
            parts.append(("", "redacted"))
    return parts


def unwrap_payload(reasoning: str) -> str:
    """The prose in a reasoning field that holds a serialised list or object; prose as it is.

    Empty if the payload carries no readable text.
    """
    text = reasoning.strip()
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return text
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        try:
            payload = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text  # prose that happens to stand in brackets
    return _join(_texts(payload))


def _texts(payload: Any, depth: int = 0) -> Iterable[str]:
    if depth > _DEEPEST:
        return
    if isinstance(payload, str):
        yield payload
    elif isinstance(payload, list | tuple):
        for item in payload:
            yield from _texts(item, depth + 1)
    elif isinstance(payload, dict):
        value = next((payload[k] for k in _TEXT_KEYS if payload.get(k)), None)
        yield from _texts(value, depth + 1)


def _is_refusal(block: ContentText) -> bool:
    return bool(block.refusal)


def _join(texts: Iterable[str]) -> str:
    return "\n\n".join(t.strip() for t in texts if t.strip())
