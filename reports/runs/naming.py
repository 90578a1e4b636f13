"""Names of runs in tables: models, told apart where one recurs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from inspect_ai.log import EvalLog

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.values import distinct
from moral_evals.reports.form.document import RunName
from moral_evals.reports.runs.conditions import Conditions


class Run(Protocol):
    """A run of either benchmark."""

    @property
    def log(self) -> EvalLog:
        """The log's header."""

    @property
    def scorer(self) -> str:
        """Name of the score in the log."""

    @property
    def model(self) -> str:
        """The model that was evaluated."""

    @property
    def conditions(self) -> Conditions:
        """The run's conditions."""


def run_names(runs: Sequence[Run]) -> list[RunName]:
    """The models, told apart by the judged text or by a number where one recurs."""
    ids = run_ids(r.log for r in runs)
    times = Counter(r.model for r in runs)
    judged = {r.conditions.judged for r in runs}
    told_apart = [
        f"{r.model} ({r.conditions.judged})" if times[r.model] > 1 and len(judged) > 1 else r.model
        for r in runs
    ]
    names = distinct(told_apart, "{name} #{n}")
    return [RunName(n, ids[r.log.location]) for n, r in zip(names, runs, strict=True)]


def same_answers(first: Run, second: Run) -> bool:
    """Whether two runs are two scorings of the same answers, between which no model is ahead."""
    return first.log.eval.eval_id == second.log.eval.eval_id != ""


def run_ids(logs: Iterable[EvalLog]) -> dict[str, str]:
    """By location of a log the id of its run, by which rows of all tables and exports are joined.

    It is Inspect's `eval_id`. A copy of a log has the same, so a second one gets `#2`.
    """
    found = {log.location: log.eval.eval_id for log in logs}
    return dict(zip(found, distinct(list(found.values()), "{name}#{n}"), strict=True))


def place(names: Sequence[str], wanted: str) -> int:
    """Index of a run by its name or a part that no other name has.

    Raises SuiteError otherwise.
    """
    exact = [i for i, n in enumerate(names) if wanted == n]
    found = exact or [i for i, n in enumerate(names) if wanted in n]
    if len(found) != 1:
        raise SuiteError(
            f"--baseline {wanted}: fits {len(found)} of the runs. Allowed: {', '.join(names)}."
        )
    return found[0]
