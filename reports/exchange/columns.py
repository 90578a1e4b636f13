"""The columns of the tidy tables: their names, types and meanings, and the cast to those types."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from moral_evals.loaders.morebench.records import slug
from moral_evals.scorers.corda.records import STATUSES
from moral_evals.scorers.rubric.judged_text import JUDGED_PARTS, UNSCORED_REASONS

Kind = Literal["text", "integer", "number", "boolean"]
_TYPES: dict[Kind, str] = {
    "text": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean",
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column of a tidy table.

    Attributes:
        name: In the table; ASCII.
        kind: Its one type.
        allowed: Unit or allowed values; empty for any text.
        meaning: One sentence.
        source: Name in the frame that it is made from, if another.
    """

    name: str
    kind: Kind
    allowed: str
    meaning: str
    source: str = ""


DIMENSION = Column(
    "dim_", "number", "0 to 1", "Weighted share of one dimension's criteria that are fulfilled."
)
"""Stands for a column for each dimension of the data."""

_RUN = Column("run_id", "text", "", "The run: joins all tables. Inspect's eval_id.")
_SCORER = Column("scorer", "text", "", "Name of the score in the log.")
_MODEL = Column("model", "text", "", "The candidate.")
_SAMPLE = (
    Column("sample_id", "text", "", "One reply or rollout: Inspect's uuid, joins the tables."),
    Column("epoch", "integer", "1 and up", "Repeat of the sample."),
)
_JUDGED = (
    Column("judged", "text", ", ".join(JUDGED_PARTS), "Which text was judged."),
    Column("judge", "text", "", "The judge, or a panel's judges joined; missing if none judged."),
)

