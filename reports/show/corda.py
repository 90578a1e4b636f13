"""A CORDA run's figures as terminal tables, one set for each score in the log."""

import math
from collections.abc import Iterator, Mapping

from inspect_ai.log import EvalLog, EvalScore
from rich.console import Console

from moral_evals.reports.form.tables import (
    Row,
    caveats,
    metric_values,
    note,
    number,
    print_table,
    triple,
)

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


def show_corda(log: EvalLog, score: EvalScore, console: Console) -> None:
    """Print a CORDA score: its tier order, each condition, the contrasts, what is missing."""
    values, metadata = metric_values(score), log.eval.metadata or {}
    order = (score.params or {}).get("tier_order") or metadata.get("tier_order", [])
    note(console, [f"{score.scorer}, tier order {' > '.join(order)}"])
    for condition in metadata.get("conditions", []):
        if f"{condition}.lms" in values:
            print_table(console, condition, _rows(_PER_CONDITION, values, f"{condition}."))
            note(console, list(_notes(condition, values)))
    if any(name in values for _, name in _CONTRASTS):
        print_table(console, "contrasts", _rows(_CONTRASTS, values, ""))
    total = log.results.total_samples if log.results else 0
    counts = f"{values.get('rollouts', 0):.0f} of {total} rollouts, chance 1/2"
    note(console, [*caveats(log, metadata.get("chains", 0), "chains"), counts])


def _rows(
    rows: tuple[tuple[str, str], ...], values: Mapping[str, float], prefix: str
) -> Iterator[Row]:
    for label, name in rows:
        if prefix + name in values:
            yield label, triple(values, prefix + name)


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
