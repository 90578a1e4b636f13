"""One question to one judge: the cache, bounded retries, and what came of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from logging import getLogger
from typing import Generic, TypeVar

from inspect_ai.model import ChatMessage, Model, ModelOutput
from inspect_ai.util import trace_message
from tenacity import RetryError

from moral_evals.loaders.errors import PrerequisiteError
from moral_evals.loaders.faults import CallsStopped, gate
from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.judging.in_flight import alone
from moral_evals.scorers.judging.panel import Ballot
from moral_evals.scorers.judging.verdict_store import StoredReply
from moral_evals.scorers.rubric.record import Given

logger = getLogger(__name__)

_CUT = ("max_tokens", "model_length")

T = TypeVar("T")
Read = Callable[[str, bool], T | None]
"""Reads a reply; the flag says that it was cut off. None if there is nothing to be read."""


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a question came to.

    Attributes:
        value: What the reader made of the reply; None if no reply could be read.
        reply: The reply that was read, or the last one that could not be.
        cached: The verdict cache held it.
        reason: Why none could be, from `judge_empty`, `judge_truncated`, `judge_refused` and
            `judge_unclear`.
    """

    value: T | None
    reply: str = ""
    cached: bool = False
    reason: str = ""


@dataclass
class Judge:
    """A judge model, how often it may be asked, and the ballot that it fills.

    Attributes:
        model: The judge.
        attempts: Replies asked for at most until one can be read.
        cache: Where readable replies are kept, or None.
        ballot: Takes the verdicts, and counts retries, calls and tokens, and as `saved_*` those
            that the cache spared.
        since: When the scorer of this run was made, by `time.monotonic`.
        given: What the judge said of the same text in an earlier scoring, by criterion id.
    """

    model: Model
    attempts: int
    cache: VerdictCache | None
    ballot: Ballot
    since: float = field(default_factory=time.monotonic)
    given: Mapping[str, Given] = field(default_factory=dict)

    def look_up(
        self, conversations: Sequence[Sequence[ChatMessage]]
    ) -> list[tuple[str, StoredReply | None]]:
        """Key and stored reply of each question, by one look-up for all."""
        if self.cache is None:
            return [("", None) for _ in conversations]
        keys = self.cache.keys(conversations)
        found = self.cache.get(keys)
        return [(key, found.get(key)) for key in keys]

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        read: Read[T],
        key: str = "",
        stored: StoredReply | None = None,
    ) -> Answer[T]:
        """Ask until a reply can be read; raises what the last call raised if it failed for good.

        Args:
            messages: The question.
            read: Reads a reply.
            key: Of the question in the cache; empty without a cache.
            stored: What the cache holds of it.
        """
        if answer := self._from_cache(stored, read):
            return answer
        async with alone(key) as waited:
            # another sample, or a run beside this one, may have just asked the same
            fresh = self.cache.get([key]).get(key) if self.cache and waited else None
            return self._from_cache(fresh, read) or await self._call(messages, read, key)

    def _from_cache(self, stored: StoredReply | None, read: Read[T]) -> Answer[T] | None:
        if stored is None or (value := read(stored.reply, False)) is None:
            return None
        self.ballot.usage.update(_saved(stored.usage))
        return Answer(value, stored.reply, cached=True)

    async def _call(self, messages: Sequence[ChatMessage], read: Read[T], key: str) -> Answer[T]:
        reason, reply, door = (
            "",
            "",
            gate(f"judge {self.model} {self.model.api.base_url}", self.since),
        )
        for attempt in range(self.attempts):
            last = attempt + 1 == self.attempts
            try:
                with door.asking(self.since):
                    output = await self.model.generate(list(messages), cache=False)
            except CallsStopped:
                raise
            except Exception as error:
                # Inspect has spent its own retries on these; more would only multiply them.
                spent = last or isinstance(error, RetryError | PrerequisiteError)
                if not door.failed(error) or spent:
                    raise
                self.ballot.retries += 1
                continue
            door.answered()
            tokens = _count(output)
            self.ballot.usage.update(tokens)
            value, reason = _read(output, read)
            reply = output.completion
            if value is not None:
                if self.cache and output.stop_reason not in _CUT:
                    self.cache.put(key, reply, tokens)
                return Answer(value, reply)
            self.ballot.retries += not last
            trace_message(logger, "Judge", f"{reason}, attempt {attempt + 1}")
        return Answer(None, reply, reason=reason)


def _read(output: ModelOutput, read: Read[T]) -> tuple[T | None, str]:
    """What the reader makes of an output, or None and a word that says why there is nothing."""
    if not output.choices:
        return None, "judge_empty"
    stop, reply = output.stop_reason, output.completion
    if stop == "content_filter" or any(
        getattr(part, "refusal", None) for part in output.message.content_list
    ):
        return None, "judge_refused"
    cut = stop in _CUT
    if not reply.strip():
        return None, "judge_truncated" if cut else "judge_empty"
    value = read(reply, cut)
    if value is not None:
        return value, ""
    return None, "judge_truncated" if cut else "judge_unclear"


def _saved(usage: dict[str, int]) -> dict[str, int]:
    kept = {f"saved_{k}": usage.get(k, 0) for k in ("input_tokens", "output_tokens")}
    return {"saved_calls": 1, **kept}


def _count(output: ModelOutput) -> dict[str, int]:
    tokens = {"calls": 1}
    if usage := output.usage:
        tokens |= {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_input_tokens": usage.input_tokens_cache_read or 0,
            "reasoning_tokens": usage.reasoning_tokens or 0,
        }
        if written := usage.input_tokens_cache_write:
            tokens["cache_write_input_tokens"] = written
    return tokens
