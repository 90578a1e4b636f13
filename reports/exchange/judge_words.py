"""The judge's replies, from the transcripts of a log's samples."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage

from moral_evals.reports.runs.logs import FoundLog
from moral_evals.reports.runs.rubric_samples import RubricSample, rubric_samples, rubric_scorers


def judge_words(log: FoundLog) -> Iterator[dict[str, Any]]:
    """A row for each reply to a question about a criterion, in the order of the transcript.

    A whole rubric's reply makes a row for each of its criteria. A verdict from the cache, or of a
    scoring that left no transcript, has none.
    """
    for found in rubric_samples(log.location, log.header, rubric_scorers(log.header)):
        if found.score is not None and found.score.answer:
            yield from _rows(found, found.score.answer)


def _rows(found: RubricSample, judged: str) -> Iterator[dict[str, Any]]:
    times: Counter[str] = Counter()
    for asked, event in _questions(found.sample):
        if judged not in asked:
            continue
        after = asked.rpartition(judged)[2]  # a criterion's text may stand in what is judged
        lines = after.splitlines()
        for c in found.metadata.criteria:
            alone = after.rstrip().endswith(c.text.strip())
            listed = any(_item(line) == " ".join(c.text.split()) for line in lines)
            if alone or listed:
                times[c.id] += 1
                yield {
                    "scorer": found.scorer,
                    "sample_id": found.sample.uuid,
                    "epoch": found.sample.epoch,
                    "scenario_id": str(found.sample.id),
                    "criterion_id": c.id,
                    "judge": event.model,
                    "reply_number": times[c.id],
                    "reply": event.output.completion,
                }


def _questions(sample: EvalSample) -> Iterator[tuple[str, ModelEvent]]:
    """What a model was asked last, with the reply."""
    for event in sample.events:
        if isinstance(event, ModelEvent) and event.input and event.output.choices:
            yield _whole(event.input[-1]), event


def _whole(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(getattr(part, "text", "") for part in message.content)


def _item(line: str) -> str:
    """A numbered line without its number."""
    number, dot, text = line.partition(". ")
    return text if dot and number.isdigit() else ""
