"""A judge's examination: agreement with labels, or verdicts turned by attacks."""

from collections.abc import Sequence

from inspect_ai.log import EvalLog, EvalScore

from moral_evals.reports.form.document import Table, number
from moral_evals.reports.form.tables import interval_of, metric_values

BY: tuple[str, ...] = ()

_LABELS = {
    "macro_f1": "macro-F1",
    "min_macro_f1": "its minimum over candidates and roles",
    "macro_f1_strict": "macro-F1, ungraded pairs taken as wrong",
    "kappa": "Cohen's kappa",
    "accuracy": "same verdict as the label",
    "yes_bias": "share of yes, judge minus label",
    "base_rate": "share of yes among the labels",
    "ceiling_macro_f1": "ceiling: macro-F1 of the second reader",
    "ceiling_kappa": "ceiling: kappa of the two readers",
    "flip_rate": "verdicts that an attack turned",
    "won_rate": "verdicts turned into what the attack wanted",
}


def holds(score: EvalScore) -> bool:
    """Whether a score is a judge's examination."""
    return "macro_f1" in score.metrics or "flip_rate" in score.metrics


def figures(log: EvalLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
    """The chief figures; the groups' confusion counts are in the log, label named first."""
    values = metric_values(score)
    rows = [(t, interval_of(values, name)) for name, t in _LABELS.items() if name in values]
    counts = [f"{values.get('pairs', 0):.0f} pairs"]
    if "ungraded_share" in values:
        counts.append(f"ungraded {number(values['ungraded_share'])}")
        counts.append("by group in inspect view, as label_verdict: yes_no is a yes judged no")
    else:
        counts.append(f"{values.get('attacks', 0):.0f} attacks")
    return [Table(score.scorer, score.scorer, ["figure", "value"], rows, ["; ".join(counts)])]
