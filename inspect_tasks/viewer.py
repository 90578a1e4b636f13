"""How `inspect view` shows a run: columns, labels, colours and order."""

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from moral_evals.loaders.morebench.records import DIMENSIONS, dimension_key
from moral_evals.scorers.outcome import FLAGS

_SHARE = ScoreColorScale(palette="good-high", min=0.0, max=1.0)


def rubric_viewer(scorer_prefixes: dict[str, str]) -> ViewerConfig:
    """Score and dimension columns for each rubric scorer, the lowest score on top.

    Args:
        scorer_prefixes: Prefix of the value keys by scorer name, e.g. `{"rubric_judge": ""}`.
    """
    columns = [TaskSamplesColumn(id="sampleStatus"), TaskSamplesColumn(id="sampleId")]
    labels: dict[str, str] = {}
    scales: dict[str, ScoreColorScale] = {}
    for scorer, prefix in scorer_prefixes.items():
        what = "response: " if prefix else ""
        shown = {"score": f"{what}score"}
        shown |= {dimension_key(d): what + d for d in DIMENSIONS}
        for key, label in shown.items():
            name = prefix + key
            columns.append(TaskSamplesColumn.score(scorer, name, visible=key != "dim_other"))
            labels[name] = label
            scales[name] = _SHARE
        for key, label in {"length": "characters", "graded_share": "graded"}.items():
            columns.append(TaskSamplesColumn.score(scorer, prefix + key))
            labels[prefix + key] = what + label
        scales[prefix + "graded_share"] = _SHARE
    columns += [TaskSamplesColumn(id="error"), TaskSamplesColumn(id="tokens")]
    hidden = ("input", "target", "answer", "duration")
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
