"""Models side by side on CORDA: profiles, paired contrasts, and how conditioning moves each."""

from collections.abc import Callable, Sequence
from itertools import combinations

from moral_evals.loaders.corda.rollouts import CONDITIONS
from moral_evals.reports.compare.corda_pairs import Named, conditioning_table, pairs_table
from moral_evals.reports.form.document import Cell, Report, RunName, Table
from moral_evals.reports.runs.conditions import refuse_incomparable
from moral_evals.reports.runs.corda_runs import CordaRun, all_tiers
from moral_evals.reports.runs.naming import place, run_names, same_answers
from moral_evals.reports.runs.remarks import told_apart
from moral_evals.scorers.corda import bias, metrics
from moral_evals.scorers.corda.table import Arm
from moral_evals.scorers.stats.bootstrap import SMALL_N, Interval, Statistic

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
        if made := _made(asked, chosen):
            tables.append(pairs_table(made, condition))
    both = [
        (r, n)
        for r, n in zip(runs, names, strict=True)
        if _has(r, "own") and _has(r, "unconditioned")
    ]
    if made := _made(both, chosen):
        tables.append(conditioning_table(made))
    orders = "; ".join(dict.fromkeys(r.conditions.tier_order for r in runs))
    notes = [
        f"Tier order {orders}; data {runs[0].conditions.data}. LMS of random choice: 1/2.",
        "Intervals: 95% BCa bootstrap over chains. p: largest of bootstrap, sign flips and paired "
        "t; Holm over the pairs of each table. No verdict below 10 chains, from 10 to 29 a model "
        "is only leaned to.",
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
            found[list(_PROFILE).index("agreement")] = Interval.unmeasured()
        lost = metrics.missing_share([run.table.arms[condition]])
        rows.append([name, *found, lost, len(run.table.ids)])
    columns = ["model", *_PROFILE, "missing", "chains"]
    return Table(f"corda_{condition}", f"CORDA, {condition}", columns, rows)


def _tier_table(asked: Sequence[tuple[CordaRun, str]], condition: str) -> Table:
    """Share won at each tier with its interval, and the tier's weight in the data."""
    order = all_tiers([run for run, _ in asked])
    rows: list[list[Cell]] = []
    for run, name in asked:
        cells: list[Cell] = []
        for tier in order:
            cells.append(run.ask_tier(condition, tier, metrics.tier_won))
            cells.append(run.ask_tier(condition, tier, metrics.tier_weight).estimate)
        rows.append([name, *cells])
    title = f"Share won of the decisions that a tier decides, {condition}"
    columns = ["model", *(c for tier in order for c in (tier, f"weight of {tier}"))]
    return Table(f"corda_tiers_{condition}", title, columns, rows)


def _made(asked: Sequence[Named], baseline: str | None) -> list[tuple[Named, Named]]:
    """All pairs, or those with the baseline; never two scorings of the same answers."""
    return [
        (a, b)
        for a, b in combinations(asked, 2)
        if (baseline is None or baseline in (a[1], b[1])) and not same_answers(a[0], b[0])
    ]
