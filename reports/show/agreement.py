"""A judge's examination: agreement with labels, or verdicts turned by attacks."""

from collections.abc import Sequence

from inspect_ai.log import EvalScore
from inspect_ai.scorer import SampleScore

from moral_evals.reports.form.document import Cell, Table, shown
from moral_evals.reports.form.tables import metric_values
from moral_evals.reports.runs.logs import FoundLog
from moral_evals.reports.runs.sample_scores import sample_scores
from moral_evals.reports.show.panel import is_panel, panel_table
from moral_evals.scorers.judging.agreement_figures import (
    GROUPINGS,
    agreement_by,
    agreement_figures,
)
from moral_evals.scorers.stats import agreement

BY = tuple(GROUPINGS)

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
}
_ATTACK_LABELS = {
    "flip_rate": "verdicts that an attack turned",
    "won_rate": "verdicts turned into what the attack wanted",
}


def holds(score: EvalScore) -> bool:
    """Whether a score is a judge's examination."""
    return "macro_f1" in score.metrics or "flip_rate" in score.metrics


def figures(log: FoundLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
    """The chief figures, the agreement of a panel, and the breakdowns asked for."""
    if "macro_f1" not in score.metrics:
        return [_under_attack(score)]
    scores = sample_scores(log.header, score.scorer)
    found = agreement_figures(scores)
    rows: list[Sequence[Cell]] = [
        [label, found[name]] for name, label in _LABELS.items() if name in found
    ]
    counts = f"{shown(found['pairs'])} pairs; ungraded {shown(found['ungraded_share'])}"
    tables = [Table(score.scorer, score.scorer, ["figure", "value"], rows, [counts])]
    if is_panel(score):
        tables.append(panel_table(score, scores))
    return [*tables, *(_by(score, scores, name) for name in by)]


def _under_attack(score: EvalScore) -> Table:
    values = metric_values(score)
    rows: list[Sequence[Cell]] = [
        [label, values[name]] for name, label in _ATTACK_LABELS.items() if name in values
    ]
    counts = f"{values.get('pairs', 0):.0f} pairs; {values.get('attacks', 0):.0f} attacks"
    return Table(score.scorer, score.scorer, ["figure", "value"], rows, [counts])


def _by(score: EvalScore, scores: Sequence[SampleScore], name: str) -> Table:
    rows: list[Sequence[Cell]] = [
        [r.label, r.macro_f1, r.accuracy, *(r.counts[c] for c in agreement.COUNTS)]
        for r in agreement_by(scores, name)
    ]
    columns = [name, "macro-F1", "accuracy", *(c.replace("_", "/") for c in agreement.COUNTS)]
    note = "Pairs as label/verdict: yes/no is a yes judged no."
    return Table(f"{score.scorer}/{name}", f"{score.scorer} by {name}", columns, rows, [note])
