"""Data frames of this suite's scores, built on Inspect's: they join with `samples_df` on `sample_id`.

Inspect's own frames hold a dict score as one JSON text and know nothing of criteria.
"""

import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
from inspect_ai.analysis import EvalModel, SampleColumn, evals_df, samples_df
from inspect_ai.scorer import Score

from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.runs import corda_frames
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.logs import content_of
from moral_evals.scorers.corda.records import LoggedRollout
from moral_evals.scorers.rubric.record import RubricRecord, score_values

_COLUMNS = [
    SampleColumn("id", path="id", required=True),
    SampleColumn("epoch", path="epoch", required=True),
    SampleColumn("metadata", path="metadata", full=True),
    SampleColumn("scores", path="scores", full=True),
]
_KEYS = ("sample_id", "eval_id", "log", "model", "id", "epoch")
_LABELS = ("role", "source", "source_group", "type", "context", "theory")
_FACTS = ("judge_mode", "protocol", "trace_kind")
INDEX = ("scorer", "judged", "judge")
"""Index levels: what must be the same, or grouped by, before rows are averaged."""

Logs = str | Sequence[str] | Found
Sample = dict[str, Any]
Row = dict[str, Any]
Rows = Callable[[Sample, str, dict[str, Any]], Iterator[Row]]
"""From a sample, the name of a score and the score to its rows; none for a score of other kind."""


class MixedRowsWarning(UserWarning):
    """A frame holds scores that no mean should be taken over together."""


def scenarios_df(logs: Logs, *, scorer: str | None = None) -> pd.DataFrame:
    """One row for each rubric score of each sample.

    Index: `scorer`, `judged` (`trace` or `response`) and `judge`; a MixedRowsWarning says so if
    any of them has several values, since a plain mean would then be over unlike scores.

    Columns: `sample_id` (Inspect's), `eval_id`, `log`, `model`, `id`, `epoch`; labels (`role` ...
    `theory`); `judge_mode`, `protocol`, `trace_kind`; `reason` if there is no score; and the value
    keys: `score` and `dim_*` in [0, 1], `length` in characters, `graded_share`, `declined`. Not
    measured is nan. The numbers are those that were computed, before any rounding for the viewer.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like; or what `find_logs` found.
        scorer: Take this score alone.
    """
    return _framed(logs, scorer, _rubric(_scenarios), INDEX, (*_LABELS, *_FACTS))


def criteria_df(logs: Logs, *, scorer: str | None = None) -> pd.DataFrame:
    """One row for each criterion of each rubric score of each sample.

    Index and columns as in `scenarios_df` up to `trace_kind`, then `criterion_id`, `criterion`,
    `weight`, `dimension`, `verdict` (`yes`, `no`, `ungraded`), `fulfilled` (None if ungraded),
    `reason` (why it is ungraded), `source` (where the verdict was read: `criterion`, `rubric`,
    `alone`, `cache`; None if the log does not say), and `votes`, the list of a panel's votes, None
    for a judge asked once.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like; or what `find_logs` found.
        scorer: Take this score alone.
    """
    return _framed(logs, scorer, _rubric(_criteria), INDEX, (*_LABELS, *_FACTS))


def corda_steps_df(
    logs: Logs, *, scorer: str | None = None, condition: str | None = None
) -> pd.DataFrame:
    """One row for each step of each rollout of each CORDA score.

    Index: `scorer`, `tier_order` (highest first, joined by ` > `) and `condition`, with a
    MixedRowsWarning as in `scenarios_df`.

    Columns: `sample_id` (Inspect's), `eval_id`, `log`, `model`, `id`, `epoch`; `chain_id` (the
    unit of every interval), `stratum`, `shuffle`; `step` from 1, `step_id`, `options` (their
    number), `informative` (whether the order decides any pair of them), `status` (`answered`,
    `abstained`, ...), `chosen` (id of the option), the `label` and `position` (from 1) that it was
    shown under, `u` (its rank value in [0, 1]; nan if there is none or the step is not
    informative), `reminders`, `trace_kind`.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like; or what `find_logs` found.
        scorer: Take this score alone.
        condition: Take this condition alone.
    """
    rows = _chains(lambda found, _: corda_frames.steps(found), condition)
    return _framed(logs, scorer, rows, corda_frames.INDEX, corda_frames.LABELS)


