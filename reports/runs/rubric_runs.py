"""Rubric scores of finished runs as arrays over scenarios, from headers and summaries alone.

Summaries hold every score but not the verdicts, and are read some ten times faster than the
samples.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from inspect_ai.log import EvalLog, EvalSampleSummary, EvalScore, read_eval_log_sample_summaries

from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_key
from moral_evals.reports.runs.conditions import Conditions, rubric_conditions
from moral_evals.reports.runs.logs import log_files, read, scores_of
from moral_evals.scorers.rubric.record import RubricRecord
from moral_evals.scorers.rubric.scenario_table import GROUPS
from moral_evals.scorers.rubric.score import RESPONSE_PREFIX
from moral_evals.scorers.stats.bootstrap import Array

VALUES = ("score", *map(dimension_key, DIMENSIONS), "length", "graded_share", "declined")


@dataclass(frozen=True)
class RubricRun:
    """One rubric score of one log.

    Attributes:
        log: The log's header.
        scorer: Name of the score in the log.
        conditions: What must be the same for two runs to be comparable.
        ids: Scenario ids, sorted.
        values: By key of `VALUES` one number a scenario, its epochs averaged; nan where there is
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


def rubric_runs(paths: Sequence[str]) -> list[RubricRun]:
    """All rubric scores of the logs named, or of those in the folders named.

    A score that a copy of its log holds too, as re-scored copies do, is taken once.
    """
    found: dict[tuple[str, str, Conditions, int], RubricRun] = {}
    for run in (r for name in log_files(paths) for r in runs_of(read(name, header_only=True))):
        key = run.log.eval.eval_id, run.scorer, run.conditions, run.scored
        found.setdefault(key, run)
    return list(found.values())


def runs_of(log: EvalLog) -> Iterator[RubricRun]:
    """The rubric scores of one log, from its header, in their order in the log."""
    if scores := rubric_scores(log):
        summaries = read_eval_log_sample_summaries(log.location)
        yield from (_run(log, score, summaries) for score in scores)


def rubric_scores(log: EvalLog) -> list[EvalScore]:
    """The entries of rubric scores in a log's header."""
    return [s for s in scores_of(log) if "regular" in s.metrics]


def prefix_of(scorer: str) -> str:
    """Prefix of a score's value keys."""
    return RESPONSE_PREFIX if scorer.startswith("rubric_judge_response") else ""


def _run(log: EvalLog, score: EvalScore, summaries: Sequence[EvalSampleSummary]) -> RubricRun:
    by_id: dict[str, list[EvalSampleSummary]] = {}
    for summary in summaries:
        by_id.setdefault(str(summary.id), []).append(summary)
    ids = tuple(sorted(by_id))
    prefix = prefix_of(score.scorer)
    found = {i: [v for s in by_id[i] if (v := _values(s, score.scorer, prefix))] for i in ids}
    values = {
        key: np.array([_mean(v.get(key) for v in found[i]) for i in ids], dtype=float)
        for key in VALUES
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


def _dilemma(summary: EvalSampleSummary) -> str:
    # a summary keeps 5,120 characters at most; they tell dilemmas apart all the same
    text = summary.input
    if not isinstance(text, str):
        text = "\n".join(message.text for message in text)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def _values(summary: EvalSampleSummary, scorer: str, prefix: str) -> dict[str, float]:
    """What counts of a score; without a number only whether the reply declines."""
    score = (summary.scores or {}).get(scorer)
    value = score.value if score is not None and isinstance(score.value, dict) else {}
    known = {k.removeprefix(prefix): float(v) for k, v in value.items() if _finite(v)}
    # logs up to version 1-B hold a length where all verdicts are ungraded
    return known if "score" in known else {k: v for k, v in known.items() if k == "declined"}


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)


def _mean(values: Iterator[Any]) -> float:
    known = [float(v) for v in values if _finite(v)]
    return math.fsum(known) / len(known) if known else math.nan
