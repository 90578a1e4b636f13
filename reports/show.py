"""Printing finished runs, from the logs' headers alone."""

from pathlib import Path

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from rich.console import Console

from loaders.errors import SuiteError
from reports.corda_report import show_corda
from reports.rubric_report import show_rubric


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
    """Print one run: what was run, every score of the suite in it, and where the log lies."""
    console.print(f"[bold]{log.eval.task}[/bold]  {log.eval.model}  {log.eval.created[:16]}")
    shown = 0
    for score in log.results.scores if log.results else []:
        if "regular" in score.metrics:
            show_rubric(log, score, console)
            shown += 1
        elif score.scorer.startswith("lexicographic"):
            show_corda(log, score, console)
            shown += 1
    if not shown:
        console.print(f"  status {log.status}: no scores of this suite in the log")
    # one line whatever the width of the screen, so that it can be copied
    console.print(f"  log: {log.location.removeprefix('file://')}", soft_wrap=True)
