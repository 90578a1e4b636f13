"""Finished logs grouped for a report: runs that one table compares, with their figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from inspect_ai.log import EvalLog

from moral_evals.loaders.morebench.records import slug
from moral_evals.reports.compare.corda import compare_corda
from moral_evals.reports.compare.pairs import rubric_groups
from moral_evals.reports.compare.rubric import compare_rubric
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.plots.catalogue import Drawing, corda_drawings, rubric_drawings
from moral_evals.reports.plots.palette import Mark, marks
from moral_evals.reports.runs.conditions import NAMES, Conditions, refuse_incomparable
from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.reports.runs.found import Found
from moral_evals.reports.runs.logs import shown_name
from moral_evals.reports.runs.naming import Run, run_names
from moral_evals.reports.runs.rubric_runs import RubricRun, rubric_runs


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
    """

    name: str
    title: str
    report: Callable[[], Report]
    rubrics: bool
    drawings: Sequence[Drawing]
    logs: Sequence[str]


def sections(logs: Found, allowed: Sequence[str] = ()) -> list[Section]:
    """A section for each benchmark and judged text; a model looks the same in all of them.

    Args:
        logs: The logs that count.
        allowed: Conditions that may differ, by name.

    Raises:
        SuiteError: If there is nothing to show, or the runs of a benchmark are not comparable.
    """
    groups = rubric_groups(rubric_runs(logs))
    chains = corda_runs(logs)
    together: list[Sequence[Run]] = [*groups, chains]
    for runs in together:
        refuse_incomparable([r.conditions for r in runs], allowed, [r.log.location for r in runs])
    looks = marks(name for runs in together for name in run_names(runs))
    found = [_rubric_section(group, allowed, looks) for group in groups]
    if chains:
        names = run_names(chains)
        make = partial(compare_corda, chains, allowed)
        drawings = list(corda_drawings(chains, names, looks))
        made = [(r.log, r.conditions) for r in chains]
        places = [r.log.location for r in chains]
        report = _with_facts(make, names, made)
        found.append(Section("corda", "CORDA", report, False, drawings, places))
    if not found:
        raise logs.nothing("no scores of this suite in these logs")
    return found


def left_out(logs: Found, made: Sequence[Section]) -> list[str]:
    """What the sections do not show, and why."""
    used = [place for section in made for place in section.logs]
    return logs.lines_for(used, "MoReBench or CORDA score")


def _rubric_section(
    runs: Sequence[RubricRun], allowed: Sequence[str], looks: Mapping[str, Mark]
) -> Section:
    names, first = run_names(runs), runs[0].conditions
    make = partial(compare_rubric, runs, allowed)
    name = slug(f"{first.task} {first.judged}").replace("-", "_")
    title = f"{first.task}, {first.judged} judged"
    logs = [(r.log, r.conditions) for r in runs]
    drawings = list(rubric_drawings(runs, names, looks))
    scored = any(r.scored for r in runs)
    places = [r.log.location for r in runs]
    return Section(name, title, _with_facts(make, names, logs), scored, drawings, places)


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
