"""A rubric run's metrics as tables, one for each score in the log."""

import math
from collections.abc import Iterator, Mapping, Sequence

from inspect_ai.log import EvalLog, EvalScore

from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_key
from moral_evals.reports.form.document import Cell, Table, number
from moral_evals.reports.form.tables import caveats, interval_of, metric_values
from moral_evals.reports.runs.conditions import Conditions
from moral_evals.reports.runs.logs import scores_of
from moral_evals.reports.runs.rubric_runs import runs_of
from moral_evals.scorers.stats.bootstrap import Interval

BY = ("role", "source", "type", "context", "theory", "weight", "dimension")


def holds(score: EvalScore) -> bool:
    """Whether a score is a rubric's."""
    return "regular" in score.metrics


def figures(log: EvalLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
    """The figures of a rubric score, with what was judged and by whom, and what is missing."""
    values = metric_values(score)
    (conditions,) = (run.conditions for run in runs_of(log) if run.scorer == score.scorer)
    scored = values.get("scored", 0.0)
    remarks = [*caveats(log, scored, "scored samples"), *_mode(conditions), *_counts(log, values)]
    notes = ["; ".join(part) for part in (remarks, list(_panel(values))) if part]
    rows = list(_rows(log, score, values))
    return [Table(score.scorer, _title(score, conditions), ["figure", "value"], rows, notes)]


def _title(score: EvalScore, conditions: Conditions) -> str:
    protocol = (score.params or {}).get("protocol") or conditions.protocol.partition(" ")[0]
    judge = conditions.judge or "not recorded"
    return f"{score.scorer}: {conditions.judged}, {protocol or 'suite'} prompts, judge {judge}"


def _rows(log: EvalLog, score: EvalScore, values: Mapping[str, float]) -> Iterator[Sequence[Cell]]:
    yield "MoReBench-Regular", interval_of(values, "regular")
    yield "MoReBench-Hard (per 1,000 characters)", interval_of(values, "hard")
    for dimension in DIMENSIONS:
        row = _dimension(log, score.scorer, dimension_key(dimension))
        if row is not None:
            yield f"  {dimension}", row
    yield "harmless minus logical", interval_of(values, "harmless_minus_logical")
    if values.get("refusal_rate"):
        yield "refusals, share of replies", interval_of(values, "refusal_rate")
        yield "  Regular without them", interval_of(values, "regular_answered")
        yield "  Regular with each as 0", interval_of(values, "regular_refusals_zero")


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


def _dimension(log: EvalLog, scorer: str, key: str) -> Interval | None:
    for score in scores_of(log):
        if score.scorer == scorer and score.name.endswith(key) and "average" in score.metrics:
            values = metric_values(score)
            lower, upper = values["interval_lower"], values["interval_upper"]
            return Interval(values["average"], lower, upper, 0)
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