def rollouts_df(
    logs: Logs, *, scorer: str | None = None, condition: str | None = None
) -> pd.DataFrame:
    """One row for each rollout of each CORDA score: a chain in one condition and shuffle.

    Index and columns as in `corda_steps_df` up to `shuffle`, then `steps`, `informative` and
    `answered` (numbers of steps), `score` (mean rank value of its scored steps in [0, 1], nan
    without one) and `reason` (why there is no score). The run's LMS is the mean over chains of the
    mean over steps of the mean over shuffles of `u`: take it from `corda_steps_df`.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like; or what `find_logs` found.
        scorer: Take this score alone.
        condition: Take this condition alone.
    """
    rows = _chains(corda_frames.rollout, condition)
    return _framed(logs, scorer, rows, corda_frames.INDEX, corda_frames.LABELS)


def _framed(
    logs: Logs, scorer: str | None, rows: Rows, index: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    if not isinstance(logs, Found):
        logs = find_logs([logs] if isinstance(logs, str) else logs)
        for line in logs.lines:
            warnings.warn(line, stacklevel=3)
    places = [log.location for log in logs.logs]
    samples = samples_df(places, columns=_COLUMNS, quiet=True)
    models = evals_df(places, columns=EvalModel, quiet=True).set_index("eval_id")["model"]
    found: list[Row] = []
    for sample in samples.to_dict("records"):
        sample["model"] = models[sample["eval_id"]]
        sample["metadata"] = _decoded(sample["metadata"])
        for name, score in _decoded(sample["scores"]).items():
            if scorer in (None, name):
                with content_of(sample["log"]):
                    found += rows(sample, name, score)
    empty = None if found else [*index, *_KEYS, *columns]
    frame = pd.DataFrame(found, columns=empty).set_index(list(index))
    _warn_of_mixtures(frame)
    return frame


def _rubric(rows: Callable[[Sample, dict[str, Any], RubricRecord], Iterator[Row]]) -> Rows:
    def of_score(sample: Sample, name: str, score: dict[str, Any]) -> Iterator[Row]:
        if record := RubricRecord.within(score):
            common = _base(sample, name, record)
            yield from (common | row for row in rows(sample, score, record))

    return of_score


def _chains(
    rows: Callable[[LoggedRollout, dict[str, Any]], Iterator[Row]], condition: str | None
) -> Rows:
    def of_score(sample: Sample, name: str, score: dict[str, Any]) -> Iterator[Row]:
        found = corda_frames.logged_rollout(sample["metadata"], score)
        if found and condition in (None, found.answer.condition):
            level = corda_frames.base(name, found)
            common = level | {key: sample[key] for key in _KEYS}
            yield from (common | row for row in rows(found, score))

    return of_score


def _base(sample: Sample, scorer: str, record: RubricRecord) -> dict[str, Any]:
    base = {"scorer": scorer, "judged": record.judged, "judge": record.judge}
    base |= {key: sample[key] for key in _KEYS}
    base |= {label: sample["metadata"].get(label) for label in _LABELS}
    return base | {fact: getattr(record, fact) for fact in _FACTS}


def _scenarios(
    sample: Sample, score: dict[str, Any], record: RubricRecord
) -> Iterator[dict[str, Any]]:
    prefix = "response_" if "response_score" in score["value"] else ""
    exact = score_values(Score(value=score["value"], metadata=score.get("metadata")))
    values = {k.removeprefix(prefix): exact.get(k, math.nan) for k in score["value"]}
    yield {"reason": score.get("reason")} | values


def _criteria(
    sample: Sample, score: dict[str, Any], record: RubricRecord
) -> Iterator[dict[str, Any]]:
    for row in record.rows(ScenarioMetadata.model_validate(sample["metadata"]).criteria):
        yield {
            "criterion_id": row.criterion.id,
            "criterion": row.criterion.text,
            "weight": row.criterion.weight,
            "dimension": row.criterion.dimension,
            "verdict": row.verdict,
            "fulfilled": row.fulfilled,
            "reason": row.reason,
            "source": row.source,
            "votes": row.votes,
        }


def _warn_of_mixtures(frame: pd.DataFrame) -> None:
    # an unscored sample has no judge, and is no second one
    found = {n: sorted({*frame.index.get_level_values(n)} - {""}) for n in frame.index.names}
    if mixed := {name: values for name, values in found.items() if len(values) > 1}:
        said = "; ".join(f"{name}: {', '.join(values)}" for name, values in mixed.items())
        warnings.warn(
            f"these rows mix unlike scores ({said}). Select with scorer=... or frame.xs(...), or "
            f"group by {', '.join(mixed)} too.",
            MixedRowsWarning,
            stacklevel=4,
        )


def _decoded(text: Any) -> dict[str, Any]:
    found = json.loads(text) if isinstance(text, str) else {}
    return found if isinstance(found, dict) else {}
