"""Score against size: families from the user's file, Regular and Hard and length side by side.

Hard divides by length, and larger models tend to write more; a family that looks worse with size
on Hard may only look longer. So no score stands without the length, and the slopes say how much
of Regular's is left at equal length.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from moral_evals.loaders.tables.model_file import ModelFacts, facts_of
from moral_evals.reports.compare.pairs import hard, regular
from moral_evals.reports.compare.rubric import interval_of
from moral_evals.reports.findings import slopes
from moral_evals.reports.form.document import Cell, OutOf, Report, RunName, Table
from moral_evals.reports.runs.naming import run_names
from moral_evals.reports.runs.remarks import shared_remarks, trace_kinds, trace_mark
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import Array, ratio

MIN_SIZES = 3
_MEMBERS = ["model", "family", "size (B)", "active (B)", "Regular", "Hard", "characters", "scored",
            "trace"]  # fmt: skip
_SLOPES = ["family", "sizes", "scenarios", "Regular", "Hard", "characters", "length effect",
           "Regular at equal length", "trace"]  # fmt: skip


@dataclass(frozen=True)
class Member:
    """A run of a model whose family the user's file names."""

    run: RubricRun
    facts: ModelFacts
    name: str


def scale(runs: Sequence[RubricRun], models: Mapping[str, ModelFacts]) -> Report | None:
    """Families by size; None if the file has none of the models.

    Args:
        runs: Comparable runs; those of models that the file lacks are named in a remark.
        models: What the file says, by name.
    """
    members, missing = _members(runs, models)
    if not members:
        return None
    families: dict[str, list[Member]] = {}
    for member in members:
        families.setdefault(member.facts.family, []).append(member)
    first = runs[0].conditions
    where = f"{first.task}_{first.judged}"
    tables = [Table(f"scale_{where}", "Score against size", _MEMBERS, list(map(_row, members)))]
    fitted = {f: ms for f, ms in families.items() if len(_sizes(ms)) >= MIN_SIZES}
    if fitted:
        rows = [slope_row(family, ms) for family, ms in fitted.items()]
        title = "Slopes for each tenfold size"
        tables.append(Table(f"slopes_{where}", title, _SLOPES, rows, _SLOPE_NOTES))
    notes = [*_remarks(families, missing), *shared_remarks(runs, run_names(runs))]
    return Report(f"Scale: {first.task}, {first.judged} judged", tables, notes)


def slope_row(family: str, members: Sequence[Member]) -> list[Cell]:
    """Slopes of a family over log10 of its sizes, on the scenarios that all its runs scored."""
    sized = [m for m in members if _usable(m)]
    x = np.log10([m.facts.size_b for m in sized])
    scores, lengths = _shared([m.run for m in sized])
    found = [
        slopes.mean_slope(scores, x, span=1.0),
        slopes.hard_slope(scores, lengths, x),
        slopes.mean_slope(lengths, x),
        slopes.length_effect(scores, lengths),
        slopes.adjusted_slope(scores, lengths, x),
    ]
    shown = map(interval_of, found)
    return [family, len(_sizes(sized)), scores.shape[1], *shown, _family_trace(sized)]


def confounded(members: Sequence[Member]) -> bool:
    """Whether a family's traces differ in kind, and traces are what was judged."""
    runs = [m.run for m in members]
    return runs[0].conditions.judged != "response" and len(trace_kinds(runs)) > 1


_SLOPE_NOTES = (
    "Least squares on log10 of the total size, over the scenarios that all of the family's runs "
    "have scored; 95% BCa bootstrap over scenarios with the models fixed: other models of the "
    "family are not covered, and nothing is adjusted for the number of families.",
    "Length effect: score for tenfold length, within scenario and model. Regular at equal length: "
    "slope of Regular less length effect times slope of log10 length; a description, not what a "
    "shorter text would have scored.",
)


def _members(
    runs: Sequence[RubricRun], models: Mapping[str, ModelFacts]
) -> tuple[list[Member], list[str]]:
    members: list[Member] = []
    missing: list[str] = []
    for run, name in zip(runs, run_names(runs), strict=True):
        facts = facts_of(models, run.model)
        if facts is None:
            missing.append(name)
        else:
            # what tells a model's runs apart stays behind its name
            shown = name.replace(run.model, facts.name or run.model, 1)
            members.append(Member(run, facts, RunName(shown, *name.runs)))
    order = list(dict.fromkeys(f.family for f in models.values()))
    # a size that is not published sorts last
    members.sort(key=lambda m: (order.index(m.facts.family), *_last(m.facts.size_b), m.name))
    return members, missing


def _last(size: float) -> tuple[bool, float]:
    return math.isnan(size), 0.0 if math.isnan(size) else size


def _row(member: Member) -> list[Cell]:
    run, facts = member.run, member.facts
    length = ratio(run.values["length"], bounds=(0, math.inf)).estimate()
    return [
        member.name,
        facts.family,
        *(int(b) if b.is_integer() else b for b in (facts.size_b, facts.active_b)),
        interval_of(regular(run, run.ids)),
        interval_of(hard(run, run.ids)),
        round(length) if math.isfinite(length) else math.nan,
        OutOf(run.scored, run.samples),
        trace_mark(run),
    ]


def _sizes(members: Sequence[Member]) -> set[float]:
    return {m.facts.size_b for m in members if _usable(m)}


def _usable(member: Member) -> bool:
    return math.isfinite(member.facts.size_b) and member.run.scored > 0


def _shared(runs: Sequence[RubricRun]) -> tuple[Array, Array]:
    """Scores and lengths, shape (models, scenarios), where every run has both."""
    ids = runs[0].ordered({i for run in runs for i in run.ids}) if runs else []
    scores = np.stack([run.over(ids, "score") for run in runs])
    lengths = np.stack([run.over(ids, "length") for run in runs])
    known = np.all(np.isfinite(scores) & (lengths > 0), axis=0)
    return scores[:, known], lengths[:, known]


def _family_trace(members: Sequence[Member]) -> str:
    kinds = " and ".join(trace_kinds([m.run for m in members])) or "unknown"
    return f"CONFOUNDED: {kinds}" if confounded(members) else kinds


def _remarks(families: Mapping[str, Sequence[Member]], missing: Sequence[str]) -> list[str]:
    remarks = []
    if missing:
        remarks.append(f"Not in the file of models, so not shown: {', '.join(missing)}.")
    for family, members in families.items():
        if confounded(members):
            remarks.append(f"{family}: CONFOUNDED, its slope mixes size with the kind of trace.")
        if (sizes := len(_sizes(members))) < MIN_SIZES:
            remarks.append(f"{family}: no slope, {sizes} known sizes with scores of {MIN_SIZES}.")
    return remarks
