"""Correlation with other benchmarks: does moral reasoning come with capability, or with taste?

The units are models, of which there are few; so n stands beside every figure, and fewer than ten
are called too few.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from moral_evals.loaders.tables.benchmark_file import Benchmarks
from moral_evals.loaders.tables.reader import fitting
from moral_evals.reports.compare.pairs import FIGURES
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.runs.naming import run_names
from moral_evals.reports.runs.remarks import shared_remarks
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import FEWEST, SMALL_N, Array, Interval
from moral_evals.scorers.stats.multiplicity import holm
from moral_evals.scorers.stats.permutation import SHUFFLES, permutation_p, shuffled
from moral_evals.scorers.stats.pvalue import NOT_TESTED, PValue

ScoreName = Literal["regular", "hard"]

MIN_N = 4
"""Fewest units for a test. An interval takes `FEWEST`, as everywhere."""
PAPER = (-0.245, 0.216)
"""Lowest and highest r of the paper with Chatbot Arena, HLE, AIME 25 and LiveCodeBench."""
_Z = float(stats.norm.ppf(0.975))
_COLUMNS = ["benchmark", "models", "Pearson r", "p", "Holm p", "Spearman rho", "p (rho)",
            "Holm p (rho)", "remark"]  # fmt: skip


@dataclass(frozen=True)
class Correlated:
    """A coefficient over units that have both values.

    Attributes:
        found: Coefficient with its 95% interval; nan for fewer than three units or if one side
            does not vary, no interval for fewer than five or if all units lie on a line.
        p: Two-sided permutation p-value; nan for fewer than four units.
    """

    found: Interval
    p: PValue


def pearson(x: Array, y: Array) -> Correlated:
    """Pearson's r; interval by Fisher's z with standard error 1/sqrt(n - 3)."""
    x, y = _both(x, y)
    r = _coefficient(x, y)
    return Correlated(fisher_interval(r, len(x), 1.0), _p(x, y, r))


def spearman(x: Array, y: Array) -> Correlated:
    """Spearman's rho, ties at their mean rank.

    Interval by Bonett and Wright (2000, Psychometrika 65, 23-28): Fisher's z with standard error
    sqrt((1 + rho^2 / 2) / (n - 3)). It is an approximation: rough for few units, many ties, and
    |rho| near 1.
    """
    # rounded, so that the last bits break no tie
    x, y = (np.asarray(stats.rankdata(v.round(12)), dtype=float) for v in _both(x, y))
    rho = _coefficient(x, y)
    return Correlated(fisher_interval(rho, len(x), 1 + rho**2 / 2), _p(x, y, rho))


def fisher_interval(r: float, n: int, spread: float) -> Interval:
    """Interval of a correlation by Fisher's z with variance `spread / (n - 3)`."""
    if math.isnan(r) or n < FEWEST:
        return Interval(r, math.nan, math.nan, n)
    if abs(r) == 1:  # z is infinite, and an interval without width would be a lie
        return Interval(r, math.nan, math.nan, n, "degenerate")
    z, reach = math.atanh(r), _Z * math.sqrt(spread / (n - 3))
    flag = "small_n" if n < SMALL_N else ""
    return Interval(r, math.tanh(z - reach), math.tanh(z + reach), n, flag)


