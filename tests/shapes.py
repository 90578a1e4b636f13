"""Model outputs in the shapes that Inspect makes of real providers' payloads.

Each builder takes a provider's payload and runs Inspect's own parser on it (private helpers, on
purpose: they are what a run goes through). Google's messages are built by hand, since google-genai
is no dependency. Every output carries usage: without it Inspect would fetch a tokenizer.
"""

from typing import Any

from anthropic.types import RedactedThinkingBlock, TextBlock, ThinkingBlock
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.model._assistant_internal import init_sample_assistant_internal
from inspect_ai.model._openai import chat_message_assistant_from_openai
from inspect_ai.model._openai_responses import reasoning_from_responses_reasoning
from inspect_ai.model._providers.anthropic import (
    content_and_tool_calls_from_assistant_content_blocks,
)
from inspect_ai.model._providers.openrouter import OpenRouterAPI
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.responses import ResponseReasoningItem

ANSWER = "ANS"


def output(
    message: str | list[Content] | ChatMessageAssistant,
    stop: StopReason = "stop",
    error: str | None = None,
) -> ModelOutput:
    """A model output of one choice, with usage."""
    if not isinstance(message, ChatMessageAssistant):
        message = ChatMessageAssistant(content=message)
    return ModelOutput(
        model="test/model",
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2),
        error=error,
    )


def no_choices(error: str | None = None) -> ModelOutput:
    """What is left when a limit or an error came before any reply."""
    usage = ModelUsage(input_tokens=1, output_tokens=0, total_tokens=1)
    return ModelOutput(model="test/model", choices=[], usage=usage, error=error)


def openai_compatible(stop: StopReason = "stop", **message: Any) -> ModelOutput:
    """A chat completion's message (vLLM, DeepSeek, any OpenAI-compatible server)."""
    payload = {"role": "assistant", "content": None, **message}
    parsed = ChatCompletionMessage.model_validate(payload)
    return output(chat_message_assistant_from_openai("m", parsed, []), stop)


def text_detail(text: str, **more: Any) -> dict[str, Any]:
    """OpenRouter's detail of a raw reasoning text."""
    return {"type": "reasoning.text", "text": text, **more}


def summary_detail(text: str, **more: Any) -> dict[str, Any]:
    """OpenRouter's detail of a summary."""
    return {"type": "reasoning.summary", "summary": text, **more}


def openrouter(*details: dict[str, Any], content: str | None = ANSWER) -> ModelOutput:
    """A chat completion of OpenRouter with `reasoning_details`."""
    message = {
        "role": "assistant",
        "content": content,
        "reasoning": "the flat field, which loses the kinds",
        "reasoning_details": list(details),
    }
    choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}
    completion = ChatCompletion.model_validate(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )
    api = OpenRouterAPI("openai/gpt-oss-120b", api_key="none")
    return output(api.chat_choices_from_completion(completion, [])[0].message)


def openai_responses(*items: dict[str, Any]) -> ModelOutput:
    """Reasoning items of OpenAI's Responses API, then an answer."""
    blocks = [
        reasoning_from_responses_reasoning(
            ResponseReasoningItem.model_validate(
                {"id": f"rs_{i}", "type": "reasoning", "summary": [], **item}
            )
        )
        for i, item in enumerate(items, 1)
    ]
    return output([*blocks, ContentText(text=ANSWER)])


def summaries(*texts: str) -> list[dict[str, str]]:
    """The `summary` field of a Responses reasoning item."""
    return [{"type": "summary_text", "text": text} for text in texts]


def contents(*texts: str) -> list[dict[str, str]]:
    """The `content` field of a Responses reasoning item."""
    return [{"type": "reasoning_text", "text": text} for text in texts]


def anthropic(*blocks: ThinkingBlock | RedactedThinkingBlock | TextBlock) -> ModelOutput:
    """Content blocks of Anthropic's Messages API."""
    init_sample_assistant_internal()
    content, _ = content_and_tool_calls_from_assistant_content_blocks(blocks, [])
    return output(list(content))


def thinking(text: str, signature: str = "EqABc2lnbmF0dXJl") -> ThinkingBlock:
    return ThinkingBlock(type="thinking", thinking=text, signature=signature)


def redacted_thinking(data: str = "b3BhcXVl") -> RedactedThinkingBlock:
    return RedactedThinkingBlock(type="redacted_thinking", data=data)


def says(text: str = ANSWER) -> TextBlock:
    return TextBlock(type="text", text=text)


def google(*blocks: ContentReasoning) -> ModelOutput:
    """Google's message as Inspect builds it: thoughts, then an answer."""
    return output([*blocks, ContentText(text=ANSWER)])


def google_thought(summary: str) -> ContentReasoning:
    """A thought without signature: a summary, though nothing in the block says so."""
    return ContentReasoning(reasoning=summary)


def google_signed(summary: str | None = None) -> ContentReasoning:
    """A thought whose signature came with the answer; the signature takes the text's place."""
    return ContentReasoning(reasoning="c2lnbmF0dXJl", summary=summary, redacted=True)
