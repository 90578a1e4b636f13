"""Finished logs grouped for a report: runs that one table compares, with their figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from inspect_ai.log import EvalLog

from moral_evals.reports.benchmarks import Benchmark, Runs, chosen
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.plots.catalogue import Drawing
from moral_evals.reports.plots.palette import Mark, marks
from moral_evals.reports.runs.choice import EVERY, Choice
from moral_evals.reports.runs.conditions import NAMES, Conditions, refuse_incomparable
from moral_evals.reports.runs.found import Found
from moral_evals.reports.runs.logs import shown_name
from moral_evals.reports.runs.naming import run_names


@dataclass(frozen=True)
class Section:
    """Runs of one benchmark that are comparable.

    Attributes:
        name: Short identifier, for file names.
        title: What a reader sees in a figure's title.
        report: Makes the tables.
        rubrics: Whether the runs hold scored rubrics, of which `findings` can be asked.
        drawings: The figures for which the logs hold data.
        logs: Where they lie.
        scorers: Names of the scores taken.
    """

    name: str
    title: str
    report: Callable[[], Report]
    rubrics: bool
    drawings: Sequence[Drawing]
    logs: Sequence[str]
    scorers: frozenset[str]


def sections(logs: Found, allowed: Sequence[str] = (), choice: Choice = EVERY) -> list[Section]:
    """A section for each benchmark and judged text; a model looks the same in all of them.

    Args:
        logs: The logs that count.
        allowed: Conditions that may differ, by name.
        choice: Which scores to take where a log holds several.

    Raises:
        SuiteError: If there is nothing to show, or the runs of a benchmark are not comparable.
    """
    groups = [(kind, group) for kind, runs in chosen(logs, choice) for group in kind.groups(runs)]
    for _, runs in groups:
        refuse_incomparable([r.conditions for r in runs], allowed, [r.log.location for r in runs])
    looks = marks(name for _, runs in groups for name in run_names(runs))
    if not groups:
        raise logs.nothing("no scores of this suite in these logs")
    return [_section(kind, runs, allowed, looks) for kind, runs in groups]


def left_out(logs: Found, made: Sequence[Section]) -> list[str]:
    """What the sections do not show, and why."""
    used = [place for section in made for place in section.logs]
    return logs.lines_for(used, "score of a benchmark")


def _section(
    kind: Benchmark, runs: Runs, allowed: Sequence[str], looks: Mapping[str, Mark]
) -> Section:
    names = run_names(runs)
    make = partial(kind.compare, runs, allowed, None)
    logs = [(r.log, r.conditions) for r in runs]
    name, title = kind.label(runs)
    drawings = list(kind.drawings(runs, names, looks))
    places = [r.log.location for r in runs]
    report = _with_facts(make, names, logs)
    scorers = frozenset(str(r.scorer) for r in runs)
    return Section(name, title, report, kind.rubrics(runs), drawings, places, scorers)


def _with_facts(
    make: Callable[[], Report], names: Sequence[str], logs: Sequence[tuple[EvalLog, Conditions]]
) -> Callable[[], Report]:
    """The report, with what it compares and what it is made from."""

    def report() -> Report:
        made = make()
        extra = [_conditions_table([c for _, c in logs]), _runs_table(names, [g for g, _ in logs])]
        return replace(made, tables=[*made.tables, *extra])

    return report


def _conditions_table(conditions: Sequence[Conditions]) -> Table:
    rows: list[list[Cell]] = []
    for name in NAMES:
        texts = sorted({getattr(c, name) or "not recorded" for c in conditions})
        if texts != ["not recorded"]:
            rows.append([name.replace("_", " "), "; ".join(texts)])
    return Table("conditions", "Conditions", ["condition", "value"], rows)


def _runs_table(names: Sequence[str], logs: Sequence[EvalLog]) -> Table:
    rows = [[name, *_facts(log)] for name, log in zip(names, logs, strict=True)]
    return Table("runs", "Runs", ["model", "begun", "status", "samples", "log"], rows)


def _facts(log: EvalLog) -> Iterator[Cell]:
    yield log.eval.created[:16].replace("T", " ")
    yield log.status
    yield log.results.completed_samples if log.results else 0
    yield Path(shown_name(log.location)).name
