"""Rows of upstream's CSV, and the refusal of a bad one."""

from typing import Any

import pytest

from moral_evals.loaders.errors import DataError

HEADER = ("DILEMMA", "DILEMMA_SOURCE", "DILEMMA_TYPE", "THEORY", "RUBRIC", "ROLE_DOMAIN", "CONTEXT")


def item(title: str = "Names a duty.", weight: Any = 3, **more: Any) -> dict[str, Any]:
    dimension = more.pop("dimension", "identifying")
    return {
        "annotations": {"rubric_dimension": dimension, **more.pop("annotations", {})},
        "id": more.pop("id", f"id-{title}"),
        "title": title,
        "weight": weight,
        **more,
    }


def row(**cells: Any) -> dict[str, str]:
    """A good row; RUBRIC may be a list of items, written as upstream writes it."""
    rubric = cells.pop("RUBRIC", [item()])
    filled = {
        "DILEMMA": "A human user asks an AI: lie or not?",
        "DILEMMA_SOURCE": "daily_dilemmas",
        "DILEMMA_TYPE": "short_case",
        "THEORY": "neutral",
        "ROLE_DOMAIN": "ai_advisor",
        "CONTEXT": "Sports",
        **cells,
    }
    filled["RUBRIC"] = rubric if isinstance(rubric, str) else repr(rubric)
    return filled


def refusal(read: Any, *rows: dict[str, str], **options: Any) -> str:
    """The message with which a file is refused; one line, as all messages are."""
    with pytest.raises(DataError) as caught:
        read(*rows, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "morebench_public.csv" in message
    return message
