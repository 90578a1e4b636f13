"""`moral-reports compare`: models side by side, from finished logs."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from moral_evals.reports.benchmarks import chosen as chosen_runs
from moral_evals.reports.compare.latex_row import latex_row
from moral_evals.reports.compare.pairs import rubric_groups
from moral_evals.reports.form.document import Report, merged
from moral_evals.reports.form.output import add_output, say, write
from moral_evals.reports.runs.choice import EVERY, Choice, add_choice
from moral_evals.reports.runs.conditions import NAMES
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.rubric_runs import RubricRun


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("compare", help="models side by side, with paired differences")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="CONDITION",
        help=f"compare although this differs; one of {', '.join(NAMES)}; may be repeated",
    )  # fmt: skip
    parser.add_argument("--baseline", metavar="MODEL", help="compare each run with this one only")
    add_choice(parser)
    parser.add_argument(
        "--latex-row", action="store_true",
        help="print one row a model, in the column order of upstream's calculator",
    )  # fmt: skip
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Compare, and write in the form asked for."""
    if options.latex_row:
        logs = find_logs(options.logs)
        chosen = chosen_runs(logs, Choice.of(options))
        rubrics = [run for _, runs in chosen for run in runs if isinstance(run, RubricRun)]
        lines = logs.lines_for((r.log.location for r in rubrics), "MoReBench score taken")
        if not rubrics:
            raise logs.nothing("no MoReBench scores in these logs", lines)
        for rubric in (run for group in rubric_groups(rubrics) for run in group):
            of = rubric.conditions
            # a comment to LaTeX, so that a row is not taken for another's
            print(f"% {rubric.model}, {of.task}, {of.judged} judged, judge {of.judge}")
            print(latex_row(rubric))
        say(lines)
        return
    found = compare(options.logs, options.allow, options.baseline, Choice.of(options))
    # one file or stream holds one document
    for report in found if options.format == "terminal" else [merged(found, "Comparison")]:
        write(report, options)


def compare(
    paths: Sequence[str],
    allowed: Sequence[str] = (),
    baseline: str | None = None,
    choice: Choice = EVERY,
) -> list[Report]:
    """A report for each benchmark among the logs.

    Args:
        paths: Logs or folders of logs.
        allowed: Conditions that may differ, by name.
        baseline: Model to compare all others with.
        choice: Which scores to take where a log holds several.

    Raises:
        SuiteError: If there is nothing to compare, or the runs of a benchmark are not comparable.
    """
    logs = find_logs(paths)
    chosen = chosen_runs(logs, choice)
    used = [run.log.location for _, runs in chosen for run in runs]
    lines = logs.lines_for(used, "score of a benchmark taken")
    reports = [
        kind.compare(group, allowed, baseline)
        for kind, runs in chosen
        for group in kind.groups(runs)
    ]
    if not reports:
        raise logs.nothing("no scores of this suite in these logs", lines)
    reports[-1] = replace(reports[-1], left_out=lines)
    return reports
