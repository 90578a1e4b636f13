"""What a reader of any rubric report must know: the judge, the data, traces, too few samples."""

import re
from collections.abc import Sequence
from itertools import combinations

from moral_evals.reports.form.tables import metric_values
from moral_evals.reports.runs.conditions import UNJUDGED, Conditions
from moral_evals.reports.runs.logs import scores_of, shown_name
from moral_evals.reports.runs.naming import Run, same_answers
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.kinship import kin
from moral_evals.scorers.stats.bootstrap import SMALL_N

_TRACE = "trace_"
UNCONTRASTED = "Two scorings of the same answers are not contrasted: no model differs."


def trace_mark(run: RubricRun) -> str:
    """The kind of trace of the scored samples; where none was scored, of the replies."""
    if run.scored:
        return run.trace
    for score in scores_of(run.log):
        if score.scorer == "outcome":
            seen = {k: v for k, v in metric_values(score).items() if k.startswith(_TRACE) and v}
            return ", ".join(k.removeprefix(_TRACE) for k in seen) or "unknown"
    return "unknown"


def trace_kinds(runs: Sequence[RubricRun]) -> list[str]:
    """All kinds of trace among the scored samples of some runs, sorted."""
    return sorted({kind for run in runs for kind, n in run.traces.items() if n})


def shared_remarks(runs: Sequence[RubricRun], names: Sequence[str], judged: str = "") -> list[str]:
    """Remarks that hold for every table of a report.

    Args:
        runs: Comparable runs, at least one.
        names: Their names in the report.
        judged: What was judged, if more than the runs say.
    """
    first = runs[0].conditions
    remarks = [f"Judge {first.judge}; {judged or first.judged} judged; data {first.data}."]
    if len(kinds := trace_kinds(runs)) > 1:
        remarks.append(
            f"TRACES DIFFER IN KIND ({', '.join(kinds)}): these are different conditions, and "
            "lengths differ with them."
        )
    if first.judge_mode != "criterion":
        remarks.append(f"Judge mode {first.judge_mode}: not comparable with the paper.")
    named = list(zip(runs, names, strict=True))
    bundled = [name for run, name in named if _data(run) == "sample"]
    if bundled:
        remarks.append(f"Bundled sample, not MoReBench scores: {', '.join(bundled)}.")
    for run, name in named:
        if run.log.status != "success":
            remarks.append(f"{name}: status {run.log.status}, some samples are missing.")
        remarks += [f"{name}: {sentence}" for sentence in kin(run.model, judges(run.conditions))]
        if run.scored < SMALL_N:
            remarks.append(f"{name}: only {run.scored} scored samples.")
    return [*remarks, *told_apart(runs, names), *_sets(runs)]


def judges(conditions: Conditions) -> list[str]:
    """Names of the judges of a run, without their settings."""
    bare = re.sub(r" \([^()]*\)", "", conditions.judge)
    return [] if conditions.judge == UNJUDGED else re.split(r" \+ | and ", bare)


def told_apart(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """Which log a name stands for, and which score of it, where a model has several."""
    models, places = [r.model for r in runs], [r.log.location for r in runs]
    remarks = []
    for run, name in zip(runs, names, strict=True):
        if models.count(run.model) > 1:
            score = f", {run.scorer}" if places.count(run.log.location) > 1 else ""
            remarks.append(f"{name}: {shown_name(run.log.location)}{score}.")
    if any(same_answers(a, b) for a, b in combinations(runs, 2)):
        remarks.append(UNCONTRASTED)
    return remarks


def _sets(runs: Sequence[RubricRun]) -> list[str]:
    if len({run.ids for run in runs}) == 1:
        return []
    shared = set.intersection(*(set(run.ids) for run in runs))
    return [
        "THE RUNS HOLD DIFFERENT SCENARIOS, so their own scores are not side by side: "
        f"{len(shared)} are in all of them, and only pairs rest on what both have."
    ]


def _data(run: RubricRun) -> str:
    return str((run.log.eval.metadata or {}).get("data", {}).get("data", ""))
