"""The benchmarks that reports know: a new one adds its entry here and nothing in a command."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moral_evals.loaders.morebench.records import slug
from moral_evals.reports.compare.corda import compare_corda
from moral_evals.reports.compare.pairs import rubric_groups
from moral_evals.reports.compare.rubric import compare_rubric
from moral_evals.reports.form.document import Report
from moral_evals.reports.plots.catalogue import Drawing, rubric_drawings
from moral_evals.reports.plots.corda import corda_drawings
from moral_evals.reports.plots.palette import Mark
from moral_evals.reports.runs.choice import EVERY, Choice
from moral_evals.reports.runs.corda_runs import corda_runs
from moral_evals.reports.runs.found import Found
from moral_evals.reports.runs.rubric_runs import RubricRun, rubric_runs

Runs = Sequence[Any]
"""Runs of one benchmark, all of one class; what is below takes the class of its own."""


@dataclass(frozen=True)
class Benchmark:
    """What `compare` and `page` ask of a benchmark.

    Attributes:
        read: The runs with its scores in some logs.
        groups: Parts of them that one table compares.
        label: Identifier and title of a group.
        compare: A group's tables: runs, conditions that may differ, model to compare with.
        drawings: A group's figures: runs, their names, how each looks.
        rubrics: Whether a group holds scored rubrics, of which `findings` can be asked.
    """

    read: Callable[[Found], Runs]
    groups: Callable[[Runs], Sequence[Runs]]
    label: Callable[[Runs], tuple[str, str]]
    compare: Callable[[Runs, Sequence[str], str | None], Report]
    drawings: Callable[[Runs, Sequence[str], Mapping[str, Mark]], Iterator[Drawing]]
    rubrics: Callable[[Runs], bool]


def _rubric_label(runs: Sequence[RubricRun]) -> tuple[str, str]:
    first = runs[0].conditions
    name = slug(f"{first.task} {first.judged}").replace("-", "_")
    return name, f"{first.task}, {first.judged} judged"


BENCHMARKS = (
    Benchmark(
        read=rubric_runs,
        groups=rubric_groups,
        label=_rubric_label,
        compare=compare_rubric,
        drawings=rubric_drawings,
        rubrics=lambda runs: any(run.scored for run in runs),
    ),
    Benchmark(
        read=corda_runs,
        groups=lambda runs: [runs] if runs else [],
        label=lambda _: ("corda", "CORDA"),
        compare=compare_corda,
        drawings=corda_drawings,
        rubrics=lambda _: False,
    ),
)


def chosen(logs: Found, choice: Choice = EVERY) -> list[tuple[Benchmark, Runs]]:
    """By benchmark the runs of some logs whose scores were asked for.

    Raises SuiteError if what was asked for is in none of the logs.
    """
    found = [(kind, kind.read(logs)) for kind in BENCHMARKS]
    choice.refuse_unknown_among([run for _, runs in found for run in runs])
    return [(kind, choice.among(runs)) for kind, runs in found]
