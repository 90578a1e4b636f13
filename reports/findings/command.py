"""`moral-reports findings`: what the paper found, asked of one's own models."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from moral_evals.loaders.errors import SuiteError, listing
from moral_evals.loaders.tables.benchmark_file import Benchmarks, read_benchmarks
from moral_evals.loaders.tables.model_file import ModelFacts, read_models
from moral_evals.loaders.tables.reader import fitting
from moral_evals.reports.findings.consistency import consistency, judged_both
from moral_evals.reports.findings.correlation import ScoreName, correlation
from moral_evals.reports.findings.dimension_gap import dimension_gap
from moral_evals.reports.findings.scale import scale
from moral_evals.reports.findings.theories import theories
from moral_evals.reports.form.document import Report, merged
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.runs.choice import EVERY, Choice, add_choice
from moral_evals.reports.runs.conditions import NAMES, refuse_incomparable
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.rubric_runs import RubricRun, rubric_runs


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "findings",
        help="harmless against logical, scale, other benchmarks, theories, trace against response",
    )
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument(
        "--models", metavar="FILE", help="model,family,size_b[,active_b,name]: CSV, YAML or JSON"
    )
    parser.add_argument(
        "--benchmarks", metavar="CSV", help="model, then a column for each other benchmark"
    )
    parser.add_argument(
        "--score", choices=("regular", "hard"), default="regular",
        help="score to correlate with other benchmarks",
    )  # fmt: skip
    parser.add_argument(
        "--allow", action="append", default=[], metavar="CONDITION",
        help=f"go on although this differs; one of {', '.join(NAMES)}; may be repeated",
    )  # fmt: skip
    add_choice(parser, order=False)
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Make the reports, and write them in the form asked for."""
    logs = find_logs(options.logs, figures=True)
    found = findings(
        logs, options.models, options.benchmarks, options.allow, options.score, Choice.of(options)
    )
    if not found:
        raise logs.nothing(
            "nothing scored that a finding rests on (criteria of harmless outcome and of logical "
            "process, several theories, or trace and response) in these logs"
        )
    # one file or stream holds one document
    for report in found if options.format == "terminal" else [merged(found, "Findings")]:
        write(report, options)


def findings(
    logs: Found | Sequence[str],
    models: str | None = None,
    benchmarks: str | None = None,
    allowed: Sequence[str] = (),
    score: ScoreName = "regular",
    choice: Choice = EVERY,
) -> list[Report]:
    """A report for each part for which the logs hold data, task by task; empty if none has.

    Args:
        logs: Logs or folders of logs, or what was found there.
        models: File of families and sizes; without it there is no report on scale.
        benchmarks: File of other benchmarks' scores; without it there is no correlation.
        allowed: Conditions that may differ, by name. The kind of trace always may; it is marked.
        score: Score to correlate.
        choice: Which scores to take where a log holds several.

    Raises:
        SuiteError: If there is no rubric score, or the runs of a task are not comparable.
    """
    families = None if models is None else read_models(Path(models))
    others = None if benchmarks is None else read_benchmarks(Path(benchmarks))
    logs = logs if isinstance(logs, Found) else find_logs(logs, figures=True)
    every = rubric_runs(logs)
    choice.refuse_unknown_among(every)
    runs = choice.among(every)
    lines = logs.lines_for((r.log.location for r in runs), "MoReBench score taken")
    if not runs:
        raise logs.nothing("no MoReBench scores in these logs", lines)
    _refuse_strangers(runs, families, others)
    reports: list[Report | None] = []
    for group in _groups(runs, lambda r: r.conditions.task):
        for same in _groups(group, _trace_first):
            refuse_incomparable(
                [r.conditions for r in same], allowed, [r.log.location for r in same]
            )
            reports.append(dimension_gap(same))
            reports.append(None if families is None else scale(same, families))
            reports.append(None if others is None else correlation(same, others, score))
            reports.append(theories(same))
        reports.append(consistency(judged_both(group, allowed)))
    found = [r for r in reports if r is not None]
    if found:
        found[-1] = replace(found[-1], left_out=lines)
    return found


def _groups(runs: Sequence[RubricRun], key: Callable[[RubricRun], str]) -> list[list[RubricRun]]:
    """Runs with the same key, sorted by it, within a group by model."""
    ranked = sorted(runs, key=lambda r: (key(r), r.model, r.log.eval.created))
    return [list(group) for _, group in groupby(ranked, key)]


def _trace_first(run: RubricRun) -> str:
    return "" if run.conditions.judged == "trace" else run.conditions.judged


def _refuse_strangers(
    runs: Iterable[RubricRun],
    families: dict[str, ModelFacts] | None,
    others: Benchmarks | None,
) -> None:
    """A file that has none of the models is a mistake in the names, not an empty report."""
    models = sorted({r.model for r in runs})
    files: dict[str, list[str]] = {}
    if families is not None:
        files["--models"] = list(families)
    if others is not None:
        files["--benchmarks"] = list(others.scores)
    for option, names in files.items():
        if not any(fitting(names, m) for m in models):
            raise SuiteError(
                f"{option}: the file has none of the models of the logs. Allowed are their names, "
                f"or what follows a / in them: {listing(models)}; the file has {listing(names)}."
            )
