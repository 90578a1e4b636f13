"""Data frames of rubric scores, built on Inspect's: they join with `samples_df` on `sample_id`.

Inspect's own frames hold a dict score as one JSON text and know nothing of criteria.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
from inspect_ai.analysis import EvalModel, SampleColumn, evals_df, samples_df

from moral_evals.reports.runs.found import find_logs
from moral_evals.scorers.rubric.aggregate import fulfilled

_COLUMNS = [
    SampleColumn("id", path="id", required=True),
    SampleColumn("epoch", path="epoch", required=True),
    SampleColumn("metadata", path="metadata", full=True),
    SampleColumn("scores", path="scores", full=True),
]
_KEYS = ("sample_id", "eval_id", "log", "model", "id", "epoch")
_LABELS = ("role", "source", "source_group", "type", "context", "theory")
_FACTS = ("judge", "judge_mode", "judged", "protocol", "trace_kind")

Sample = dict[str, Any]


def scenarios_df(logs: str | Sequence[str]) -> pd.DataFrame:
    """One row for each rubric score of each sample.

    Columns: `sample_id` (Inspect's), `eval_id`, `log`, `model`, `id`, `epoch`, `scorer`; labels
    (`role` ... `theory`); `judge`, `judge_mode`, `judged`, `protocol`, `trace_kind`; `reason` if
    there is no score; and the value keys: `score` and `dim_*` in [0, 1], `length` in characters,
    `graded_share`, `declined`. Not measured is nan.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like.
    """
    return _frame(logs, _scenarios)


def criteria_df(logs: str | Sequence[str]) -> pd.DataFrame:
    """One row for each criterion of each rubric score of each sample.

    Columns as in `scenarios_df` up to `trace_kind`, then `criterion_id`, `criterion`, `weight`,
    `dimension`, `verdict` (`yes`, `no`, `ungraded`), `fulfilled` (None if ungraded), and `votes`,
    the list of a panel's votes, None for a judge asked once.

    A warning names each log that was left out, and why.

    Args:
        logs: A log, a folder, or several, also on S3 and its like.
    """
    return _frame(logs, _criteria)


def _frame(
    logs: str | Sequence[str], rows: Callable[[Sample, str, dict[str, Any]], Iterator[Sample]]
) -> pd.DataFrame:
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
        for scorer, score in _decoded(sample["scores"]).items():
            if isinstance(score.get("value"), dict) and "judged" in (score.get("metadata") or {}):
                found += list(rows(sample, scorer, score))
    return pd.DataFrame(found, columns=None if found else [*_KEYS, "scorer", *_LABELS, *_FACTS])


def _base(sample: Sample, scorer: str, score: dict[str, Any]) -> dict[str, Any]:
    base = {key: sample[key] for key in _KEYS} | {"scorer": scorer}
    base |= {label: sample["metadata"].get(label) for label in _LABELS}
    return base | {fact: score["metadata"].get(fact) for fact in _FACTS}


def _scenarios(sample: Sample, scorer: str, score: dict[str, Any]) -> Iterator[dict[str, Any]]:
    prefix = "response_" if "response_score" in score["value"] else ""
    values = {k.removeprefix(prefix): float("nan") if v is None else float(v)
              for k, v in score["value"].items()}  # fmt: skip
    yield _base(sample, scorer, score) | {"reason": score.get("reason")} | values


def _criteria(sample: Sample, scorer: str, score: dict[str, Any]) -> Iterator[dict[str, Any]]:
    facts = score["metadata"]
    verdicts, votes = facts.get("verdicts"), facts.get("votes", {})
    for c in sample["metadata"].get("criteria", []) if verdicts else []:
        verdict = verdicts.get(c["id"], "ungraded")
        yield _base(sample, scorer, score) | {
            "criterion_id": c["id"],
            "criterion": c["text"],
            "weight": float(c["weight"]),
            "dimension": c["dimension"],
            "verdict": verdict,
            "fulfilled": None if verdict == "ungraded" else fulfilled(c["weight"], verdict),
            "votes": votes.get(c["id"]),
        }


def _decoded(text: Any) -> dict[str, Any]:
    found = json.loads(text) if isinstance(text, str) else {}
    return found if isinstance(found, dict) else {}
