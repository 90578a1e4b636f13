"""A run's metrics as a terminal table, from the log's header alone."""

import math
from collections.abc import Iterator
from pathlib import Path

from inspect_ai.log import EvalLog, EvalScore, list_eval_logs, read_eval_log
from rich.console import Console
from rich.table import Table

from loaders.errors import SuiteError
from loaders.records import DIMENSIONS, dimension_key
from reports.corda_report import corda_metrics, show_corda


def headers(paths: list[str]) -> list[EvalLog]:
    """Headers of the logs named, or of those in the folders named, newest first.

    Raises SuiteError if a path holds no log.
    """
    found: list[EvalLog] = []
    for path in paths:
        names = [path] if Path(path).is_file() else [i.name for i in list_eval_logs(path)]
        if not names:
            raise SuiteError(f"{path}: no Inspect log here.")
        found += [read_eval_log(name, header_only=True) for name in names]
    return sorted(found, key=lambda log: log.eval.created, reverse=True)


def show(log: EvalLog, console: Console) -> None:
    """Print one run: what was run, the table, the counts, and where the log lies."""
    scorers = [s for s in (log.results.scores if log.results else []) if "regular" in s.metrics]
    console.print(f"[bold]{log.eval.task}[/bold]  {log.eval.model}  {log.eval.created[:16]}")
    if corda_metrics(log):
        show_corda(log, console)
    elif not scorers:
        console.print(f"  status {log.status}: no scores in this log")
    for scorer in scorers:
        console.print(_table(log, scorer))
        console.print("  " + "; ".join(_counts(log, scorer)))
    console.print(f"  log: {log.location}")


def _table(log: EvalLog, scorer: EvalScore) -> Table:
    table = Table(title=None, header_style="bold")
    table.add_column("measure")
    for name in ("value", "95% lower", "95% upper"):
        table.add_column(name, justify="right")
    for label, values in _rows(log, scorer):
        table.add_row(label, *(_number(v) for v in values))
    return table


def _rows(log: EvalLog, scorer: EvalScore) -> Iterator[tuple[str, tuple[float, ...]]]:
    def triple(name: str) -> tuple[float, ...]:
        keys = (name, f"{name}_lower", f"{name}_upper")
        return tuple(scorer.metrics[k].value if k in scorer.metrics else math.nan for k in keys)

    yield "MoReBench-Regular", triple("regular")
    yield "MoReBench-Hard (per 1,000 characters)", triple("hard")
    for dimension in DIMENSIONS:
        row = _key_row(log, scorer.scorer, dimension_key(dimension))
        if row is not None:
            yield f"  {dimension}", row
    yield "harmless minus logical", triple("harmless_minus_logical")


def _key_row(log: EvalLog, scorer: str, key: str) -> tuple[float, ...] | None:
    for s in log.results.scores if log.results else []:
        if s.scorer == scorer and s.name.endswith(key) and "average" in s.metrics:
            values = [s.metrics.get(m) for m in ("average", "interval_lower", "interval_upper")]
            return tuple(v.value if v else math.nan for v in values)
    return None


def _counts(log: EvalLog, scorer: EvalScore) -> Iterator[str]:
    total = log.results.total_samples if log.results else 0
    value = {k: m.value for k, m in scorer.metrics.items()}
    yield f"scored {value.get('scored', 0):.0f} of {total}"
    yield f"graded share of rubric weight {_number(value.get('graded_share', math.nan))}"
    for name, count in value.items():
        if name.startswith("unscored_") and count:
            yield f"{name.removeprefix('unscored_').replace('_', ' ')} {count:.0f}"
    outcome = next((s for s in log.results.scores if s.scorer == "outcome"), None)  # type: ignore[union-attr]
    for name, metric in (outcome.metrics if outcome else {}).items():
        if metric.value and name != "samples":
            yield f"{name.replace('_', ' ')} {metric.value:.0f}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
