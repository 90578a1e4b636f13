"""A sample's verdicts as a Markdown table, which `inspect view` renders."""

import re
from collections.abc import Mapping, Sequence

from loaders.records import Criterion
from scorers.aggregate import ScenarioScore, Verdict, fulfilled

_WORDS_SHOWN = 240


def rubric_table(
    criteria: Sequence[Criterion],
    verdicts: Mapping[str, Verdict],
    notes: Mapping[str, str],
    score: ScenarioScore,
) -> str:
    """One row a criterion: verdict, whether it earns its weight, dimension, text, judge's words."""
    head = (
        f"Score {score.score:.3f} on {score.graded_share:.0%} of the rubric's weight. "
        "A yes to a criterion of negative weight costs its weight, a no earns it.\n\n"
        "| verdict | weight | earned | dimension | criterion | judge's words |\n"
        "|---|---:|---:|---|---|---|\n"
    )
    return head + "\n".join(_row(c, verdicts, notes) for c in criteria)


def _row(c: Criterion, verdicts: Mapping[str, Verdict], notes: Mapping[str, str]) -> str:
    verdict = verdicts.get(c.id, "ungraded")
    earned = "–"
    if verdict != "ungraded":
        earned = f"{abs(c.weight):g}" if fulfilled(c.weight, verdict) else "0"
    words = [verdict, f"{c.weight:+g}", earned, c.dimension, c.text, notes.get(c.id, "")]
    return "| " + " | ".join(_cell(w) for w in words) + " |"


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) > _WORDS_SHOWN and "…" not in flat:
        flat = flat[:_WORDS_SHOWN] + "…"
    # neither the table nor the page may be steered by what a judge or a rubric says
    return re.sub(r"([|<>\[\]`*_])", r"\\\1", flat)
