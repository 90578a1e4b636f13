"""Judging finished replies again, to measure one way of judging against another."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from inspect_ai import score
from inspect_ai.log import EvalLog, write_eval_log

from loaders.errors import SuiteError
from reports.compare_judgings import compare_judgings, last_two
from reports.document import Report
from reports.judgings import judgings
from reports.logs import log_files, read, shown_name
from reports.output import add_output, write
from scorers.judge_options import MODES, ROLE
from scorers.rubric_judge import rubric_judge


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `judgings` and `judge-modes`."""
    drift = commands.add_parser(
        "judgings", help="two judgings of the same replies: scores side by side, agreement, drift"
    )
    drift.add_argument(
        "logs", nargs="+", metavar="LOG", help="one log with two scores, or two logs"
    )
    drift.add_argument("--scorer", help="take this score where a log holds several")
    add_output(drift)
    drift.set_defaults(run=lambda options: write(_drift(options.logs, options.scorer), options))
    modes = commands.add_parser(
        "judge-modes", help="judge a log criterion by criterion and by whole rubrics, and compare"
    )
    modes.add_argument("log", metavar="LOG")
    modes.add_argument(
        "--judge", action="append", metavar="MODEL",
        help=f"judge, several for a panel; default: the log's own {ROLE}",
    )  # fmt: skip
    modes.add_argument("--judged", choices=("trace", "response"), default="trace")
    modes.add_argument("--rubric-chunk", type=int, default=50, metavar="N")
    modes.add_argument("--rubric-seed", type=int, default=0, metavar="SEED")
    modes.add_argument("--log-out", metavar="LOG", help="where the log with both scores goes")
    add_output(modes)
    modes.set_defaults(run=_run_modes)


def _drift(logs: Sequence[str], scorer: str | None) -> Report:
    found = [j for j in judgings(logs) if scorer in (None, j.scorer)]
    return compare_judgings(*last_two(found))


def _run_modes(options: argparse.Namespace) -> None:
    (name,) = log_files([options.log])
    out = options.log_out or shown_name(name).removesuffix(".eval") + "-judge-modes.eval"
    if Path(out).exists():
        raise SuiteError(f"{out}: exists already; name another place with --log-out.")
    judged = judge_modes(
        read(name),
        out,
        options.judge,
        judged=options.judged,
        chunk=options.rubric_chunk,
        seed=options.rubric_seed,
    )
    write(compare_judgings(*last_two(judgings([judged.location])[-2:])), options)


def judge_modes(
    log: EvalLog,
    out: str,
    judges: Sequence[str] | None = None,
    *,
    judged: str = "trace",
    chunk: int = 50,
    seed: int = 0,
) -> EvalLog:
    """Judge a log's replies both ways, and write it with the two scores added at the end.

    The candidate is not asked. Verdicts that the cache holds are not paid for again.

    Args:
        log: A finished rubric run, with samples.
        out: Where the log with the added scores is written.
        judges: Models in role `grader`; None takes the log's own.
        judged: `trace` or `response`.
        chunk: Criteria a call at most, for whole rubrics.
        seed: Seed of the criteria's order, for whole rubrics.

    Raises:
        SuiteError: If the log has no samples.
    """
    if not log.samples:
        raise SuiteError(f"{shown_name(log.location)}: no samples in this log.")
    roles = {ROLE: list(judges)} if judges else None
    for mode in MODES:
        scorer = rubric_judge(
            judged="response" if judged == "response" else "trace",
            judge_mode=mode,
            rubric_chunk=chunk,
            rubric_seed=seed,
        )
        log = score(log, scorer, action="append", model_roles=roles, display="none")
    write_eval_log(log, out)
    log.location = out
    return log
