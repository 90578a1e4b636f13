"""Small MoReBench data sets whose figures are easy to work out."""

import json
from pathlib import Path
from typing import Any

from moral_evals.loaders.morebench.records import DIMENSIONS


def rubric(weights: list[float]) -> list[dict[str, Any]]:
    """Criteria of these weights, ids c0, c1, ..."""
    return [
        {"id": f"c{i}", "text": f"Says point {i}.", "weight": w, "dimension": DIMENSIONS[i % 5]}
        for i, w in enumerate(weights)
    ]


def one_case(tmp_path: Path, weights: list[float], name: str = "case.jsonl") -> str:
    """A data set of one dilemma with these weights, criterion ids c0, c1, ..."""
    return cases(tmp_path, weights, [{"id": "only", "dilemma": "What now?"}], name)


def cases(
    tmp_path: Path, weights: list[float], rows: list[dict[str, str]], name: str = "cases.jsonl"
) -> str:
    """A data set of several dilemmas with the same rubric."""
    shared = {"schema_version": "dilemma-1", "role": "ai_agent", "criteria": rubric(weights)}
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(shared | row) for row in rows), encoding="utf-8")
    return str(path)
