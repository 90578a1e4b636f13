"""Printing finished runs, from the logs' headers and summaries."""

import argparse

from rich.console import Console

from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.logs import (
    FoundLog,
    is_agreement,
    is_corda,
    is_rubric,
    suite_scores,
)
from moral_evals.reports.runs.rubric_runs import runs_of
from moral_evals.reports.show.agreement import show_agreement
from moral_evals.reports.show.corda import show_corda
from moral_evals.reports.show.rubric import show_rubric


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("show", help="print the scores of finished runs, newest first")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print every log, then what was left out."""
    found, console = find_logs(options.logs, figures=True), Console()
    for log in sorted(found.logs, key=lambda log: log.header.eval.created, reverse=True):
        show(log, console)
    for line in found.lines:
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def show(log: FoundLog, console: Console) -> None:
    """Print one run: what was run, every score of the suite in it, and where the log lies."""
    header = log.header
    console.print(
        f"[bold]{header.eval.task}[/bold]  {header.eval.model}  {header.eval.created[:16]}"
    )
    conditions = {run.scorer: run.conditions for run in runs_of(log)}
    for score in suite_scores(header):
        if is_rubric(score):
            show_rubric(header, score, conditions[score.scorer], console)
        elif is_agreement(score):
            show_agreement(score, console)
        elif is_corda(score):
            show_corda(header, score, console)
    # one line whatever the width of the screen, so that it can be copied
    console.print(f"  log: {log.name}", soft_wrap=True)
