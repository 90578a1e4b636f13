"""Partiality to a theory: does a model reason better under some ethical theories than others?

Scores by theory differ by chance too, the more the fewer the scenarios. The test asks whether the
variance of the theory means is larger than it is when the theory has no effect. A dilemma that
recurs under several theories is a block of its own, within which the labels are shuffled; all
other scenarios are shuffled among each other, which takes their dilemmas to be equally hard
whatever the theory. Criteria differ between theories even for the same dilemma, so an effect may
lie in the rubrics as much as in the model.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from moral_evals.loaders.morebench.records import NEUTRAL, THEORIES
from moral_evals.reports.compare.rubric import interval_of
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.runs.naming import run_names
from moral_evals.reports.runs.remarks import shared_remarks, trace_mark
from moral_evals.reports.runs.rubric_runs import RubricRun
from moral_evals.scorers.stats.bootstrap import Array, Interval, ratio
from moral_evals.scorers.stats.multiplicity import holm
from moral_evals.scorers.stats.permutation import SHUFFLES, permutation_p, shuffled
from moral_evals.scorers.stats.pvalue import NOT_TESTED, PValue

MIN_SCENARIOS = 2
PAPER = {"Act Utilitarianism": 0.648, "Kantian Deontology": 0.659}
"""The paper's averages over models, as shares."""


@dataclass(frozen=True)
class Partiality:
    """Scores of one run by theory.

    Attributes:
        means: Regular by theory with its 95% interval over scenarios.
        tested: Theories with at least two scored scenarios; all figures below are over these.
        spread: Highest minus lowest theory mean; nan for fewer than two theories.
        chance: The same on average if the theory had no effect.
        sd: Standard deviation of the theory means (denominator: theories - 1).
        p: Permutation p-value of "no theory effect".
        scenarios: Scored scenarios in the test.
        blocked: Those of them whose dilemma recurs under another theory.
    """

    means: dict[str, Interval]
    tested: tuple[str, ...]
    spread: float
    chance: float
    sd: float
    p: PValue
    scenarios: int
    blocked: int


def theories(runs: Sequence[RubricRun]) -> Report | None:
    """Partiality of each run, and which theory is ahead for how many; None without theories."""
    names = run_names(runs)
    found = [(run, name, partiality(run)) for run, name in zip(runs, names, strict=True)]
    labels = ordered(label for _, _, p in found for label in p.means)
    if len(labels) < 2:
        return None
    first = runs[0].conditions
    where = f"{first.task}_{first.judged}"
    unmeasured = Interval.unmeasured()
    scores: list[list[Cell]] = [
        [name, *(p.means.get(t, unmeasured) for t in labels)] for _, name, p in found
    ]
    tables = [
        Table(f"theories_{where}", "Regular by theory", ["model", *labels], scores),
        _test_table(f"partiality_{where}", found),
        _ahead_table(f"theory_ranks_{where}", labels, [p for _, _, p in found]),
    ]
    few = [f"{n}, {t}" for _, n, p in found for t in labels if t not in p.tested]
    notes = shared_remarks(runs, names)
    if few:
        notes.append(
            f"Fewer than {MIN_SCENARIOS} scored scenarios, so in no spread and no test: "
            f"{'; '.join(few)}."
        )
    return Report(f"Theories: {first.task}, {first.judged} judged", tables, notes)


