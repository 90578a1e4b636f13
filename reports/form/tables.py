"""Pieces that reports share."""

import math
from collections.abc import Mapping

from inspect_ai.log import EvalLog, EvalScore

from moral_evals.scorers.stats.bootstrap import FEWEST, SMALL_N, Interval


def metric_values(score: EvalScore) -> dict[str, float]:
    """A score's metrics by name."""
    return {name: metric.value for name, metric in score.metrics.items()}


def interval_of(values: Mapping[str, float], name: str, units: int = 0) -> Interval:
    """A figure and the ends of its interval, as a header's metrics hold them."""
    lower, upper = (values.get(f"{name}_{end}", math.nan) for end in ("lower", "upper"))
    return Interval(values.get(name, math.nan), lower, upper, units)


def caveats(log: EvalLog, units: float, name: str) -> list[str]:
    """What a reader must know before the figures: demonstration data, too few units, errors."""
    found = []
    metadata = log.eval.metadata or {}
    bundled = metadata.get("data", {}).get("data") == "sample"
    if bundled and str(metadata.get("benchmark")).startswith("morebench"):
        found.append("bundled sample: these are not MoReBench scores")
    if log.eval.model.startswith(("embedded/", "scripted/")):
        found.append("demonstration model")
    if units < FEWEST:
        found.append(f"only {units:.0f} {name}: too few for intervals")
    elif units < SMALL_N:
        found.append(f"only {units:.0f} {name}: intervals are too narrow to lean on")
    balance = str(metadata.get("balance", "balanced"))
    if balance != "balanced":
        found.append(f"layouts not balanced, so position and label figures can be off 0: {balance}")
    if log.status != "success":
        found.append(f"status {log.status}: some samples are missing (inspect eval-retry)")
    return found
