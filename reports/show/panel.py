"""How far the judges of a panel agree, and how often one contradicts itself."""

from collections.abc import Sequence

from inspect_ai.log import EvalScore
from inspect_ai.scorer import SampleScore

from moral_evals.reports.form.document import Table
from moral_evals.scorers.rubric.panel_metrics import panel_figures

_LABELS = {
    "alpha": "Krippendorff's alpha",
    "kappa": "kappa",
    "flip_rate": "flip rate",
    "no_majority_share": "without a majority",
    "votes_missing_share": "votes missing",
}


def is_panel(score: EvalScore) -> bool:
    """Whether several judges, or one judge several times, were asked about each criterion."""
    # logs up to version 1-B name no_majority_share wherever votes were counted
    several = int((score.params or {}).get("votes", 1)) > 1
    return several or bool({"alpha", "no_majority_share"} & set(score.metrics))


def panel_table(score: EvalScore, scores: Sequence[SampleScore]) -> Table:
    """The figures of `panel_figures`, from scores with their votes."""
    rows = [[_label(name), value] for name, value in panel_figures(scores).items()]
    title = f"{score.scorer}: agreement of the judges"
    return Table(f"{score.scorer}/panel", title, ["figure", "value"], rows)


def _label(name: str) -> str:
    kind, _, who = name.partition(".")
    return f"{_LABELS[kind]} {who.replace('|', ' and ')}".strip()
