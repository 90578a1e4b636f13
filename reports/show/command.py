"""`moral-reports show`: the scores of finished runs, one report a log.

A kind of score is a module with `BY`, `holds` and `figures`; a benchmark of its own adds one.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from inspect_ai.log import EvalLog, EvalScore

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.form.document import Report, Table, merged
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.logs import FoundLog, scores_of, suite_scores
from moral_evals.reports.show import agreement, corda, rubric
from moral_evals.reports.show.replies import without_scores


class Kind(Protocol):
    """What `show` asks of a kind of score."""

    @property
    def BY(self) -> tuple[str, ...]:
        """Names of the breakdowns that it knows, as `--by` takes them."""
        ...

    def holds(self, score: EvalScore) -> bool:
        """Whether an entry of a log's header is of this kind."""
        ...

    def figures(self, log: FoundLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
        """Tables of one score of a log; `by` is part of `BY`."""
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
    """Show every log in the form asked for, then what was left out."""
    by = list(dict.fromkeys(options.by))
    logs = find_logs(options.logs, scored=False)
    # a log without scores is told of only where it was asked for by name
    chosen = [log for log in logs.logs if log.named or suite_scores(log.header)]
    chosen.sort(key=lambda log: log.header.eval.created, reverse=True)
    if chosen:
        _refuse_unused([log.header for log in chosen], by)
    found = replace(logs, logs=chosen).each(lambda log: [shown(log, by)])
    lines = logs.lines_for((log.location for log in chosen), "score of this suite")
    if not found:
        raise logs.nothing("no scores of this suite in these logs", lines)
    found[-1] = replace(found[-1], left_out=lines)
    # one file or stream holds one document
    for report in found if options.format == "terminal" else [merged(found, "Runs")]:
        write(report, options)


def shown(log: FoundLog, by: Sequence[str] = ()) -> Report:
    """One run: what was run, every score of the suite in it, and where the log lies.

    Args:
        log: From `find_logs`.
        by: Breakdowns; a kind of score leaves out those that it does not know.
    """
    tables: list[Table] = []
    header = log.header
    for score in scores_of(header):
        for kind in KINDS:
            if kind.holds(score):
                made = kind.figures(log, score, [name for name in by if name in kind.BY])
                tables += [replace(table, run=header.eval.eval_id) for table in made]
    notes = [f"log: {log.name}"]
    if not tables:
        notes = [*without_scores(header), *notes]
    title = f"{header.eval.task}  {header.eval.model}  {header.eval.created[:16]}"
    return Report(title, tables, notes, log.name)


def _refuse_unused(logs: Sequence[EvalLog], by: Sequence[str]) -> None:
    kinds = [k for k in KINDS for log in logs for s in scores_of(log) if k.holds(s)]
    known = list(dict.fromkeys(name for kind in kinds for name in kind.BY))
    for name in by:
        if name not in known:
            allowed = ", ".join(known) or "nothing, for lack of scores"
            raise SuiteError(f"--by {name}: not for these runs. Allowed: {allowed}.")
