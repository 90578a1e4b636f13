"""Fabricated runs: what a report sees of a log, without a log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalScore,
    EvalSpec,
)

from moral_evals.reports.runs.conditions import Conditions
from moral_evals.reports.runs.rubric_runs import VALUES, RubricRun
from moral_evals.scorers.rubric.scenario_table import GROUPS

CONDITIONS = Conditions(
    task="morebench", version="1", data="file.csv 0123456789ab", protocol="suite",
    judged="trace", judge="judge", judge_mode="criterion", judge_prompts="prompts",
)  # fmt: skip


def rubric_run(
    model: str = "mock/a",
    scores: Sequence[float] = (),
    lengths: Sequence[float] | None = None,
    *,
    ids: Sequence[str] | None = None,
    values: Mapping[str, Sequence[float]] | None = None,
    theories: Sequence[str] | None = None,
    dilemmas: Sequence[str] | None = None,
    traces: Mapping[str, int] | None = None,
    metrics: Mapping[str, float] | None = None,
    outcome: Mapping[str, float] | None = None,
    location: str = "",
    scorer: str = "rubric_judge",
    status: str = "success",
    metadata: Mapping[str, object] | None = None,
    **conditions: str,
) -> RubricRun:
    """A run with one number a scenario; what is left out is not measured.

    Args:
        model: The candidate.
        scores: Score of each scenario; nan for unscored.
        lengths: Characters of each judged text; 1,000 if left out.
        ids: Sorted scenario ids; `s00`, `s01`, ... if left out.
        values: Further values by key, e.g. `dim_harmless_outcome`.
        theories: Theory of each scenario; all neutral if left out.
        dilemmas: Dilemma of each scenario; all different if left out.
        traces: Scored samples by kind of trace; all raw if left out.
        metrics: Metrics of the score in the header.
        outcome: Metrics of the outcome score in the header.
        location: Place of the log; one for each model if left out.
        scorer: Name of the score.
        status: Status of the log.
        metadata: Metadata of the log.
        conditions: What differs from CONDITIONS.
    """
    n = len(scores)
    ids = tuple(ids or (f"s{i:02d}" for i in range(n)))
    known = {"score": scores, "length": [1000.0] * n if lengths is None else lengths}
    known |= values or {}
    arrays = {key: np.array(known.get(key, [np.nan] * n), dtype=float) for key in VALUES}
    arrays["length"] = np.where(np.isfinite(arrays["score"]), arrays["length"], np.nan)
    scored = int(np.isfinite(arrays["score"]).sum())
    headers = [_header(scorer, metrics or {"regular": 0.0}), _header("outcome", outcome or {})]
    return RubricRun(
        log=EvalLog(
            eval=EvalSpec(
                created="2026-01-01T00:00:00+00:00",
                task="morebench",
                model=model,
                dataset=EvalDataset(),
                config=EvalConfig(),
                metadata=dict(metadata or {}),
            ),
            status=status,
            location=location or f"{model}.eval",
            results=EvalResults(total_samples=n, scores=headers),
        ),
        scorer=scorer,
        conditions=replace(CONDITIONS, **conditions),
        ids=ids,
        values=arrays,
        labels={g: ("",) * n for g in GROUPS} | {"theory": tuple(theories or ["neutral"] * n)},
        traces={"raw": scored} if traces is None else dict(traces),
        samples=n,
        scored=scored,
        dilemmas=tuple(dilemmas or (f"d{i:02d}" for i in range(n))),
    )


def _header(scorer: str, metrics: Mapping[str, float]) -> EvalScore:
    found = {name: EvalMetric(name=name, value=value) for name, value in metrics.items()}
    return EvalScore(name=scorer, scorer=scorer, metrics=found)


def column(table, name: str) -> list:
    """One column of a report's table."""
    place = list(table.columns).index(name)
    return [row[place] for row in table.rows]
