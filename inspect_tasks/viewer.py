"""How `inspect view` shows a run: columns, labels, colours and order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesView,
    ViewerConfig,
)

from moral_evals.loaders.morebench.records import dimension_key
from moral_evals.scorers.outcome import FLAGS
from moral_evals.scorers.rubric.scenario_table import METRIC_NAMES

_SHARE = ScoreColorScale(palette="good-high", min=0.0, max=1.0)
# a column is as wide as its label, and 120 pixels at most, so that a long label is cut
_LABELS = {"score": "score"} | {dimension_key(d): name for d, name in METRIC_NAMES.items()}
_LABELS |= {"length": "chars", "graded_share": "graded", "dim_other": "other"}
_LABELS["declined"] = "declined"


@dataclass(frozen=True)
class _Columns:
    """Columns of one rubric scorer; `labels` by value key without the prefix."""

    scorer: str
    prefix: str
    labels: Mapping[str, str]

    def column(self, key: str) -> TaskSamplesColumn:
        return TaskSamplesColumn.score(self.scorer, self.prefix + key)

    def label(self, key: str) -> str:
        if not self.prefix:
            return self.labels[key]
        return "resp. score" if key == "score" else f"r. {self.labels[key]}"


def rubric_viewer(
    scorer_prefixes: dict[str, str], own_dimensions: Sequence[str] = ()
) -> ViewerConfig:
    """The score of each rubric scorer, the parts of the first one, then all the rest.

    The viewer shows every score column, also those that it is told to hide: what is looked at
    first stands to the left. It is not sorted, since the arrow would cut the score's own label.

    Args:
        scorer_prefixes: Prefix of the value keys by scorer name, e.g. `{"rubric_judge": ""}`.
        own_dimensions: The user's own, which stand to the left of the benchmark's.
    """
    given = _LABELS | {dimension_key(d): d for d in own_dimensions}
    scorers = [_Columns(name, prefix, given) for name, prefix in scorer_prefixes.items()]
    first, *others = scorers
    own = [dimension_key(d) for d in own_dimensions]
    usual = [key for key in _LABELS if key not in ("score", "dim_other", "declined")]
    parts = [*own, *usual]
    columns = [s.column("score") for s in scorers]
    columns.append(TaskSamplesColumn(id="sampleId"))
    columns += [first.column(key) for key in parts]
    columns += [TaskSamplesColumn(id=name) for name in ("sampleStatus", "error")]
    columns += [s.column(key) for s in others for key in parts]
    columns += [s.column(key) for s in scorers for key in ("dim_other", "declined")]
    columns += [TaskSamplesColumn.score("outcome", flag) for flag in FLAGS]
    hidden = ("input", "target", "answer", "tokens", "duration")
    columns += [TaskSamplesColumn(id=name, visible=False) for name in hidden]
    labels = {s.prefix + key: s.label(key) for s in scorers for key in given}
    labels |= {flag: flag.replace("trace_", "") for flag in FLAGS}
    labels["trace_summary"] = "digest"  # the viewer cuts SUMMARY, whose capitals are wide
    shares = [key for key in given if key not in ("length", "declined")]
    scales = {s.prefix + key: _SHARE for s in scorers for key in shares}
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name="Rubric scores",
            columns=columns,
            multiline=False,
            score_labels=labels,
            score_color_scales=scales,
            color_scales_enabled=True,
        ),
    )


def chain_viewer(scorer: str) -> ViewerConfig:
    """Columns for rollouts, the score first: rank value, share answered, condition, shuffle."""
    labels = {"score": "rank", "answered": "replied", "condition": "asked under"}
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
