"""`moral-reports show`: the scores of finished runs, one report a log.

A kind of score is a module with `BY`, `holds` and `figures`; a benchmark of its own adds one.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from inspect_ai.log import EvalScore

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.form.document import Report, Table, merged
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.runs.choice import EVERY, Choice, add_choice
from moral_evals.reports.runs.corda_runs import corda_runs_of
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.logs import FoundLog, suite_scores
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
    add_choice(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Show every log in the form asked for, then what was left out."""
    by = list(dict.fromkeys(options.by))
    logs = find_logs(options.logs, scored=False)
    choice = Choice.of(options)
    chosen = _taken(logs, choice)
    chosen.sort(key=lambda taken: taken[0].header.eval.created, reverse=True)
    _refuse_unused([score for _, scores in chosen for score in scores], by)
    scores_of = {log.location: scores for log, scores in chosen}
    found = replace(logs, logs=[log for log, _ in chosen]).each(
        lambda log: [shown(log, scores_of[log.location], by)]
    )
    what = "score of this suite" if choice == EVERY else "score that was asked for"
    lines = logs.lines_for(scores_of, what)
    if not found:
        raise logs.nothing("no scores of this suite in these logs", lines)
    found[-1] = replace(found[-1], left_out=lines)
    # one file or stream holds one document
    for report in found if options.format == "terminal" else [merged(found, "Runs")]:
        write(report, options)


def _taken(logs: Found, choice: Choice) -> list[tuple[FoundLog, list[EvalScore]]]:
    """The logs to show, with the scores to show of each."""
    found = logs.each(lambda log: [(log, list(_scores(log, choice)))])
    if choice == EVERY:
        # a log without scores is told of only where it was asked for by name
        return [(log, [s for s, _ in scores]) for log, scores in found if log.named or scores]
    choice.refuse_unknown([(s.scorer, order) for _, scores in found for s, order in scores])
    kept = [(log, [s for s, o in scores if choice.takes(s.scorer, o)]) for log, scores in found]
    return [(log, scores) for log, scores in kept if scores]


def _scores(log: FoundLog, choice: Choice) -> Iterator[tuple[EvalScore, str]]:
    """The suite's scores of a log, each with its tier order."""
    # an order stands in the samples, which are read for it only where one was asked for
    runs = corda_runs_of(log) if choice.order else ()
    orders = {run.scorer: run.conditions.tier_order for run in runs}
    return ((score, orders.get(score.scorer, "")) for score in suite_scores(log.header))


def shown(log: FoundLog, scores: Sequence[EvalScore], by: Sequence[str] = ()) -> Report:
    """One run: what was run, some scores of the suite in it, and where the log lies.

    Args:
        log: From `find_logs`.
        scores: Those to show, from the log's header.
        by: Breakdowns; a kind of score leaves out those that it does not know.
    """
    tables: list[Table] = []
    header = log.header
    for score in scores:
        for kind in KINDS:
            if kind.holds(score):
                made = kind.figures(log, score, [name for name in by if name in kind.BY])
                tables += [replace(table, run=header.eval.eval_id) for table in made]
    notes = [f"log: {log.name}"]
    if not tables:
        notes = [*without_scores(header), *notes]
    title = f"{header.eval.task}  {header.eval.model}  {header.eval.created[:16]}"
    return Report(title, tables, notes, log.name)


def _refuse_unused(scores: Sequence[EvalScore], by: Sequence[str]) -> None:
    kinds = [k for k in KINDS for score in scores if k.holds(score)]
    known = list(dict.fromkeys(name for kind in kinds for name in kind.BY))
    for name in by:
        if name not in known:
            allowed = ", ".join(known) or "nothing, for lack of scores"
            raise SuiteError(f"--by {name}: not for these runs. Allowed: {allowed}.")
