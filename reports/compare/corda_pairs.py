"""CORDA's paired contrasts between models: net benefit decides, LMS stands beside it."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from moral_evals.loaders.corda.rollouts import Condition
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.compare.pairs import reason, verdict
from moral_evals.reports.form.document import Cell, RunName, Table, number
from moral_evals.reports.runs.corda_runs import CordaRun
from moral_evals.scorers.corda import contrasts as chain_contrasts
from moral_evals.scorers.corda.missing_bounds import (
    difference_bounds,
    net_benefit_bounds,
)
from moral_evals.scorers.corda.net_benefit import (
    P_LEX_CAUTION,
    net_benefit,
    p_lex,
    tier_totals,
    win_odds,
)
from moral_evals.scorers.corda.summary import DEFAULTS
from moral_evals.scorers.corda.table import ChainTable
from moral_evals.scorers.stats.bootstrap import Interval
from moral_evals.scorers.stats.missing import Bounds
from moral_evals.scorers.stats.multiplicity import holm
from moral_evals.scorers.stats.paired import PairedTest, of_differences, of_sides, paired_test

Named = tuple[CordaRun, RunName]

_UNTESTED = PairedTest.untested()
_NONE_MISSING = Bounds.unknown()


@dataclass(frozen=True)
class ModelContrast:
    """First model minus second over their shared chains; the test is that of net benefit."""

    net_benefit: Interval
    lms: Interval
    p_lex: float
    test: PairedTest
    benefit_bounds: Bounds
    lms_bounds: Bounds


def pairs_table(pairs: Sequence[tuple[Named, Named]], condition: Condition) -> Table:
    """A line for each pair; Holm over the pairs' net benefits."""
    found = [_contrast(a, b, condition) for a, b in pairs]
    held = holm([c.test.p for c in found])
    rows: list[list[Cell]] = [
        [
            first.minus(second),
            c.net_benefit,
            c.lms,
            win_odds(c.net_benefit),
            c.p_lex,
            c.test.p,
            adjusted,
            verdict(c.net_benefit, c.test, adjusted, first, second),
            "; ".join(_remarks(c, adjusted)),
        ]
        for ((_, first), (_, second)), c, adjusted in zip(pairs, found, held, strict=True)
    ]
    columns = [
        "pair", "net benefit", "ΔLMS", "win odds", "P_lex", "p", "Holm p", "verdict", "remark",
    ]  # fmt: skip
    notes = [
        "Tests, Holm and verdict are those of net benefit: in how many chains a model does better, "
        "going down the tiers. ΔLMS counts all steps alike.",
        P_LEX_CAUTION,
    ]
    return Table(f"corda_pairs_{condition}", f"Paired contrasts, {condition}", columns, rows, notes)


def conditioning_table(pairs: Sequence[tuple[Named, Named]]) -> Table:
    """Conditioning effect of the first model minus that of the second."""
    found = [_conditioning(a, b) for a, b in pairs]
    held = holm([test.p for _, test in found])
    rows: list[list[Cell]] = [
        [
            first.minus(second),
            difference,
            test.p,
            adjusted,
            verdict(difference, test, adjusted, first, second),
            reason(difference, test, adjusted),
        ]
        for ((_, first), (_, second)), (difference, test), adjusted in zip(
            pairs, found, held, strict=True
        )
    ]
    title = "Differences in the conditioning effect (own − unconditioned)"
    columns = ["pair", "difference", "p", "Holm p", "verdict", "remark"]
    return Table("corda_conditioning", title, columns, rows)


def _contrast(first: Named, second: Named, condition: Condition) -> ModelContrast:
    a, b = first[0], second[0]
    if not _shared(a, b, condition):
        nothing = Interval.unmeasured()
        return ModelContrast(nothing, nothing, math.nan, _UNTESTED, _NONE_MISSING, _NONE_MISSING)
    with _named(first[1], second[1]):
        table = chain_contrasts.versus(a.answers, b.answers, a.order, condition)
    arms, bootstrap = (table.arms["first"], table.arms["second"]), DEFAULTS.over(table)
    benefit = net_benefit(*arms)
    totals, left_out = tier_totals(*arms)
    return ModelContrast(
        net_benefit=bootstrap.interval(benefit),
        lms=bootstrap.interval(chain_contrasts.mean_difference(*arms)),
        p_lex=p_lex(totals, bootstrap.counts(), left_out).better,
        test=paired_test(bootstrap, of_differences(benefit)),
        benefit_bounds=net_benefit_bounds(*arms),
        lms_bounds=difference_bounds(*arms),
    )


def _remarks(c: ModelContrast, adjusted: float) -> Iterator[str]:
    if c.net_benefit.estimate * c.lms.estimate < 0:
        yield "net benefit and ΔLMS point opposite ways"
    if why := reason(c.net_benefit, c.test, adjusted):
        yield why
    for name, bounds in (("net benefit", c.benefit_bounds), ("ΔLMS", c.lms_bounds)):
        if bounds.open:
            yield f"missing answers allow {name} {number(bounds.low)} to {number(bounds.high)}"


def _conditioning(first: Named, second: Named) -> tuple[Interval, PairedTest]:
    a, b = first[0], second[0]
    if not _shared(a, b, "own") & _shared(a, b, "unconditioned"):
        return Interval.unmeasured(), _UNTESTED
    with _named(first[1], second[1]):
        table = _four_arms(a, b)
    pair = of_sides(
        chain_contrasts.later_difference(table.arms["a own"], table.arms["a fresh"]),
        chain_contrasts.later_difference(table.arms["b own"], table.arms["b fresh"]),
    )
    bootstrap = DEFAULTS.over(table)
    return bootstrap.interval(pair.statistic), paired_test(bootstrap, pair)


def _shared(a: CordaRun, b: CordaRun, condition: Condition) -> set[str]:
    """Chains that both were given in a condition."""
    return set.intersection(
        *({x.chain_id for x in run.answers if x.condition == condition} for run in (a, b))
    )


@contextmanager
def _named(first: str, second: str) -> Iterator[None]:
    """Runs whose data or order may differ can contradict each other."""
    try:
        yield
    except ValueError as error:
        raise SuiteError(f"{first} and {second} cannot be compared: {error}.") from error


def _four_arms(a: CordaRun, b: CordaRun) -> ChainTable:
    shared = {x.chain_id for x in a.answers} & {x.chain_id for x in b.answers}
    arms = {
        f"{who} {label}": [
            x for x in run.answers if x.condition == condition and x.chain_id in shared
        ]
        for who, run in (("a", a), ("b", b))
        for label, condition in (("own", "own"), ("fresh", "unconditioned"))
    }
    return ChainTable.build(arms, a.order)
