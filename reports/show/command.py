"""Printing finished runs, from the logs' headers and summaries."""

import argparse

from inspect_ai.log import EvalLog
from rich.console import Console

from moral_evals.reports.runs.logs import headers, scores_of, shown_name
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
    """Print every log."""
    for log in headers(options.logs):
        show(log, Console())


def show(log: EvalLog, console: Console) -> None:
    """Print one run: what was run, every score of the suite in it, and where the log lies."""
    console.print(f"[bold]{log.eval.task}[/bold]  {log.eval.model}  {log.eval.created[:16]}")
    shown = 0
    conditions = {run.scorer: run.conditions for run in runs_of(log)}
    for score in scores_of(log):
        if "regular" in score.metrics:
            show_rubric(log, score, conditions[score.scorer], console)
            shown += 1
        elif "macro_f1" in score.metrics or "flip_rate" in score.metrics:
            show_agreement(score, console)
            shown += 1
        elif score.scorer.startswith("lexicographic"):
            show_corda(log, score, console)
            shown += 1
    if not shown:
        console.print(f"  status {log.status}: no scores of this suite in the log")
    # one line whatever the width of the screen, so that it can be copied
    console.print(f"  log: {shown_name(log.location)}", soft_wrap=True)
