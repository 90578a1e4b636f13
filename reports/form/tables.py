"""Pieces that all terminal reports share."""

import math
from collections.abc import Iterable, Mapping, Sequence

from inspect_ai.log import EvalLog, EvalScore
from rich.console import Console
from rich.table import Table

from moral_evals.scorers.stats.bootstrap import SMALL_N as SMALL_N

Row = tuple[str, tuple[float, ...]]
"""A label, then value, lower and upper end; nan where not measured."""


def metric_values(score: EvalScore) -> dict[str, float]:
    """A score's metrics by name."""
    return {name: metric.value for name, metric in score.metrics.items()}


def triple(values: Mapping[str, float], name: str) -> tuple[float, ...]:
    """A figure and the ends of its interval."""
    return tuple(values.get(key, math.nan) for key in (name, f"{name}_lower", f"{name}_upper"))


def print_table(console: Console, title: str, rows: Iterable[Row]) -> None:
    """Print rows of figures with their intervals."""
    table = Table(header_style="bold")
    table.add_column(title)
    for name in ("value", "95% lower", "95% upper"):
        table.add_column(name, justify="right")
    for label, values in rows:
        table.add_row(label, *map(number, values))
    console.print(table)


def note(console: Console, parts: Sequence[str]) -> None:
    """Print remarks on one indented line."""
    console.print("  " + "; ".join(parts), highlight=False)


def caveats(log: EvalLog, units: float, name: str) -> list[str]:
    """What a reader must know before the figures: demonstration data, too few units, errors."""
    found = []
    metadata = log.eval.metadata or {}
    bundled = metadata.get("data", {}).get("data") == "sample"
    if bundled and str(metadata.get("benchmark")).startswith("morebench"):
        found.append("bundled sample: these are not MoReBench scores")
    if log.eval.model.startswith(("embedded/", "scripted/")):
        found.append("demonstration model")
    if units < SMALL_N:
        found.append(f"only {units:.0f} {name}: intervals are too narrow to lean on")
    balance = str(metadata.get("balance", "balanced"))
    if balance != "balanced":
        found.append(f"layouts not balanced, so position and label figures can be off 0: {balance}")
    if log.status != "success":
        found.append(f"status {log.status}: some samples are missing (inspect eval-retry)")
    return found


def number(value: float) -> str:
    """Three decimals; a dash for what was not measured."""
    return "–" if math.isnan(value) else f"{value + 0.0:.3f}".replace("-0.000", "0.000")
