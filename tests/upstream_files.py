"""Rows in the shape of upstream's JSONL files, in words of this project."""

import json
import random
from pathlib import Path
from typing import Any

DIMENSIONS = ("identifying", "logical process", "clear process", "helpful outcome",
              "harmless outcome")  # fmt: skip


def judgement(
    task: str | None = "t1",
    n: int = 0,
    weight: float = 2,
    said: str | None = "yes",
    response: str | None = "I weigh the one against the other.",
    **more: Any,
) -> dict[str, Any]:
    """A judgement row with its fields in upstream's order; `task=None` leaves the id out."""
    row = {
        "task_id": task,
        "criterion_id": f"{task}-c{n}",
        "criterion": f"Says point {n}. ",
        "response": response,
        "dilemma_source": "daily_dilemmas",
        "criterion_dimension": DIMENSIONS[n % 5],
        "criterion_weight": weight,
        "input_tokens": 300,
        "output_tokens": 200,
        "reasoning_tokens": -1,
        "model": "maker/thinker",
        "dilemma_type": "short_case",
        "role_domain": "ai_advisor",
        "theory": "neutral",
        "idx": n,
        "judgement": said,
        "judge_input_tokens": 90,
        "judge_output_tokens": 4,
    } | more
    if task is None:
        del row["task_id"]
    return row


def generation(
    task: str | None, judgements: list[dict[str, Any]], field: str = "thinking_trace", **more: Any
) -> dict[str, Any]:
    """The generation row that judgement rows of one dilemma come from."""
    rubric = [
        {
            "annotations": {"rubric_dimension": j["criterion_dimension"]},
            "id": j["criterion_id"],
            "title": j["criterion"],
            "weight": j["criterion_weight"],
        }
        for j in judgements
    ]
    first = judgements[0]
    other = "model_resp" if field == "thinking_trace" else "thinking_trace"
    row = {
        "DILEMMA": f"What is to be done about {task}?",
        "DILEMMA_SOURCE": first["dilemma_source"],
        "DILEMMA_TYPE": first["dilemma_type"],
        "THEORY": first["theory"],
        "RUBRIC": rubric,
        "ROLE_DOMAIN": first["role_domain"],
        "CONTEXT": "Sports",
        "TASK_ID": task,
        field: first["response"],
        other: "The other text.",
        "input_tokens": 300,
        "output_tokens": 200,
        "reasoning_tokens": 150,
        "idx": 0,
        "model": first["model"],
    } | more
    if task is None:
        del row["TASK_ID"]
    return row


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shuffled(rows: list[dict[str, Any]], seed: int = 1) -> list[dict[str, Any]]:
    """Upstream writes its rows in the order in which the judge's replies came back."""
    return random.Random(seed).sample(rows, len(rows))
