"""A rubric run's metrics as terminal tables, one for each score in the log."""

import math
from collections.abc import Iterator, Mapping

from inspect_ai.log import EvalLog, EvalScore
from rich.console import Console

from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_key
from moral_evals.reports.form.tables import (
    Row,
    caveats,
    metric_values,
    note,
    number,
    print_table,
    triple,
)
from moral_evals.reports.runs.conditions import Conditions
from moral_evals.reports.runs.logs import scores_of


def show_rubric(log: EvalLog, score: EvalScore, conditions: Conditions, console: Console) -> None:
    """Print a rubric score: what was judged and by whom, the table, what was not measured."""
    values = metric_values(score)
    print_table(console, _title(score, conditions), _rows(log, score, values))
    scored = values.get("scored", 0.0)
    remarks = [*caveats(log, scored, "scored samples"), *_mode(conditions), *_counts(log, values)]
    note(console, remarks)
    if panel := list(_panel(values)):
        note(console, panel)


def _title(score: EvalScore, conditions: Conditions) -> str:
    protocol = (score.params or {}).get("protocol") or conditions.protocol.partition(" ")[0]
    judge = conditions.judge or "not recorded"
    return f"{score.scorer}: {conditions.judged}, {protocol or 'suite'} prompts, judge {judge}"


def _rows(log: EvalLog, score: EvalScore, values: Mapping[str, float]) -> Iterator[Row]:
    yield "MoReBench-Regular", triple(values, "regular")
    yield "MoReBench-Hard (per 1,000 characters)", triple(values, "hard")
    for dimension in DIMENSIONS:
        row = _dimension(log, score.scorer, dimension_key(dimension))
        if row is not None:
            yield f"  {dimension}", row
    yield "harmless minus logical", triple(values, "harmless_minus_logical")
    if values.get("refusal_rate"):
        yield "refusals, share of replies", triple(values, "refusal_rate")
        yield "  Regular without them", triple(values, "regular_answered")
        yield "  Regular with each as 0", triple(values, "regular_refusals_zero")


def _mode(conditions: Conditions) -> Iterator[str]:
    if conditions.judge_mode.startswith("rubric"):
        yield (
            "judged by whole rubrics: not comparable with the paper unless "
            "`moral-reports judge-modes` shows the agreement"
        )


def _panel(values: Mapping[str, float]) -> Iterator[str]:
    """How far the judges agree, if there are several or one was asked several times."""
    if "alpha" in values:
        yield f"Krippendorff's alpha {number(values['alpha'])}"
    for name, value in values.items():
        kind, _, who = name.partition(".")
        if kind in ("kappa", "flip_rate") and not name.endswith(("_lower", "_upper")):
            yield f"{kind.replace('_', ' ')} {who.replace('|', ' and ')} {number(value)}"
    if "no_majority_share" in values:
        yield f"without a majority {values['no_majority_share']:.1%}"
        yield f"votes missing {values['votes_missing_share']:.1%}"


def _dimension(log: EvalLog, scorer: str, key: str) -> tuple[float, ...] | None:
    for score in scores_of(log):
        if score.scorer == scorer and score.name.endswith(key) and "average" in score.metrics:
            values = metric_values(score)
            names = ("average", "interval_lower", "interval_upper")
            return tuple(values.get(name, math.nan) for name in names)
    return None


def _counts(log: EvalLog, values: Mapping[str, float]) -> Iterator[str]:
    total = log.results.total_samples if log.results else 0
    yield f"scored {values.get('scored', 0):.0f} of {total}"
    yield f"graded share of rubric weight {number(values.get('graded_share', math.nan))}"
    unscored = {k: v for k, v in values.items() if k.startswith("unscored_") and v}
    if unscored:
        reasons = (
            f"{k.removeprefix('unscored_').replace('_', ' ')} {v:.0f}" for k, v in unscored.items()
        )
        yield "unscored: " + ", ".join(reasons)
    seen = values.get("scored", 0) + values.get("unscored", 0)
    if total > seen:
        yield f"lost in judging or before: {total - seen:.0f}"
    for score in scores_of(log):
        if score.scorer == "outcome":
            flags = {k: v for k, v in metric_values(score).items() if v and k != "samples"}
            if flags:
                yield "replies: " + ", ".join(
                    f"{k.replace('_', ' ')} {v:.0f}" for k, v in flags.items()
                )
