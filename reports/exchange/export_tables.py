"""`moral-reports export`: finished runs as tidy tables, for R, pandas and their like."""

import argparse
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from moral_evals.loaders.remote import Place, within
from moral_evals.reports.exchange.columns import (
    CORDA_STEPS,
    CRITERIA,
    RUNS,
    SCENARIOS,
    WORDS,
    Column,
    shaped,
)
from moral_evals.reports.exchange.judge_words import judge_words
from moral_evals.reports.exchange.staged import Staged
from moral_evals.reports.form.output import say
from moral_evals.reports.runs.conditions import NAMES, Conditions
from moral_evals.reports.runs.corda_runs import corda_runs_of
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.frames import (
    MixedRowsWarning,
    corda_steps_df,
    criteria_df,
    scenarios_df,
)
from moral_evals.reports.runs.logs import (
    FoundLog,
    is_corda,
    is_rubric,
    place_of,
    shown_name,
    suite_scores,
)
from moral_evals.reports.runs.naming import run_ids
from moral_evals.reports.runs.rubric_runs import prefix_of, rubric_scores, runs_of
from moral_evals.reports.runs.sample_scores import summary_scores
from moral_evals.scorers.markdown import cell, row
from moral_evals.scorers.rubric.scenario_table import ScenarioTable

DICTIONARY = "dictionary"
_HEADINGS = ("table", "column", "type", "allowed", "meaning")


@dataclass(frozen=True)
class TidyTable:
    """One table, each column of one type."""

    name: str
    frame: pd.DataFrame
    columns: Sequence[Column]


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "export", help="runs, scenarios, criteria and CORDA steps as CSV and Parquet"
    )
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder or URL for the tables")
    parser.add_argument(
        "--words", action="store_true", help="also the judge's replies, from the transcripts"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Export, and print each table with its rows, then what was left out."""
    logs = find_logs(options.logs)
    tables = tidy_tables(logs, words=options.words)
    write_tables(tables, options.out, overwrite=options.overwrite)
    for table in tables:
        print(f"{within(options.out, table.name)}.csv, .parquet: {len(table.frame)} rows")
    say(logs.lines)


def tidy_tables(logs: Found | Sequence[str], *, words: bool = False) -> list[TidyTable]:
    """The tables of an export; one of which the logs have nothing has columns and no row.

    Args:
        logs: What `find_logs` found, or logs and folders.
        words: Also the judge's replies.

    Raises:
        SuiteError: No usable log.
    """
    found = logs if isinstance(logs, Found) else find_logs(logs)
    runs = pd.DataFrame(found.each(_runs))
    # a log that breaks off is left out of every table
    whole = {*runs["log"]} if len(runs) else set()
    found = replace(found, logs=[log for log in found.logs if log.location in whole])
    if not found.logs:
        raise found.nothing("nothing to export")
    ids = {place_of(place): name for place, name in run_ids(g.header for g in found.logs).items()}
    units = dict(found.each(_units))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedRowsWarning)
        frames = [
            ("runs", runs, RUNS),
            ("scenarios", _with_units(scenarios_df(found), "id", units), SCENARIOS),
            ("criteria", _with_votes(criteria_df(found).reset_index()), CRITERIA),
            ("corda_steps", _with_units(corda_steps_df(found), "chain_id", units), CORDA_STEPS),
        ]
    if words:
        said = [r | {"log": log.location} for log in found.logs for r in judge_words(log)]
        frames.append(("words", pd.DataFrame(said, columns=None if said else ["log"]), WORDS))
    return [
        TidyTable(name, *shaped(_with_run(frame, ids), columns)) for name, frame, columns in frames
    ]


def write_tables(tables: Sequence[TidyTable], out: Place, *, overwrite: bool = False) -> None:
    """Write each table as CSV and as Parquet, and the dictionary of their columns.

    Raises SuiteError for a file that exists (unless `overwrite`) or that cannot be written.
    """
    entries = _dictionary(tables)
    with Staged(overwrite) as staged:
        for table in (*tables, TidyTable(DICTIONARY, entries, ())):
            staged.whole(within(out, f"{table.name}.csv"), _csv(table.frame))
        for table in tables:
            staged.whole(within(out, f"{table.name}.parquet"), _parquet(table.frame))
        staged.whole(within(out, f"{DICTIONARY}.md"), _markdown(entries))


def _runs(log: FoundLog) -> Iterator[dict[str, Any]]:
    header = log.header
    conditions = {r.scorer: r.conditions for r in runs_of(log)}
    conditions |= {r.score.scorer: r.conditions for r in corda_runs_of(log)}
    for score in suite_scores(header):
        of = conditions.get(score.scorer, Conditions())
        yield {
            "log": log.location,
            "scorer": score.scorer,
            "benchmark": "rubric" if is_rubric(score) else "corda" if is_corda(score) else "judge",
            **{name: getattr(of, name) for name in NAMES},
            "task": header.eval.task,
            "task_version": of.version,
            "model": header.eval.model,
            "created": header.eval.created,
            "status": header.status,
            "samples": header.results.total_samples if header.results else None,
            "epochs": header.eval.config.epochs or 1,
        }


Unit = tuple[str, str, str]
"""Log, scorer, and the id of a scenario or chain."""


def _units(log: FoundLog) -> Iterator[tuple[Unit, int]]:
    """Places from 1 in the order in which `show` resamples, which need not be that of the ids."""
    for score in rubric_scores(log.header):
        table = ScenarioTable.build(summary_scores(log, score.scorer), prefix_of(score.scorer))
        yield from (
            ((place_of(log.location), score.scorer, i), n) for n, i in enumerate(table.ids, 1)
        )
    for run in corda_runs_of(log):
        ids = enumerate(run.table.ids, 1)
        yield from (((place_of(log.location), run.score.scorer, i), n) for n, i in ids)


def _with_units(frame: pd.DataFrame, unit: str, places: Mapping[Unit, int]) -> pd.DataFrame:
    frame = frame.reset_index()
    names = zip(frame["log"].map(place_of), frame["scorer"], frame[unit].astype(str), strict=True)
    return frame.assign(unit=[places.get(name) for name in names])


def _with_run(frame: pd.DataFrame, ids: Mapping[str, str]) -> pd.DataFrame:
    logs = frame["log"].map(place_of)
    return frame.assign(run_id=logs.map(ids), log=frame["log"].map(shown_name))


def _with_votes(frame: pd.DataFrame) -> pd.DataFrame:
    votes = frame["votes"] if "votes" in frame else pd.Series(None, index=frame.index, dtype=object)
    counts = {
        f"votes_{word}": [None if v is None else list(v).count(word) for v in votes]
        for word in ("yes", "no", "ungraded")
    }
    return frame.assign(**counts)


def _dictionary(tables: Sequence[TidyTable]) -> pd.DataFrame:
    rows = [
        (t.name, c.name, c.kind, c.allowed or "any", c.meaning) for t in tables for c in t.columns
    ]
    return pd.DataFrame(rows, columns=list(_HEADINGS), dtype="string")


def _csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out, engine="pyarrow", index=False)
    return out.getvalue()


def _markdown(entries: pd.DataFrame) -> str:
    lines = ["# Columns of the tables", "", row(list(_HEADINGS)), row(["---"] * len(_HEADINGS))]
    lines += [row([cell(value) for value in values]) for values in entries.itertuples(index=False)]
    missing = "Missing is an empty cell in CSV and null in Parquet. Texts are UTF-8, as in the log."
    return "\n".join([*lines, "", missing, ""])