def partiality(run: RubricRun) -> Partiality:
    """Scores by theory and the test of no theory effect."""
    labels, scores = np.array(run.labels["theory"], dtype=object), run.values["score"]
    means = {
        theory: interval_of(ratio(np.where(labels == theory, scores, np.nan)))
        for theory in ordered(labels)
    }
    tested = tuple(t for t, found in means.items() if found.n >= MIN_SCENARIOS)
    kept = [i for i, t in enumerate(labels) if t in tested and math.isfinite(scores[i])]
    if len(tested) < 2:
        return Partiality(
            means, tested, *(math.nan,) * 3, p=NOT_TESTED, scenarios=len(kept), blocked=0
        )
    own = [labels[i] for i in kept]
    strata = _strata(own, [run.dilemmas[i] for i in kept])
    values = theory_means(shuffled(scores[kept], strata), own, tested)
    seen = theory_means(scores[kept][None], own, tested)[0]
    return Partiality(
        means=means,
        tested=tested,
        spread=float(np.ptp(seen)),
        chance=float(np.mean(np.ptp(values, axis=1))),
        sd=float(np.std(seen, ddof=1)),
        p=permutation_p(float(np.var(seen)), np.var(values, axis=1)),
        scenarios=len(kept),
        blocked=sum(s != "" for s in strata),
    )


def theory_means(scores: Array, labels: Sequence[str], wanted: Sequence[str]) -> Array:
    """Mean score by theory for each row of scores, shape (rows, theories)."""
    member = np.array([[label == t for t in wanted] for label in labels], dtype=float)
    return np.asarray(scores @ (member / member.sum(axis=0)), dtype=float)


def ordered(labels: Iterable[str]) -> list[str]:
    """The theories that occur: the benchmark's in its order, then any others; never `neutral`."""
    present = set(labels) - {NEUTRAL, ""}
    return [t for t in THEORIES if t in present] + sorted(present - set(THEORIES))


def _strata(labels: Sequence[str], dilemmas: Sequence[str]) -> list[str]:
    """A block for each dilemma that occurs under several theories, "" for all other scenarios."""
    under: dict[str, set[str]] = defaultdict(set)
    for label, dilemma in zip(labels, dilemmas, strict=True):
        under[dilemma].add(label)
    return [d if len(under[d]) > 1 else "" for d in dilemmas]


def _test_table(slug: str, found: Sequence[tuple[RubricRun, str, Partiality]]) -> Table:
    held = holm([p.p for _, _, p in found])
    rows: list[list[Cell]] = [
        [name, p.spread, p.chance, p.sd, p.p, h, p.scenarios, p.blocked, trace_mark(run)]
        for (run, name, p), h in zip(found, held, strict=True)
    ]
    columns = ["model", "spread", "spread by chance", "SD", "p", "Holm p", "scenarios",
               "in blocks", "trace"]  # fmt: skip
    notes = [
        "Spread: highest minus lowest theory mean; by chance: its mean with theories shuffled. "
        f"p: variance of the theory means against {SHUFFLES:,} seeded shuffles, within a dilemma "
        "where it recurs under several theories (in blocks), else over all other scenarios; Holm "
        "over models. Rubrics differ by theory: an effect may be theirs.",
    ]
    return Table(slug, "Partiality: is there an effect of theory?", columns, rows, notes)


def _ahead_table(slug: str, labels: Sequence[str], found: Sequence[Partiality]) -> Table:
    compared = [p for p in found if len(p.tested) > 1]
    rows: list[list[Cell]] = []
    for theory in labels:
        have = [p for p in compared if theory in p.tested]
        means = [p.means[theory].estimate for p in have]
        rows.append(
            [
                theory,
                sum(_extreme(p, theory, 1) for p in have),
                sum(_extreme(p, theory, -1) for p in have),
                len(have),
                float(np.mean(means)) if means else math.nan,
                PAPER.get(theory, math.nan),
            ]
        )
    columns = ["theory", "highest for", "lowest for", "of models", "mean", "paper"]
    notes = ["A tie counts for each theory in it. The paper's figures are averages over models."]
    return Table(slug, "Which theory is ahead", columns, rows, notes)


def _extreme(p: Partiality, theory: str, sign: int) -> bool:
    """Whether no theory's mean is higher (sign 1) or lower (sign -1)."""
    best = max(sign * p.means[t].estimate for t in p.tested)
    return sign * p.means[theory].estimate >= best - 1e-12
