"""An Inspect log from upstream's rows, with the header, scores and results of a live run."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from inspect_ai import score
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    EvalStats,
    HeadlineMetric,
    recompute_metrics,
)
from inspect_ai.model import ModelUsage

# An imported run must be shown like a live one, and only the task knows how that is.
from moral_evals.inspect_tasks.morebench import VERSION
from moral_evals.inspect_tasks.viewer import rubric_viewer
from moral_evals.loaders.morebench.records import NEUTRAL
from moral_evals.loaders.upstream.scenarios import UpstreamScenario
from moral_evals.reports.exchange.imported_sample import (
    UpstreamReading,
    imported_sample,
    imported_score,
)
from moral_evals.scorers.outcome import outcome
from moral_evals.scorers.rubric_judge import rubric_judge

SCORER = "rubric_judge"


@dataclass(frozen=True)
class Sources:
    """The files behind a log, by name and SHA-256."""

    judgements: str
    judgements_sha256: str
    generations: str = ""
    generations_sha256: str = ""


def imported_log(
    scenarios: Sequence[UpstreamScenario], reading: UpstreamReading, sources: Sources
) -> EvalLog:
    """A finished log: samples, `outcome` and `rubric_judge` scores, and the metrics over them.

    No model is asked. The scorers in the header are those of a live run, so that Inspect
    computes the results by itself, here and after any later change of a score.
    """
    samples = [imported_sample(s, reading) for s in scenarios]
    log = _empty(scenarios, reading, sources)
    # the scorers write their own entries into the header of a log without samples
    judge = rubric_judge(judged=reading.judged, protocol="upstream")
    header = score(log, [outcome(), judge], model="none", action="overwrite", display="none")
    log.samples = samples
    log = score(log, outcome(), model="none", action="overwrite", display="none", copy=False)
    for scenario, sample in zip(scenarios, log.samples or [], strict=True):
        sample.scores = {**(sample.scores or {}), SCORER: imported_score(scenario, sample, reading)}
    log.eval.scorers = header.eval.scorers
    # not before, when only `outcome` was there: Inspect would warn of a headline without a score
    log.eval.headline_metric = HeadlineMetric(scorer=SCORER, metric="regular")
    log.stats = _stats(samples, log.eval.created)
    recompute_metrics(log)
    return log


def _empty(
    scenarios: Sequence[UpstreamScenario], reading: UpstreamReading, sources: Sources
) -> EvalLog:
    neutral = all(s.labels.theory == NEUTRAL for s in scenarios)
    task = "morebench" if neutral else "morebench_theory"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    args = {"data": sources.judgements, "protocol": "upstream", "judged": reading.judged}
    return EvalLog(
        status="success",
        eval=EvalSpec(
            run_id=uuid.uuid4().hex,
            task_id=uuid.uuid4().hex,
            created=now,
            task=f"moral_evals/{task}",
            task_display_name=task,
            task_registry_name=f"moral_evals/{task}",
            task_version=VERSION,
            task_args=args,
            task_args_passed=args,
            dataset=_dataset(scenarios, sources),
            model=reading.model,
            config=EvalConfig(epochs=max(s.epoch for s in scenarios)),
            packages={name: version(name) for name in ("inspect_ai", "moral-evals")},
            metadata=_metadata(task, scenarios, reading, sources),
            viewer=rubric_viewer({SCORER: ""}),
        ),
        samples=[],
    )


def _dataset(scenarios: Sequence[UpstreamScenario], sources: Sources) -> EvalDataset:
    ids = list(dict.fromkeys(s.id for s in scenarios))
    name = sources.generations or sources.judgements
    return EvalDataset(name=name, location=name, samples=len(ids), sample_ids=ids, shuffled=False)


def _metadata(
    task: str, scenarios: Sequence[UpstreamScenario], reading: UpstreamReading, sources: Sources
) -> dict[str, Any]:
    first = {s.id: s for s in reversed(scenarios)}.values()
    return {
        "benchmark": task,
        "data": {
            "data": "imported",
            # not the file's name: two models on the same dilemmas come from two files
            "file": "upstream",
            "repository": "",
            "commit": "",
            "sha256": _fingerprint(scenarios),
            "differs_from_published": [],
            "scenarios_in_file": len(first),
            "scenarios": len(first),
            "criteria": sum(len(s.criteria) for s in first),
        },
        "imported": {**vars(sources), "model": scenarios[0].labels.model},
        "judged": reading.judged,
        "protocol": "upstream",
        "judge_mode": "criterion",
    }


def _fingerprint(scenarios: Sequence[UpstreamScenario]) -> str:
    """The same for all imports over the same rubrics, whatever the order of the rows."""
    lines = sorted(
        {f"{c.id}\0{c.weight}\0{c.dimension}\0{c.text}" for s in scenarios for c in s.criteria}
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _stats(samples: Sequence[EvalSample], now: str) -> EvalStats:
    stats = EvalStats(started_at=now, completed_at=now)
    for sample in samples:
        for total, own in (
            (stats.model_usage, sample.model_usage),
            (stats.role_usage, sample.role_usage),
        ):
            for name, usage in own.items():
                total[name] = total.get(name, ModelUsage()) + usage
    return stats
