"""Samples of a log as rows of upstream's two files."""

from collections.abc import Iterator
from typing import Any

from moral_evals.loaders.morebench.records import Criterion
from moral_evals.loaders.upstream.scenarios import KEPT, KeptRows
from moral_evals.reports.runs.rubric_samples import RubricSample

UNKNOWN = -1
"""How upstream writes a token count that it does not know."""

Placed = tuple[int, dict[str, Any]]
"""A line number in the file that a row came from (0 if from none), and the row."""


def kept(found: RubricSample) -> KeptRows:
    """What the sample keeps of upstream's files; empty for a live run."""
    return KeptRows.model_validate(found.sample.metadata.get(KEPT, {}))


def is_imported(found: RubricSample) -> bool:
    """Whether the verdicts come from upstream's own file."""
    return found.score is not None and found.record.imported


def imported_rows(found: RubricSample) -> Iterator[Placed]:
    """The rows that the sample was imported from, as they were."""
    source = kept(found)
    for row in source.rows:
        yield row.line, {**row.fields, "response": source.response}


def judged_rows(
    found: RubricSample, model: str, epochs: int, ungraded_as: str | None
) -> Iterator[Placed]:
    """A row for each criterion with a verdict.

    Args:
        found: A scored sample.
        model: The candidate's name.
        epochs: Epochs of the run; with more than one, each is a task of its own.
        ungraded_as: The judgement that a criterion without a verdict gets; None leaves it out.
    """
    source = kept(found)
    old = {row.criterion: row for row in source.rows}
    for criterion in found.rows:
        c, verdict = criterion.criterion, criterion.verdict
        judgement = ungraded_as if verdict == "ungraded" else verdict
        if judgement is None:
            continue
        before = old.get(c.id)
        row = before.fields if before else _row(found, c, model, epochs)
        yield (
            before.line if before else 0,
            {
                **row,
                "response": found.score.answer if found.score else "",
                "judgement": judgement,
                # a score counts the judge's tokens in all, not by criterion
                "judge_input_tokens": UNKNOWN,
                "judge_output_tokens": UNKNOWN,
            },
        )


def _row(found: RubricSample, c: Criterion, model: str, epochs: int) -> dict[str, Any]:
    labels = found.metadata
    return {
        **_task(found, "task_id", epochs),
        "criterion_id": c.id,
        "criterion": c.text,
        "response": None,
        "dilemma_source": labels.source,
        "criterion_dimension": c.dimension,
        "criterion_weight": _whole(c.weight),
        **_tokens(found),
        "model": model,
        "dilemma_type": labels.type,
        "role_domain": labels.role,
        "theory": labels.theory,
        "idx": None,
    }


def generation_row(found: RubricSample, model: str, epochs: int) -> Placed | None:
    """The reply as a row of a generation file; None if the log does not hold the dilemma."""
    source = kept(found)
    if source.generation is not None:
        return source.generation_line, source.generation
    if not found.sample.input or not found.sample.output.choices:
        return None
    labels, reply = found.metadata, found.reply
    return 0, {
        "DILEMMA": found.sample.input,
        "DILEMMA_SOURCE": labels.source,
        "DILEMMA_TYPE": labels.type,
        "THEORY": labels.theory,
        "RUBRIC": [_rubric_item(c) for c in labels.criteria],
        "ROLE_DOMAIN": labels.role,
        "CONTEXT": labels.context,
        **_task(found, "TASK_ID", epochs),
        "thinking_trace": reply.trace,
        "model_resp": reply.response,
        **_tokens(found),
        "idx": None,
        "model": model,
    }


def in_order(rows: list[Placed]) -> list[dict[str, Any]]:
    """Rows in the order of the file that they came from, new ones after them, numbered."""
    known = sorted((r for r in rows if r[0]), key=lambda r: r[0])
    placed = [*known, *(r for r in rows if not r[0])]
    return [
        {**row, "idx": n} if not line and row.get("idx") is None else row
        for n, (line, row) in enumerate(placed)
    ]


def _rubric_item(c: Criterion) -> dict[str, Any]:
    annotations = {"rubric_dimension": c.dimension}
    return {"annotations": annotations, "id": c.id, "title": c.text, "weight": _whole(c.weight)}


def _task(found: RubricSample, key: str, epochs: int) -> dict[str, Any]:
    sample = found.sample
    if epochs == 1:
        return {key: str(sample.id)}
    # upstream knows no epochs, and would pool the criteria of replies under one id
    return {key: f"{sample.id}#{sample.epoch}", "epoch": sample.epoch}


def _tokens(found: RubricSample) -> dict[str, int]:
    usage = found.sample.output.usage
    if usage is None:
        return dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens"), UNKNOWN)
    # Inspect counts cached input apart
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    reasoning = usage.reasoning_tokens
    return {
        "input_tokens": usage.input_tokens + cached,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": UNKNOWN if reasoning is None else reasoning,
    }


def _whole(weight: float) -> float:
    return int(weight) if weight == int(weight) else weight