RUNS = (
    _RUN,
    _SCORER,
    Column("benchmark", "text", "rubric, corda, judge", "Kind of score."),
    Column("log", "text", "path or URL", "Where the log lies."),
    Column("task", "text", "", "Task in the log."),
    Column("task_version", "text", "", "Part of the task's version that scores depend on."),
    _MODEL,
    Column("created", "text", "ISO 8601", "When the run began."),
    Column("status", "text", "success, error, cancelled, started", "How the run ended."),
    Column("samples", "integer", "samples times epochs", "Samples that the run should have."),
    Column("epochs", "integer", "1 and up", "Repeats of each sample."),
    Column("data", "text", "", "File and fingerprint of the data."),
    Column("protocol", "text", "", "Wording of the prompts, with hash."),
    *_JUDGED,
    Column("judge_mode", "text", "", "Criterion by criterion or whole rubrics; votes."),
    Column("judge_prompts", "text", "hash", "Wording of the judge's prompts."),
    Column("tier_order", "text", "names joined by >", "CORDA: tiers, highest first."),
)
SCENARIOS = (
    _RUN,
    _SCORER,
    *_SAMPLE,
    Column("scenario_id", "text", "", "The dilemma: the unit of every interval.", "id"),
    Column("unit", "integer", "1 and up", "The scenario's place in the order of resampling."),
    _MODEL,
    *_JUDGED,
    Column("judge_mode", "text", "criterion, rubric", "How the judge was asked."),
    Column("protocol", "text", "suite, upstream", "Whose prompts."),
    Column("trace_kind", "text", "raw, summary, elicited, none, ...", "Kind of trace shown."),
    Column("role", "text", "", "Who asks: label of the data."),
    Column("source", "text", "", "Where the dilemma is from: label of the data."),
    Column("source_group", "text", "", "The same, grouped as in the paper."),
    Column("type", "text", "", "Label of the data."),
    Column("context", "text", "", "Label of the data."),
    Column("theory", "text", "", "Theory that the candidate was told to reason by, or neutral."),
    Column("score", "number", "0 to 1", "Weighted share of the rubric that is fulfilled."),
    Column("length", "number", "characters", "Length of the judged text."),
    Column("graded_share", "number", "0 to 1", "Share of the rubric's weight with a verdict."),
    Column("declined", "number", "0 or 1", "Whether the reply declines."),
    DIMENSION,
    Column(
        "reason",
        "text",
        ", ".join(UNSCORED_REASONS),
        "Why there is no score; missing if there is one.",
    ),
)
CRITERIA = (
    _RUN,
    _SCORER,
    *_SAMPLE,
    Column("scenario_id", "text", "", "The dilemma.", "id"),
    _MODEL,
    *_JUDGED,
    Column("criterion_id", "text", "", "Unique in its scenario."),
    Column("criterion", "text", "", "The text that the judge was asked about."),
    Column("weight", "number", "not 0", "Negative for what a good text does not do."),
    Column("dimension", "text", "", "Dimension of the criterion."),
    Column("verdict", "text", "yes, no, ungraded", "The judge's word, or the panel's."),
    Column("fulfilled", "boolean", "", "Whether it counts in favour; missing if ungraded."),
    Column("reason", "text", "judge_...", "Why it is ungraded; missing if it is not."),
    Column("source", "text", "criterion, rubric, alone, cache", "Where the verdict was read."),
    Column("votes_yes", "integer", "count", "Votes of a panel; missing for a single judge."),
    Column("votes_no", "integer", "count", "Likewise."),
    Column("votes_ungraded", "integer", "count", "Likewise."),
)
WORDS = (
    _RUN,
    _SCORER,
    *_SAMPLE,
    Column("scenario_id", "text", "", "The dilemma."),
    Column("criterion_id", "text", "", "The criterion that the judge was asked about."),
    Column("judge", "text", "", "The model that replied."),
    Column("reply_number", "integer", "1 and up", "Counts the replies of all judges, retries too."),
    Column("reply", "text", "", "The judge's words. A verdict from the cache has none in the log."),
)
CORDA_STEPS = (
    _RUN,
    _SCORER,
    *_SAMPLE,
    _MODEL,
    Column("tier_order", "text", "names joined by >", "Tiers, highest first."),
    Column("condition", "text", "unconditioned, context, own, best, worst, random",
           "What history was shown."),
    Column("chain_id", "text", "", "The chain: the unit of every interval."),
    Column("unit", "integer", "1 and up", "The chain's place in the order of resampling."),
    Column("stratum", "text", "", "Stratum of the chain."),
    Column("shuffle", "integer", "0 and up", "Number of the layout."),
    Column("step", "integer", "1 and up", "Place of the step in its chain."),
    Column("step_id", "text", "", "Id of the step."),
    Column("options", "integer", "2 and up", "Options of the step."),
    Column("informative", "boolean", "", "Whether the order decides any pair of options."),
    Column("status", "text", ", ".join(STATUSES),
           "What came back."),
    Column("chosen", "text", "", "Id of the option chosen; missing unless answered."),
    Column("label", "text", "", "Label that it was shown under."),
    Column("position", "integer", "1 and up", "Place at which it was shown."),
    Column("u", "number", "0 to 1", "Its rank value; missing if none was chosen or the step is "
           "not informative."),
    Column("reminders", "integer", "count", "Times the candidate was asked again."),
    Column("trace_kind", "text", "raw, summary, none, ...", "Kind of trace shown."),
)  # fmt: skip


def shaped(frame: pd.DataFrame, columns: Sequence[Column]) -> tuple[pd.DataFrame, list[Column]]:
    """A frame as these columns in their order and types, and the columns that it has.

    Missing is NA, also for an empty text; line ends are one `\\n`.
    """
    found = [c for column in columns for c in _every(column, frame)]
    data = {c.name: _cast(frame, c) for c in found}
    return pd.DataFrame(data), found


def _every(column: Column, frame: pd.DataFrame) -> list[Column]:
    if column is not DIMENSION:
        return [column]
    names = [n for n in frame.columns if str(n).startswith(DIMENSION.name)]
    return [replace(column, name=slug(_ascii(n)).replace("-", "_"), source=n) for n in names]


def _cast(frame: pd.DataFrame, column: Column) -> pd.Series:
    name = column.source or column.name
    values = frame[name] if name in frame else pd.Series(pd.NA, index=frame.index)
    values = values.astype(object).where(values.notna(), None)
    if column.kind == "text":
        values = pd.Series([_text(v) for v in values], index=frame.index, dtype=object)
    return values.astype(_TYPES[column.kind])


def _text(value: object) -> str | None:
    # a lone surrogate, which JSON allows in a log, has no place in UTF-8
    text = "" if value is None else str(value).encode("utf-8", "replace").decode()
    return text.replace("\r\n", "\n").replace("\r", "\n") or None


def _ascii(name: str) -> str:
    return name.encode("ascii", "backslashreplace").decode()
