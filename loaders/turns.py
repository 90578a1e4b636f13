"""A reply that took several turns, as an agent's does: its reasoning over all of them, in order.

What belongs to the candidate's reasoning is what the model itself sent as reasoning in each turn,
and which tools it called in between. Results of tools are not the candidate's, and text beside a
tool call is addressed to nobody: neither is part of the trace. The response is the last turn's.
"""

from collections.abc import Sequence
from dataclasses import replace

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ModelOutput,
)
from inspect_ai.tool import ToolCall

from moral_evals.loaders.model_text import whole_characters
from moral_evals.loaders.reply import Reply, TraceKind, read_reply

_LEAST_DIRECT_FIRST: tuple[TraceKind, ...] = ("elicited", "summary", "raw")
_ARGUMENTS_SHOWN = 120


def read_turns(messages: Sequence[ChatMessage], output: ModelOutput, api: str = "") -> Reply:
    """Take a reply of any number of turns apart; of a single one it is `read_reply`.

    The trace of several turns has a line `[turn n]` before each turn's reasoning and a line
    `[calls NAME(ARGUMENTS)]` for each tool call of an earlier turn. Its kind is the least direct
    of those that occur: raw thoughts beside a summary count as a summary.

    Args:
        messages: Of the sample, input included.
        output: Of the last turn.
        api: As in `read_reply`.
    """
    last = read_reply(output, api)
    earlier = _earlier(messages, output)
    if not earlier:
        return last
    turns = [*(read_reply(_output(m), api) for m in earlier), last]
    kinds = {t.trace_kind for t in turns}
    if not any(t.trace for t in turns):
        return replace(last, trace_kind="redacted" if "redacted" in kinds else "none")
    calls = [*(_calls(m) for m in earlier), []]
    told = [
        "\n".join([f"[turn {n}]", *([turn.trace] if turn.trace else []), *made])
        for n, (turn, made) in enumerate(zip(turns, calls, strict=True), 1)
        if turn.trace or made
    ]
    kind = next(k for k in _LEAST_DIRECT_FIRST if k in kinds)
    return replace(last, trace="\n\n".join(told), trace_kind=kind)


def _earlier(messages: Sequence[ChatMessage], output: ModelOutput) -> list[ChatMessageAssistant]:
    """What the model said before its last turn; neither input nor what a solver put in its mouth."""
    said = [m for m in messages if isinstance(m, ChatMessageAssistant) and m.source == "generate"]
    if not said or not output.choices:
        return said
    last = output.choices[0].message
    places = [i for i, m in enumerate(said) if m.id is not None and m.id == last.id]
    # an output that a solver made anew has another id; it stands for the last message
    return said[: places[-1] if places else -1]


def _output(message: ChatMessageAssistant) -> ModelOutput:
    choice = ChatCompletionChoice(message=message, stop_reason="stop")
    return ModelOutput(model=message.model or "", choices=[choice])


def _calls(message: ChatMessageAssistant) -> list[str]:
    return [f"[calls {_call(c)}]" for c in message.tool_calls or []]


def _call(call: ToolCall) -> str:
    given = ", ".join(f"{k}={v!r}" for k, v in call.arguments.items())
    if len(given) > _ARGUMENTS_SHOWN:
        given = given[:_ARGUMENTS_SHOWN] + "…"
    return whole_characters(f"{call.function}({given})")
