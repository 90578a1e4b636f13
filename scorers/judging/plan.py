"""How many judge calls a run will make, and how large: built from the real prompts, none sent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage

from moral_evals.loaders.morebench.records import Criterion
from moral_evals.loaders.tables.judge_pairs import Attack, attacked_text
from moral_evals.scorers.judging.judge import asked_order, chunks
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.prompt import (
    declined_statement,
    judge_messages,
    judge_prompt,
    rubric_messages,
)


@dataclass(frozen=True)
class Calls:
    """Calls and characters.

    Attributes:
        calls: Number of calls.
        chars_in: Characters sent.
        chars_out: Characters that come back.
        repeated: Of those sent, the characters of openings that an earlier call had too.
    """

    calls: int = 0
    chars_in: float = 0
    chars_out: float = 0
    repeated: float = 0

    def __add__(self, other: "Calls") -> "Calls":
        """Both together."""
        return Calls(
            self.calls + other.calls,
            self.chars_in + other.chars_in,
            self.chars_out + other.chars_out,
            self.repeated + other.repeated,
        )

    def times(self, n: int) -> "Calls":
        """The same n times over."""
        return Calls(self.calls * n, self.chars_in * n, self.chars_out * n, self.repeated * n)


def planned_calls(
    samples: Sequence[Sample],
    text_chars: Sequence[int],
    options: JudgeOptions,
    reply_chars: float,
    refusal_chars: int | None = None,
) -> Calls:
    """Calls of one judge over samples with `criteria`, or with the `pairs` of judge_agreement.

    Args:
        samples: What is to be judged.
        text_chars: Assumed size of each judged text of a sample; the pairs bring their own text.
        options: How they are judged.
        reply_chars: Characters that the judge writes in a call, its reasoning included.
        refusal_chars: Assumed size of the text that is shown with the question whether it
            declines, put once for each judged text; None for no such question.
    """
    total = Calls()
    for sample in samples:
        metadata = sample.metadata or {}
        for text in _texts(metadata, text_chars):
            conversations = _conversations(_criteria(metadata), text, options)
            total += _sum(conversations, len(text), reply_chars * len(conversations))
            if refusal_chars is not None:
                shown = "x" * refusal_chars
                asked = judge_messages(judge_prompt(options), shown, [declined_statement()])
                total += _sum(asked, refusal_chars, reply_chars)
    return total.times(options.votes)


def most_calls(
    samples: Sequence[Sample],
    text_chars: Sequence[int],
    options: JudgeOptions,
    refusal_chars: int | None = None,
) -> Calls:
    """The most calls of one judge: no reply can be read until the last attempt at each question.

    Arguments as in `planned_calls`. In mode `rubric` each criterion is then asked alone as well.
    """
    total = planned_calls(samples, text_chars, options, 0, refusal_chars)
    if options.judge_mode == "rubric":
        alone = replace(options, judge_mode="criterion")
        total += planned_calls(samples, text_chars, alone, 0)
    return total.times(options.judge_attempts)


def _conversations(
    criteria: Sequence[Criterion], text: str, options: JudgeOptions
) -> list[list[ChatMessage]]:
    if options.judge_mode == "criterion":
        return judge_messages(judge_prompt(options), text, [c.text for c in criteria])
    order = asked_order(criteria, options.rubric_seed)
    return [
        rubric_messages(text, [c.text for c in chunk], options.own_prompt)
        for chunk in chunks(order, options.rubric_chunk)
    ]


def _sum(conversations: Sequence[Sequence[ChatMessage]], text: int, written: float) -> Calls:
    sizes = [sum(len(m.text) for m in messages) for messages in conversations]
    # all calls but the first open with the judged text again
    return Calls(len(sizes), sum(sizes), written, text * max(len(sizes) - 1, 0))


def _texts(metadata: dict[str, Any], text_chars: Sequence[int]) -> list[str]:
    if "pairs" in metadata:
        text = str(metadata["text"])
        attack = metadata.get("attack")
        return [text, attacked_text(text, Attack.model_validate(attack))] if attack else [text]
    return ["x" * n for n in text_chars]


def _criteria(metadata: dict[str, Any]) -> list[Criterion]:
    if "pairs" in metadata:
        pairs = metadata["pairs"]
        return [
            Criterion(id=p["pair_id"], text=p["criterion"], weight=1, dimension="other")
            for p in pairs
        ]
    return [Criterion.model_validate(c) for c in metadata.get("criteria", [])]
