"""Judging finished replies again, to measure one way of judging against another."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inspect_ai import score
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Scorer

from moral_evals.loaders.errors import OptionError, PrerequisiteError, SuiteError, first_line
from moral_evals.loaders.remote import exists
from moral_evals.reports.form.document import Report
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.judges.compare_judgings import compare_judgings, last_two
from moral_evals.reports.judges.judgings import judgings
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.logs import log_files, read, shown_name
from moral_evals.scorers.judging.options import MODES, ROLE
from moral_evals.scorers.rubric.judged_text import JUDGED_PARTS, JudgedPart
from moral_evals.scorers.rubric_judge import rubric_judge


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `judgings` and `judge-modes`."""
    again = commands.add_parser(
        "judgings", help="two judgings of the same replies: scores side by side, agreement, changes"
    )
    again.add_argument(
        "logs", nargs="+", metavar="LOG", help="one log with two scores, or two logs"
    )
    again.add_argument("--scorer", help="take this score where a log holds several")
    add_output(again)
    again.set_defaults(run=lambda options: write(_judgings(options.logs, options.scorer), options))
    modes = commands.add_parser(
        "judge-modes", help="judge a log criterion by criterion and by whole rubrics, and compare"
    )
    modes.add_argument("log", metavar="LOG")
    modes.add_argument(
        "--judge", action="append", metavar="MODEL",
        help=f"judge, several for a panel; default: the log's own {ROLE}",
    )  # fmt: skip
    modes.add_argument("--judged", choices=JUDGED_PARTS, default="trace")
    modes.add_argument("--rubric-chunk", type=int, default=50, metavar="N")
    modes.add_argument("--rubric-seed", type=int, default=0, metavar="SEED")
    modes.add_argument(
        "--log-out",
        metavar="LOG",
        help="where the log with both scores goes; default: the working folder",
    )
    add_output(modes)
    modes.set_defaults(run=_run_modes)


def _judgings(logs: Sequence[str], scorer: str | None) -> Report:
    found = find_logs(logs)
    chosen = last_two([j for j in judgings(found) if scorer in (None, j.scorer)])
    lines = found.lines_for((j.log.location for j in chosen), "judging that is compared")
    return replace(compare_judgings(*chosen), left_out=lines)


def _run_modes(options: argparse.Namespace) -> None:
    found = log_files([options.log])
    if len(found) > 1:
        raise SuiteError(f"{options.log}: {len(found)} logs here; name one of them.")
    name = found[0]
    out = options.log_out or _place_elsewhere(name)
    if exists(out):
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
    print(f"log with both scores: {out}", file=sys.stderr)


def _place_elsewhere(name: str) -> str:
    """Where the copy goes by default: the working folder, where no report meets it by chance."""
    source = Path(shown_name(name))
    out = f"{source.stem}-judge-modes.eval"
    if "://" not in shown_name(name) and source.resolve().parent == Path.cwd():
        raise OptionError(
            f"{out}: would lie among the logs, and be taken for one of them by the next report; "
            "name another place with --log-out."
        )
    return out


def judge_modes(
    log: EvalLog,
    out: str,
    judges: Sequence[str] | None = None,
    *,
    judged: JudgedPart = "trace",
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
        SuiteError: If the log has no samples, or a judge cannot be had.
    """
    if not log.samples:
        raise SuiteError(f"{shown_name(log.location)}: no samples in this log.")
    roles: dict[str, list[Model]] | None = None
    own = log.eval.model_roles
    if judges:
        roles = {ROLE: [_model(judge) for judge in judges]}
        # Inspect would make the old judges too, whose keys may not be at hand
        others = {k: v for k, v in (own or {}).items() if k != ROLE}
        log = log.model_copy(update={"eval": log.eval.model_copy(update={"model_roles": others})})
    for mode in MODES:
        scorer = rubric_judge(
            judged=judged,
            judge_mode=mode,
            rubric_chunk=chunk,
            rubric_seed=seed,
        )
        log = _score(log, scorer, roles)
    log.eval.model_roles = own
    try:
        write_eval_log(log, out)
    except Exception as error:  # a store's client has errors of its own
        raise SuiteError(f"{out}: cannot be written ({first_line(error)}).") from error
    log.location = out
    return log


def _model(judge: str) -> Model:
    try:
        return get_model(judge)
    except Exception as error:
        raise SuiteError(f"--judge {judge}: {first_line(error)}") from error


def _score(log: EvalLog, scorer: Scorer, roles: dict[str, list[Model]] | None) -> EvalLog:
    try:
        # no candidate: it is not asked, and its key may not be at hand
        return score(
            log, scorer, action="append", model="none/none", model_roles=roles, display="none"
        )
    except SuiteError:
        raise
    except PrerequisiteError as error:
        raise SuiteError(f"no judge: {first_line(error)}") from error
