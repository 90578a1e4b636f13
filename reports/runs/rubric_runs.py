"""Rubric scores of finished runs as arrays over scenarios, from headers and summaries alone.

Summaries hold every score but not the verdicts, and are read some ten times faster than the
samples.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from inspect_ai.log import EvalLog, EvalSampleSummary, EvalScore

from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_key, own_dimensions_in
from moral_evals.reports.runs.conditions import Conditions, rubric_conditions
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.logs import FoundLog, is_rubric, scores_of
from moral_evals.scorers.rubric.record import RubricRecord, score_values
from moral_evals.scorers.rubric.scenario_table import GROUPS
from moral_evals.scorers.rubric.score import RESPONSE_PREFIX
from moral_evals.scorers.stats.bootstrap import Array

VALUES = ("score", *map(dimension_key, DIMENSIONS), "length", "graded_share", "declined")
"""Keys that every score has; beside them stand those of a user's own dimensions."""


@dataclass(frozen=True)
class RubricRun:
    """One rubric score of one log.

    Attributes:
        log: The log's header.
        scorer: Name of the score in the log.
        conditions: What must be the same for two runs to be comparable.
        ids: Scenario ids, in an order of their content: no figure depends on the file's order
            or kind.
        values: By key of `VALUES`, and of own dimensions, one number a scenario, its epochs averaged; nan where there is
            none.
        labels: By group of `GROUPS` the label of each scenario.
        traces: Scored samples by kind of trace.
        samples: Samples times epochs that the run should have.
        scored: Samples times epochs with a score.
        dilemmas: A short hash of each scenario's dilemma, which recurs under several theories.
    """

    log: EvalLog
    scorer: str
    conditions: Conditions
    ids: tuple[str, ...]
    values: Mapping[str, Array]
    labels: Mapping[str, tuple[str, ...]]
    traces: Mapping[str, int]
    samples: int
    scored: int
    dilemmas: tuple[str, ...]

    @property
    def model(self) -> str:
        """The candidate."""
        return self.log.eval.model

    @cached_property
    def place(self) -> dict[str, int]:
        """Index of a scenario id in the arrays."""
        return {key: i for i, key in enumerate(self.ids)}

    def dimension(self, dimension: str) -> Array:
        """Weighted share within a dimension; nan for one that only other runs have."""
        found = self.values.get(dimension_key(dimension))
        return np.full(len(self.ids), math.nan) if found is None else found

    def ordered(self, ids: Iterable[str]) -> list[str]:
        """Some scenarios in the run's own order; those that it lacks come last, by id."""
        return sorted(ids, key=lambda i: (self.place.get(i, len(self.ids)), i))

    def over(self, ids: Sequence[str], key: str) -> Array:
        """One value for each of some scenarios; nan where the run does not have it."""
        own = self.values[key]
        return np.array([own[self.place[i]] if i in self.place else math.nan for i in ids])

    @property
    def trace(self) -> str:
        """The one kind of trace, `mixed` with counts, or `unknown`."""
        kinds = {k: n for k, n in self.traces.items() if n}
        if len(kinds) == 1:
            return next(iter(kinds))
        return "mixed: " + ", ".join(f"{n} {k}" for k, n in kinds.items()) if kinds else "unknown"


def rubric_runs(logs: Found | Sequence[str]) -> list[RubricRun]:
    """All rubric scores of some logs, or of the logs and folders named.

    A score that a copy of its log holds too, as re-scored copies do, is taken once.
    """
    found: dict[tuple[str, str, str, Conditions, bytes], RubricRun] = {}
    logs = logs if isinstance(logs, Found) else find_logs(logs)
    for run in logs.each(runs_of):
        scores = run.values["score"].tobytes()
        key = run.log.eval.eval_id, run.model, run.scorer, run.conditions, scores
        found.setdefault(key, run)
    return list(found.values())


def dimensions_shown(runs: Iterable[RubricRun]) -> tuple[str, ...]:
    """The dimensions of a table of runs: of the benchmark's all but `other`, then the user's own.

    Beside own ones, those of the benchmark's that have no value in any run are left out.
    """
    runs = list(runs)
    usual: tuple[str, ...] = DIMENSIONS[:-1]  # too few criteria are `other` to show a share of them
    own = own_dimensions_in(key for run in runs for key in run.values)
    if own:
        usual = tuple(d for d in usual if any(np.isfinite(r.dimension(d)).any() for r in runs))
    return (*usual, *own)


def runs_of(log: FoundLog) -> Iterator[RubricRun]:
    """The rubric scores of one log, in their order in it."""
    for score in rubric_scores(log.header):
        yield _run(log.header, score, log.summaries)


def rubric_scores(log: EvalLog) -> list[EvalScore]:
    """The entries of rubric scores in a log's header."""
    return [s for s in scores_of(log) if is_rubric(s)]


def prefix_of(scorer: str) -> str:
    """Prefix of a score's value keys."""
    return RESPONSE_PREFIX if scorer.startswith("rubric_judge_response") else ""


def _run(log: EvalLog, score: EvalScore, summaries: Sequence[EvalSampleSummary]) -> RubricRun:
    by_id: dict[str, list[EvalSampleSummary]] = {}
    for summary in summaries:
        by_id.setdefault(str(summary.id), []).append(summary)
    ids = tuple(sorted(by_id, key=lambda i: _content(by_id[i][0])))
    prefix = prefix_of(score.scorer)
    found = {i: [v for s in by_id[i] if (v := _values(s, score.scorer, prefix))] for i in ids}
    own = own_dimensions_in(key for i in ids for v in found[i] for key in v)
    values = {
        key: np.array([_mean(v.get(key) for v in found[i]) for i in ids], dtype=float)
        for key in (*VALUES, *map(dimension_key, own))
    }
    scores = [s.scores[score.scorer] for s in summaries if s.scores and score.scorer in s.scores]
    return RubricRun(
        log=log,
        scorer=score.scorer,
        conditions=rubric_conditions(log, score, scores),
        ids=ids,
        values=values,
        labels={g: tuple(str(by_id[i][0].metadata.get(g) or "") for i in ids) for g in GROUPS},
        traces=Counter(
            RubricRecord.of(s).trace_kind
            for s in scores
            if isinstance(s.value, dict) and _finite(s.value.get(prefix + "score"))
        ),
        samples=log.results.total_samples if log.results else len(summaries),
        scored=sum("score" in v for vs in found.values() for v in vs),
        dilemmas=tuple(_dilemma(by_id[i][0]) for i in ids),
    )


def _content(summary: EvalSampleSummary) -> tuple[str, str, str]:
    # ids made from a file's name or kind would make another draw of the same data
    theory = str((summary.metadata or {}).get("theory") or "")
    return _dilemma(summary), theory, str(summary.id)


def _dilemma(summary: EvalSampleSummary) -> str:
    # a summary keeps 5,120 characters at most; they tell dilemmas apart all the same
    text = summary.input
    if not isinstance(text, str):
        text = "\n".join(message.text for message in text)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def _values(summary: EvalSampleSummary, scorer: str, prefix: str) -> dict[str, float]:
    """What counts of a score; without a number only whether the reply declines."""
    score = (summary.scores or {}).get(scorer)
    values = score_values(score) if score else {}
    known = {k.removeprefix(prefix): v for k, v in values.items() if math.isfinite(v)}
    # logs up to version 1-B hold a length where all verdicts are ungraded
    return known if "score" in known else {k: v for k, v in known.items() if k == "declined"}


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)


def _mean(values: Iterator[Any]) -> float:
    known = [float(v) for v in values if _finite(v)]
    return math.fsum(known) / len(known) if known else math.nan
