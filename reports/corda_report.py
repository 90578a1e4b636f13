"""A CORDA run's figures as a terminal table, from the log's header alone."""

import math
from collections.abc import Iterator, Mapping

from inspect_ai.log import EvalLog
from rich.console import Console
from rich.table import Table

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
    ("A/A check (first step; should hold 0)", "aa_check"),
    ("drift difference", "drift_difference"),
    ("hysteresis (best - worst history)", "hysteresis"),
    ("net benefit (own over unconditioned)", "net_benefit"),
    ("win odds", "win_odds"),
)


def corda_metrics(log: EvalLog) -> dict[str, float]:
    """The `lexicographic` scorer's metrics by name; empty if the log has none."""
    for score in log.results.scores if log.results else []:
        if score.scorer.startswith("lexicographic"):
            return {k: m.value for k, m in score.metrics.items()}
    return {}


def show_corda(log: EvalLog, console: Console) -> None:
    """Print the figures of each condition, then the contrasts and what is missing."""
    values = corda_metrics(log)
    conditions = list((log.eval.metadata or {}).get("conditions", []))
    for condition in conditions:
        console.print(_table(condition, _PER_CONDITION, values, f"{condition}."))
        console.print("  " + "; ".join(_notes(condition, values)))
    if any(name in values for _, name in _CONTRASTS):
        console.print(_table("contrasts", _CONTRASTS, values, ""))
    total = log.results.total_samples if log.results else 0
    console.print(f"  {values.get('rollouts', 0):.0f} of {total} rollouts, chance 1/2")


def _table(
    title: str, rows: tuple[tuple[str, str], ...], values: Mapping[str, float], prefix: str
) -> Table:
    table = Table(header_style="bold")
    table.add_column(title)
    for name in ("value", "95% lower", "95% upper"):
        table.add_column(name, justify="right")
    for label, name in rows:
        key = prefix + name
        if key in values:
            ends = (values.get(f"{key}_lower", math.nan), values.get(f"{key}_upper", math.nan))
            table.add_row(label, *(_number(v) for v in (values[key], *ends)))
    return table


def _notes(condition: str, values: Mapping[str, float]) -> Iterator[str]:
    def value(name: str) -> float:
        return values.get(f"{condition}.{name}", math.nan)

    low, high = value("lms_lo"), value("lms_hi")
    missing = {
        k.rpartition(".")[2]: v for k, v in values.items() if k.startswith(f"{condition}.missing.")
    }
    width = value("lms_upper") - value("lms_lower")
    bounds = f"bounds with missing answers {_number(low)} to {_number(high)}"
    # missing answers that could move the score further than sampling does come first
    if high - low > width:
        yield "MISSING ANSWERS MATTER: " + bounds
    else:
        yield bounds
    yield f"ceiling {_number(value('lms_max'))}"
    rates = [f"{k} {v:.1%}" for k, v in missing.items() if v]
    yield "missing: " + (", ".join(rates) if rates else "none")
    tiers = [k for k in values if k.startswith(f"{condition}.tier_won.")]
    yield "won by tier: " + ", ".join(f"{k.rpartition('.')[2]} {_number(values[k])}" for k in tiers)
    best = value("order_scan_best")
    if value("order_scan_stated") == 0:
        yield f"another tier order fits better (LMS {_number(best)})"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
