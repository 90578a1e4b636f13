"""How `inspect view` shows a run: columns, labels, colours and order."""

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from moral_evals.loaders.morebench.records import dimension_key
from moral_evals.scorers.outcome import FLAGS
from moral_evals.scorers.rubric.metrics import METRIC_NAMES

_SHARE = ScoreColorScale(palette="good-high", min=0.0, max=1.0)
# a column is as wide as its label, so a label is as long as its widest cell
_LABELS = {"score": "rubric score", "length": "characters", "graded_share": "graded share"} | {
    dimension_key(dimension): name for dimension, name in METRIC_NAMES.items()
}


def rubric_viewer(scorer_prefixes: dict[str, str]) -> ViewerConfig:
    """Score columns, then the parts of the first scorer, the lowest score on top.

    Args:
        scorer_prefixes: Prefix of the value keys by scorer name, e.g. `{"rubric_judge": ""}`.
    """
    columns: list[TaskSamplesColumn] = []
    labels: dict[str, str] = {}
    scales: dict[str, ScoreColorScale] = {}
    first = next(iter(scorer_prefixes))
    # every score before the parts of any, and the other scorers' parts one click away
    for key in ("score", *map(dimension_key, METRIC_NAMES), "length", "graded_share"):
        for scorer, prefix in scorer_prefixes.items():
            name = prefix + key
            shown = scorer == first or key == "score"
            columns.append(TaskSamplesColumn.score(scorer, name, visible=shown))
            labels[name] = f"response: {_LABELS[key]}" if prefix else _LABELS[key]
            if key != "length":
                scales[name] = _SHARE
        if key == "score":
            columns.append(TaskSamplesColumn(id="sampleId"))
    for scorer, prefix in scorer_prefixes.items():
        columns += [
            TaskSamplesColumn.score(scorer, prefix + key, visible=False)
            for key in ("dim_other", "declined")
        ]
    columns += [TaskSamplesColumn(id="sampleStatus"), TaskSamplesColumn(id="error")]
    hidden = ("input", "target", "answer", "tokens", "duration")
    columns += [TaskSamplesColumn(id=name, visible=False) for name in hidden]
    columns += [TaskSamplesColumn.score("outcome", flag, visible=False) for flag in FLAGS]
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name="Rubric scores",
            columns=columns,
            sort=[TaskSamplesSort.score(first, scorer_prefixes[first] + "score", dir="asc")],
            multiline=False,
            score_labels=labels,
            score_color_scales=scales,
            color_scales_enabled=True,
        ),
    )


def chain_viewer(scorer: str) -> ViewerConfig:
    """Columns for rollouts, the score first: rank value, share answered, condition, shuffle."""
    labels = {"score": "rank value", "answered": "share answered", "condition": "condition asked"}
    labels["shuffle"] = "shuffle"
    columns = [TaskSamplesColumn.score(scorer, key) for key in labels]
    columns += [TaskSamplesColumn(id=name) for name in ("sampleId", "answer")]
    hidden = ("sampleStatus", "input", "target", "tokens", "duration", "error")
    columns += [TaskSamplesColumn(id=name, visible=False) for name in hidden]
    return ViewerConfig(
        # one score a rollout, whose story is the explanation beneath it
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name="Rollouts",
            columns=columns,
            sort=[TaskSamplesSort.score(scorer, "score", dir="asc")],
            multiline=False,
            compact_scores=False,
            score_labels=labels,
            score_color_scales={
                "score": _SHARE,
                "answered": _SHARE,
                "condition": {"unconditioned": "muted", "own": "info", "worst": "warn"},
            },
            color_scales_enabled=True,
        ),
    )
