"""Trace against response where both were judged: does the answer say what the thinking weighed?

A shared rubric makes some scenarios hard for any text, so trace and response correlate even if
the one owes nothing to the other; the correlation with other models' responses shows how much of
it that explains.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from moral_evals.reports.compare.rubric import interval_of
from moral_evals.reports.findings.correlation import spearman
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.runs.conditions import Conditions, differences, refuse_incomparable
from moral_evals.reports.runs.naming import run_names
from moral_evals.reports.runs.remarks import shared_remarks, trace_mark
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import Array, Interval, Statistic, ratio

_COLUMNS = ["model", "scenarios", "Pearson r", "Spearman rho", "r with others' responses",
            "trace", "response", "trace − response", "response higher", "equal",
            "trace chars", "response chars", "kind of trace"]  # fmt: skip
_TIE = 1e-12


@dataclass(frozen=True)
class TraceAndResponse:
    """Scores of trace and of response in one log."""

    trace: RubricRun
    response: RubricRun

    def both(self) -> list[str]:
        """Scenarios with both scores, sorted."""
        ids = self.trace.ordered(set(self.trace.ids) & set(self.response.ids))
        known = np.isfinite(self.trace.over(ids, "score") + self.response.over(ids, "score"))
        return [i for i, there in zip(ids, known, strict=True) if there]


def judged_both(runs: Sequence[RubricRun], allowed: Iterable[str] = ()) -> list[TraceAndResponse]:
    """The logs with both scores; of several scores in a log those under equal conditions.

    Raises:
        SuiteError: If a log's scores of trace and response are never comparable.
    """
    allowed = {*allowed, "judged"}
    found = []
    for place in dict.fromkeys(run.log.location for run in runs):
        own = [run for run in runs if run.log.location == place]
        pairs = [
            TraceAndResponse(trace, response)
            for trace in own if trace.conditions.judged in ("trace", "last_turn")
            for response in own if response.conditions.judged == "response"
        ]  # fmt: skip
        equal = [p for p in pairs if not differences(_conditions(p), allowed)]
        if pairs and not equal:
            refuse_incomparable(_conditions(pairs[0]), allowed)
        found += equal
    return found


def consistency(pairs: Sequence[TraceAndResponse]) -> Report | None:
    """Correlation and gap of each log's trace and response; None without such a log."""
    if not pairs:
        return None
    traces = [p.trace for p in pairs]
    names = run_names(traces)
    rows = [_row(pair, name, pairs) for pair, name in zip(pairs, names, strict=True)]
    notes = [
        "Over the scenarios with both scores; 95% BCa bootstrap over scenarios, for rho Bonett "
        "and Wright (2000); not adjusted for the number of models. r with others' responses: mean "
        "over the other models' responses to the same scenarios, which is what the shared rubric "
        "and judge alone bring about.",
    ]
    task = traces[0].conditions.task
    table = Table(f"consistency_{task}", "Trace against response", _COLUMNS, rows, notes)
    return Report(
        f"Trace against response: {task}",
        [table],
        shared_remarks(traces, names, "trace and response"),
    )


def pearson_over(x: Array, y: Array) -> Statistic:
    """Pearson's r as a function of column sums, so that the bootstrap over scenarios serves it."""
    # centred first: the sums of squares of raw scores would lose digits
    a, b = x - x.mean(), y - y.mean()
    columns = np.stack([np.ones_like(a), a, b, a * a, b * b, a * b], axis=1)

    def combine(s: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            n = s[..., 0]
            shared = s[..., 5] - s[..., 1] * s[..., 2] / n
            spreads = s[..., 3:5] - s[..., 1:3] ** 2 / n[..., None]
            # what rounding leaves of a side that does not vary, in the data or in a resample
            noise = np.maximum(1e-12 * s[..., 3:5], 1e-20 * n[..., None])
            r = np.clip(shared / np.sqrt(spreads.prod(axis=-1)), -1, 1)
            return np.where(np.all(spreads > noise, axis=-1), r, np.nan)

    return Statistic(columns, combine, (-1.0, 1.0))


def _row(pair: TraceAndResponse, name: str, pairs: Sequence[TraceAndResponse]) -> list[Cell]:
    ids = pair.both()
    trace, response = pair.trace.over(ids, "score"), pair.response.over(ids, "score")
    gap = ratio(trace - response, bounds=(-1, 1))
    higher = np.array(response > trace + _TIE, dtype=float)
    equal = np.array(np.abs(response - trace) <= _TIE, dtype=float)
    return [
        name,
        len(ids),
        _pearson(trace, response),
        spearman(trace, response).found,
        _with_others(pair, pairs),
        ratio(trace).estimate(),
        ratio(response).estimate(),
        interval_of(gap),
        interval_of(ratio(higher)),
        ratio(equal).estimate(),
        *(_characters(run.over(ids, "length")) for run in (pair.trace, pair.response)),
        trace_mark(pair.trace),
    ]


def _pearson(x: Array, y: Array) -> Interval:
    if len(x) < 3:  # two points always lie on a line
        return Interval.unmeasured(len(x))
    return interval_of(pearson_over(x, y))


def _with_others(pair: TraceAndResponse, pairs: Sequence[TraceAndResponse]) -> float:
    """Mean r of a model's trace with the responses of the other models to the same scenarios."""
    found = []
    for other in pairs:
        if other.trace.model == pair.trace.model:
            continue
        ids = TraceAndResponse(pair.trace, other.response).both()
        x, y = pair.trace.over(ids, "score"), other.response.over(ids, "score")
        found.append(_pearson(x, y).estimate)
    known = [r for r in found if math.isfinite(r)]
    return math.fsum(known) / len(known) if known else math.nan


def _characters(lengths: Array) -> Cell:
    mean = ratio(lengths, bounds=(0, math.inf)).estimate()
    return round(mean) if math.isfinite(mean) else math.nan


def _conditions(pair: TraceAndResponse) -> list[Conditions]:
    return [pair.trace.conditions, pair.response.conditions]
