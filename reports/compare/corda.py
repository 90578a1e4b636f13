"""Models side by side on CORDA: profiles, paired contrasts, and how conditioning moves each."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import combinations

from moral_evals.loaders.corda.rollouts import CONDITIONS, Condition
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.compare.pairs import verdict
from moral_evals.reports.form.document import Cell, Report, RunName, Table
from moral_evals.reports.form.tables import SMALL_N
from moral_evals.reports.runs.conditions import refuse_incomparable
from moral_evals.reports.runs.corda_runs import CordaRun
from moral_evals.reports.runs.naming import place, run_names
from moral_evals.reports.runs.remarks import told_apart
from moral_evals.scorers.corda import bias, contrasts, metrics
from moral_evals.scorers.corda.summary import DEFAULTS, summarise_models
from moral_evals.scorers.corda.table import Arm, ChainTable
from moral_evals.scorers.stats.bootstrap import Interval, Statistic, difference
from moral_evals.scorers.stats.multiplicity import holm, p_value

_CONTRASTS = ("lms_difference", "net_benefit", "win_odds", "p_lex_better")
_NOTHING = Interval(math.nan, math.nan, math.nan, 0)
_PROFILE: dict[str, Callable[[Arm], Statistic]] = {
    "LMS": metrics.lms,
    "conflict LMS": metrics.conflict_lms,
    "drift": metrics.drift,
    "agreement": metrics.agreement_corrected,
    "first position": bias.first_position_excess,
    "first label": bias.first_label_excess,
}


def compare_corda(
    runs: Sequence[CordaRun], allowed: Sequence[str] = (), baseline: str | None = None
) -> Report:
    """Compare CORDA runs; pairs on the chains that both were given.

    Args:
        runs: At least one.
        allowed: Conditions that may differ, by name.
        baseline: Model (or part of its name) to compare all others with; None compares all pairs.

    Raises:
        SuiteError: If the runs are not comparable, with every reason.
    """
    refuse_incomparable([r.conditions for r in runs], allowed, [r.log.location for r in runs])
    names = run_names(runs)
    chosen = None if baseline is None else names[place(names, baseline)]
    tables = []
    for condition in CONDITIONS:
        asked = [(r, n) for r, n in zip(runs, names, strict=True) if _has(r, condition)]
        if asked:
            tables.append(_profile(asked, condition))
            tables.append(_tier_table(asked, condition))
        if len(asked) > 1:
            tables.append(_pairs(_made(asked, chosen), condition))
    both = [
        (r, n)
        for r, n in zip(runs, names, strict=True)
        if _has(r, "own") and _has(r, "unconditioned")
    ]
    if len(both) > 1:
        tables.append(_conditioning(_made(both, chosen)))
    order = " > ".join(runs[0].order.names)
    notes = [
        f"Tier order {order}; data {runs[0].conditions.data}. LMS of random choice: 1/2.",
        "Intervals: 95% BCa bootstrap over chains; Holm over the pairs of each figure. Net benefit "
        "asks in how many chains a model does better, P_lex which does better in total.",
        *_remarks(runs, names),
    ]
    return Report(f"corda: {len(runs)} runs", tables, notes, "corda")


def _remarks(runs: Sequence[CordaRun], names: Sequence[str]) -> list[str]:
    remarks = []
    for run, name in zip(runs, names, strict=True):
        if run.log.status != "success":
            remarks.append(f"{name}: status {run.log.status}, some rollouts are missing.")
        balance = str((run.log.eval.metadata or {}).get("balance", "balanced"))
        if balance != "balanced":
            remarks.append(
                f"{name}: layouts not balanced, so position and label figures can be off 0."
            )
        if (chains := len({a.chain_id for a in run.answers})) < SMALL_N:
            remarks.append(f"{name}: only {chains} chains.")
    return remarks + told_apart(runs, names)


def _has(run: CordaRun, condition: str) -> bool:
    return condition in run.table.arms


def _profile(asked: Sequence[tuple[CordaRun, RunName]], condition: str) -> Table:
    rows: list[list[Cell]] = []
    for run, name in asked:
        found = [run.ask(condition, figure) for figure in _PROFILE.values()]
        if condition != "unconditioned":
            # elsewhere shuffles have different histories
            found[list(_PROFILE).index("agreement")] = _NOTHING
        lost = metrics.missing_share([run.table.arms[condition]])
        rows.append([name, *found, lost, len(run.table.ids)])
    columns = ["model", *_PROFILE, "missing", "chains"]
    return Table(f"corda_{condition}", f"CORDA, {condition}", columns, rows)


def _tier_table(asked: Sequence[tuple[CordaRun, RunName]], condition: str) -> Table:
    order = asked[0][0].order.names
    rows: list[list[Cell]] = [
        [
            n,
            *(
                r.ask(condition, partial(metrics.tier_won, tier=t)).estimate
                for t in range(len(order))
            ),
        ]
        for r, n in asked
    ]
    title = f"Share won of the decisions that a tier decides, {condition}"
    return Table(f"corda_tiers_{condition}", title, ["model", *order], rows)


Named = tuple[CordaRun, RunName]


def _made(asked: Sequence[Named], baseline: str | None) -> list[tuple[Named, Named]]:
    """All pairs, or those with the baseline."""
    return [
        (a, b) for a, b in combinations(asked, 2) if baseline is None or baseline in (a[1], b[1])
    ]


def _pairs(pairs: Sequence[tuple[Named, Named]], condition: Condition) -> Table:
    found, chances = [], []
    for (a, first), (b, second) in pairs:
        if not _shared(a, b, condition):
            found.append(dict.fromkeys(_CONTRASTS, _NOTHING))
            chances.append(math.nan)
            continue
        with _named(first, second):
            found.append(summarise_models(a.answers, b.answers, a.order, condition))
            table = contrasts.versus(a.answers, b.answers, a.order, condition)
        statistic = contrasts.mean_difference(table.arms["first"], table.arms["second"])
        chances.append(p_value(DEFAULTS.over(table), statistic))
    rows: list[list[Cell]] = []
    for ((_, first), (_, second)), figures, held in zip(pairs, found, holm(chances), strict=True):
        rows.append(
            [
                first.minus(second),
                figures["lms_difference"],
                figures["net_benefit"],
                figures["win_odds"],
                figures["p_lex_better"].estimate,
                held,
                verdict(figures["lms_difference"], held, first, second),
            ]
        )
    columns = ["pair", "ΔLMS", "net benefit", "win odds", "P_lex", "Holm p (ΔLMS)", "verdict"]
    return Table(f"corda_pairs_{condition}", f"Paired contrasts, {condition}", columns, rows)


def _conditioning(pairs: Sequence[tuple[Named, Named]]) -> Table:
    """Conditioning effect of the first model minus that of the second."""
    found, chances = [], []
    for (a, first), (b, second) in pairs:
        if not _shared(a, b, "own") & _shared(a, b, "unconditioned"):
            found.append(_NOTHING)
            chances.append(math.nan)
            continue
        with _named(first, second):
            table = _four_arms(a, b)
        statistic = difference(
            contrasts.later_difference(table.arms["a own"], table.arms["a fresh"]),
            contrasts.later_difference(table.arms["b own"], table.arms["b fresh"]),
        )
        bootstrap = DEFAULTS.over(table)
        found.append(bootstrap.interval(statistic))
        chances.append(p_value(bootstrap, statistic))
    rows: list[list[Cell]] = [
        [first.minus(second), found_one, held, verdict(found_one, held, first, second)]
        for ((_, first), (_, second)), found_one, held in zip(
            pairs, found, holm(chances), strict=True
        )
    ]
    title = "Differences in the conditioning effect (own − unconditioned)"
    return Table("corda_conditioning", title, ["pair", "difference", "Holm p", "verdict"], rows)


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
