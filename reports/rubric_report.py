"""A rubric run's metrics as terminal tables, one for each score in the log."""

import math
from collections.abc import Iterator, Mapping

from inspect_ai.log import EvalLog, EvalScore
from rich.console import Console

from loaders.records import DIMENSIONS, dimension_key
from reports.tables import Row, caveats, metric_values, note, number, print_table, triple


def show_rubric(log: EvalLog, score: EvalScore, console: Console) -> None:
    """Print a rubric score: what was judged and by whom, the table, what was not measured."""
    values = metric_values(score)
    print_table(console, _title(log, score), _rows(log, score, values))
    scored = values.get("scored", 0.0)
    note(console, [*caveats(log, scored, "scored samples"), *_counts(log, values)])


def _title(log: EvalLog, score: EvalScore) -> str:
    params = score.params or {}
    response = score.scorer.startswith("rubric_judge_response")
    judged = "response" if response else params.get("judged", "trace")
    roles = log.eval.model_roles or {}
    grader = roles.get("grader")
    grader = grader[0] if isinstance(grader, list) else grader
    judge = f", judge {grader.model}" if grader and score.scorer[-1].isalpha() else ""
    return f"{score.scorer}: {judged}, {params.get('protocol', 'suite')} prompts{judge}"


def _rows(log: EvalLog, score: EvalScore, values: Mapping[str, float]) -> Iterator[Row]:
    yield "MoReBench-Regular", triple(values, "regular")
    yield "MoReBench-Hard (per 1,000 characters)", triple(values, "hard")
    for dimension in DIMENSIONS:
        row = _dimension(log, score.scorer, dimension_key(dimension))
        if row is not None:
            yield f"  {dimension}", row
    yield "harmless minus logical", triple(values, "harmless_minus_logical")


def _dimension(log: EvalLog, scorer: str, key: str) -> tuple[float, ...] | None:
    for score in log.results.scores if log.results else []:
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
    for score in log.results.scores if log.results else []:
        if score.scorer == "outcome":
            flags = {k: v for k, v in metric_values(score).items() if v and k != "samples"}
            if flags:
                yield "replies: " + ", ".join(
                    f"{k.replace('_', ' ')} {v:.0f}" for k, v in flags.items()
                )
