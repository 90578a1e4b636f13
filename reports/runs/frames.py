"""Data frames of rubric scores, built on Inspect's: they join with `samples_df` on `sample_id`.

Inspect's own frames hold a dict score as one JSON text and know nothing of criteria.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
from inspect_ai.analysis import EvalModel, SampleColumn, evals_df, samples_df

from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.runs.found import find_logs
from moral_evals.scorers.rubric.record import RubricRecord

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

Sample = dict[str, Any]
Rows = Callable[[Sample, dict[str, Any], RubricRecord], Iterator[dict[str, Any]]]


class MixedRowsWarning(UserWarning):
    """A frame holds scores that no mean should be taken over together."""


def scenarios_df(logs: str | Sequence[str], *, scorer: str | None = None) -> pd.DataFrame:
    """One row for each rubric score of each sample.

    Index: `scorer`, `judged` (`trace` or `response`) and `judge`; a MixedRowsWarning says so if
    any of them has several values, since a plain mean would then be over unlike scores.

    Columns: `sample_id` (Inspect's), `eval_id`, `log`, `model`, `id`, `epoch`; labels (`role` ...
    `theory`); `judge_mode`, `protocol`, `trace_kind`; `reason` if there is no score; and the value
    keys: `score` and `dim_*` in [0, 1], `length` in characters, `graded_share`, `declined`. Not
    measured is nan.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like.
        scorer: Take this score alone.
    """
    return _frame(logs, scorer, _scenarios)


def criteria_df(logs: str | Sequence[str], *, scorer: str | None = None) -> pd.DataFrame:
    """One row for each criterion of each rubric score of each sample.

    Index and columns as in `scenarios_df` up to `trace_kind`, then `criterion_id`, `criterion`,
    `weight`, `dimension`, `verdict` (`yes`, `no`, `ungraded`), `fulfilled` (None if ungraded),
    `reason` (why it is ungraded), `source` (where the verdict was read: `criterion`, `rubric`,
    `alone`, `cache`; None if the log does not say), and `votes`, the list of a panel's votes, None
    for a judge asked once.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like.
        scorer: Take this score alone.
    """
    return _frame(logs, scorer, _criteria)


def _frame(logs: str | Sequence[str], scorer: str | None, rows: Rows) -> pd.DataFrame:
    found_logs = find_logs([logs] if isinstance(logs, str) else logs)
    for line in found_logs.lines:
        warnings.warn(line, stacklevel=3)
    places = [log.location for log in found_logs.logs]
    samples = samples_df(places, columns=_COLUMNS, quiet=True)
    models = evals_df(places, columns=EvalModel, quiet=True).set_index("eval_id")["model"]
    found = []
    for sample in samples.to_dict("records"):
        sample["model"] = models[sample["eval_id"]]
        sample["metadata"] = _decoded(sample["metadata"])
        for name, score in _decoded(sample["scores"]).items():
            if scorer in (None, name) and (record := RubricRecord.within(score)):
                base = _base(sample, name, record)
                found += [base | row for row in rows(sample, score, record)]
    columns = None if found else [*INDEX, *_KEYS, *_LABELS, *_FACTS]
    frame = pd.DataFrame(found, columns=columns).set_index(list(INDEX))
    _warn_of_mixtures(frame)
    return frame


def _base(sample: Sample, scorer: str, record: RubricRecord) -> dict[str, Any]:
    base = {"scorer": scorer, "judged": record.judged, "judge": record.judge}
    base |= {key: sample[key] for key in _KEYS}
    base |= {label: sample["metadata"].get(label) for label in _LABELS}
    return base | {fact: getattr(record, fact) for fact in _FACTS}


def _scenarios(
    sample: Sample, score: dict[str, Any], record: RubricRecord
) -> Iterator[dict[str, Any]]:
    prefix = "response_" if "response_score" in score["value"] else ""
    values = {k.removeprefix(prefix): float("nan") if v is None else float(v)
              for k, v in score["value"].items()}  # fmt: skip
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
    found = {n: sorted({*frame.index.get_level_values(n)} - {""}) for n in INDEX}
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
