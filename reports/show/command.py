"""`moral-reports show`: the scores of finished runs, one report a log.

A kind of score is a module with `BY`, `holds` and `figures`; a benchmark of its own adds one.
"""

import argparse
from collections.abc import Sequence
from typing import Protocol

from inspect_ai.log import EvalLog, EvalScore

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.form.document import Report, Table, merged
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.runs.logs import headers, scores_of, shown_name
from moral_evals.reports.show import agreement, corda, rubric


class Kind(Protocol):
    """What `show` asks of a kind of score."""

    @property
    def BY(self) -> tuple[str, ...]:
        """Names of the breakdowns that it knows, as `--by` takes them."""
        ...

    def holds(self, score: EvalScore) -> bool:
        """Whether an entry of a log's header is of this kind."""
        ...

    def figures(self, log: EvalLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
        """Tables of one score of a log, given as header; `by` is part of `BY`."""
        ...


KINDS: tuple[Kind, ...] = (rubric, agreement, corda)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("show", help="print the scores of finished runs, newest first")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    known = list(dict.fromkeys(name for kind in KINDS for name in kind.BY))
    parser.add_argument(
        "--by", action="append", default=[], choices=known, metavar="GROUP",
        help=f"break the figures down; one of {', '.join(known)}; may be repeated",
    )  # fmt: skip
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Show every log in the form asked for."""
    by = list(dict.fromkeys(options.by))
    logs = headers(options.logs)
    _refuse_unused(logs, by)
    found = [shown(log, by) for log in logs]
    # one file or stream holds one document
    for report in found if options.format == "terminal" else [merged(found, "Runs")]:
        write(report, options)


def shown(log: EvalLog, by: Sequence[str] = ()) -> Report:
    """One run: what was run, every score of the suite in it, and where the log lies.

    Args:
        log: Its header.
        by: Breakdowns; a kind of score leaves out those that it does not know.
    """
    tables: list[Table] = []
    for score in scores_of(log):
        for kind in KINDS:
            if kind.holds(score):
                tables += kind.figures(log, score, [name for name in by if name in kind.BY])
    place = shown_name(log.location)
    notes = [f"log: {place}"]
    if not tables:
        notes.insert(0, f"status {log.status}: no scores of this suite in the log")
    title = f"{log.eval.task}  {log.eval.model}  {log.eval.created[:16]}"
    return Report(title, tables, notes, place)


def _refuse_unused(logs: Sequence[EvalLog], by: Sequence[str]) -> None:
    kinds = [k for k in KINDS for log in logs for s in scores_of(log) if k.holds(s)]
    known = list(dict.fromkeys(name for kind in kinds for name in kind.BY))
    for name in by:
        if name not in known:
            allowed = ", ".join(known) or "nothing, for lack of scores"
            raise SuiteError(f"--by {name}: not for these runs. Allowed: {allowed}.")
