"""A CORDA run's figures, one set of tables for each score in the log."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from inspect_ai.log import EvalLog, EvalScore

from moral_evals.reports.form.document import Cell, Table, number
from moral_evals.reports.form.tables import caveats, interval_of, metric_values

BY: tuple[str, ...] = ()

_PER_CONDITION = (
    ("LMS (agreement with the tier order)", "lms"),
    ("  at conflict pairs", "conflict_lms"),
    ("  at dominance pairs", "dominance_lms"),
    ("drift, first to last step", "drift"),
    ("first-position excess", "first_position_excess"),
    ("first-label excess", "first_label_excess"),
    ("agreement across shuffles, above chance", "agreement_corrected"),
)
_CONTRASTS = (
    ("conditioning effect (own - unconditioned)", "conditioning_effect"),
    ("A/A check (first step; interval should contain 0)", "aa_check"),
    ("drift difference", "drift_difference"),
    ("hysteresis (best - worst history)", "hysteresis"),
    ("net benefit (own over unconditioned)", "net_benefit"),
    ("win odds", "win_odds"),
)


def holds(score: EvalScore) -> bool:
    """Whether a score is one of CORDA's."""
    return score.scorer.startswith("lexicographic")


def figures(log: EvalLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
    """Each condition of a CORDA score, the contrasts, what is missing, its tier order."""
    values, metadata = metric_values(score), log.eval.metadata or {}
    order = (score.params or {}).get("tier_order") or metadata.get("tier_order", [])
    tables = [
        _table(score, condition, _rows(_PER_CONDITION, values, f"{condition}."))
        for condition in metadata.get("conditions", [])
        if f"{condition}.lms" in values
    ]
    tables = [replace(t, notes=["; ".join(_notes(t.title, values))]) for t in tables]
    tables.append(_table(score, "contrasts", _rows(_CONTRASTS, values, "")))
    total = log.results.total_samples if log.results else 0
    notes = [
        *caveats(log, metadata.get("chains", 0), "chains"),
        f"{values.get('rollouts', 0):.0f} of {total} rollouts, chance 1/2",
        f"{score.scorer}, tier order {' > '.join(order)}",
    ]
    last = tables[-1]
    return [*tables[:-1], replace(last, notes=[*last.notes, *notes])]


def _table(score: EvalScore, title: str, rows: Iterator[Sequence[Cell]]) -> Table:
    return Table(f"{score.scorer}/{title}", title, ["figure", "value"], list(rows))


def _rows(
    rows: tuple[tuple[str, str], ...], values: Mapping[str, float], prefix: str
) -> Iterator[Sequence[Cell]]:
    for label, name in rows:
        if prefix + name in values:
            yield label, interval_of(values, prefix + name)


def _notes(condition: str, values: Mapping[str, float]) -> Iterator[str]:
    def value(name: str) -> float:
        return values.get(f"{condition}.{name}", math.nan)

    low, high = value("lms_lo"), value("lms_hi")
    width = value("lms_upper") - value("lms_lower")
    bounds = f"bounds with missing answers {number(low)} to {number(high)}"
    # missing answers that could move the score further than sampling does come first
    yield f"MISSING ANSWERS MATTER: {bounds}" if high - low > width else bounds
    yield f"ceiling {number(value('lms_max'))}"
    rates = [
        f"{name.rpartition('.')[2]} {rate:.1%}"
        for name, rate in values.items()
        if name.startswith(f"{condition}.missing.") and rate
    ]
    yield "missing: " + (", ".join(rates) if rates else "none")
    tiers = {k: v for k, v in values.items() if k.startswith(f"{condition}.tier_won.")}
    won = (f"{name.rpartition('.')[2]} {number(share)}" for name, share in tiers.items())
    yield "won by tier: " + ", ".join(won)
    if value("order_scan_stated") == 0:
        yield f"another tier order fits better (LMS {number(value('order_scan_best'))})"
