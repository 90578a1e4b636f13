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
from moral_evals.scorers.rubric.scenario_table import METRIC_NAMES

_SHARE = ScoreColorScale(palette="good-high", min=0.0, max=1.0)
# short, so that a header stays in one piece beside all others on a small screen
_LABELS = {"score": "score", "length": "chars", "graded_share": "graded"} | {
    dimension_key(dimension): name for dimension, name in METRIC_NAMES.items()
}


def rubric_viewer(scorer_prefixes: dict[str, str]) -> ViewerConfig:
    """Score and dimension columns for each rubric scorer, the lowest score on top.

    Args:
        scorer_prefixes: Prefix of the value keys by scorer name, e.g. `{"rubric_judge": ""}`.
    """
    columns = [TaskSamplesColumn(id="sampleStatus"), TaskSamplesColumn(id="sampleId")]
    labels: dict[str, str] = {}
    scales: dict[str, ScoreColorScale] = {}
    # every score before the parts of any
    for key in ("score", *map(dimension_key, METRIC_NAMES), "length", "graded_share"):
        for scorer, prefix in scorer_prefixes.items():
            name = prefix + key
            columns.append(TaskSamplesColumn.score(scorer, name))
            labels[name] = f"resp. {_LABELS[key]}" if prefix else _LABELS[key]
            if key != "length":
                scales[name] = _SHARE
    for scorer, prefix in scorer_prefixes.items():
        columns += [
            TaskSamplesColumn.score(scorer, prefix + key, visible=False)
            for key in ("dim_other", "declined")
        ]
    columns.append(TaskSamplesColumn(id="error"))
    hidden = ("input", "target", "answer", "tokens", "duration")
    columns += [TaskSamplesColumn(id=name, visible=False) for name in hidden]
    columns += [TaskSamplesColumn.score("outcome", flag, visible=False) for flag in FLAGS]
    first, prefix = next(iter(scorer_prefixes.items()))
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name="Rubric scores",
            columns=columns,
            sort=[TaskSamplesSort.score(first, prefix + "score", dir="asc")],
            multiline=False,
            score_labels=labels,
            score_color_scales=scales,
            color_scales_enabled=True,
        ),
    )


def chain_viewer(scorer: str) -> ViewerConfig:
    """Columns for rollouts, the score first: rank value, share answered, condition, shuffle."""
    labels = {"score": "rank", "answered": "answered", "condition": "condition"}
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