def correlation(
    runs: Sequence[RubricRun], benchmarks: Benchmarks, score: ScoreName = "regular"
) -> Report | None:
    """Correlation over models with each benchmark; None if the file has none of the models.

    Args:
        runs: Comparable runs; several of one model count as one, with their mean score.
        benchmarks: Other scores; models that the file lacks are named in a remark.
        score: Which of our scores.
    """
    scores, left_out = model_scores(runs, benchmarks, score)
    if not scores:
        return None
    ours = np.array([float(np.mean(values)) for values in scores.values()])
    theirs = {
        name: np.array([benchmarks.scores[model][name] for model in scores])
        for name in benchmarks.names
    }
    found = [(pearson(ours, other), spearman(ours, other)) for other in theirs.values()]
    held = zip(holm([r.p for r, _ in found]), holm([rho.p for _, rho in found]), strict=True)
    rows: list[list[Cell]] = [
        [name, r.found.n, r.found, r.p, held_r, rho.found, rho.p, held_rho, _remark(r.found)]
        for name, (r, rho), (held_r, held_rho) in zip(theirs, found, held, strict=True)
    ]
    low, high = PAPER
    rows.append(["paper, lowest", *_paper(low)])
    rows.append(["paper, highest", *_paper(high)])
    first = runs[0].conditions
    title = f"{score.capitalize()} against other benchmarks"
    name = f"correlation_{score}_{first.task}_{first.judged}"
    notes = [*_remarks(scores, left_out, score), *shared_remarks(runs, run_names(runs))]
    report = f"Correlation with other benchmarks: {first.task}, {first.judged} judged"
    return Report(report, [Table(name, title, _COLUMNS, rows, _NOTES)], notes)


def model_scores(
    runs: Sequence[RubricRun], benchmarks: Benchmarks, score: ScoreName
) -> tuple[dict[str, list[float]], list[str]]:
    """Scores of the runs by the model's name in the file, and who is left out and why."""
    scores: dict[str, list[float]] = {}
    left_out: dict[str, None] = {}
    for run in runs:
        name = fitting(benchmarks.scores, run.model)
        value = FIGURES[score.capitalize()](run, run.ids).estimate()
        if name is None:
            left_out[f"{run.model} (not in the file)"] = None
        elif math.isnan(value):
            left_out[f"{run.model} (no score)"] = None
        else:
            scores.setdefault(name, []).append(value)
    return scores, list(left_out)


_NOTES = (
    "Intervals over models: Fisher's z for r, Bonett and Wright (2000) for rho; none for fewer "
    f"than {FEWEST} models, nor where all lie on one line. p: two-sided, {SHUFFLES:,} seeded permutations, from {MIN_N} models on; Holm over benchmarks. "
    "The scores' own intervals over scenarios are not in it, and models of one family are not "
    "independent: read the intervals as too narrow.",
    "Paper: r between -0.245 and 0.216 with Chatbot Arena, HLE, AIME 25 and LiveCodeBench.",
)


def _both(x: Array, y: Array) -> tuple[Array, Array]:
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known]


def _coefficient(x: Array, y: Array) -> float:
    # two points always lie on a line
    if len(x) < MIN_N - 1 or _constant(x) or _constant(y):
        return math.nan
    r = float(stats.pearsonr(x, y).statistic)
    return math.copysign(1.0, r) if abs(r) > 1 - 1e-12 else r


def _constant(values: Array) -> bool:
    return float(np.ptp(values)) <= 1e-12 * max(1.0, float(np.max(np.abs(values))))


def _p(x: Array, y: Array, r: float) -> PValue:
    if math.isnan(r) or len(x) < MIN_N:
        return NOT_TESTED
    fixed = (y - y.mean()) / (np.std(x) * np.std(y) * len(x))
    return permutation_p(abs(r), np.abs(shuffled(x - x.mean()) @ fixed))


def _remark(found: Interval) -> str:
    if found.n < SMALL_N:
        return "too few models to lean on"
    return "" if math.isfinite(found.estimate) else "does not vary"


def _paper(r: float) -> list[Cell]:
    return [math.nan, r, *[math.nan] * 5, ""]


def _remarks(
    scores: Mapping[str, Sequence[float]], left_out: Sequence[str], score: str
) -> list[str]:
    remarks = [f"Score: MoReBench-{score.capitalize()}, {len(scores)} models in the file."]
    if left_out:
        remarks.append(f"Left out: {', '.join(left_out)}.")
    remarks += [
        f"{model}: {len(values)} runs, their mean counts once."
        for model, values in scores.items()
        if len(values) > 1
    ]
    return remarks
