"""`moral-reports export-upstream`: a rubric run as a judgement file for upstream's calculator."""

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import NEUTRAL
from moral_evals.loaders.remote import Place
from moral_evals.reports.exchange.staged import Staged
from moral_evals.reports.exchange.upstream_out import (
    Placed,
    generation_row,
    imported_rows,
    in_order,
    is_imported,
    judged_rows,
)
from moral_evals.reports.runs.logs import read
from moral_evals.reports.runs.rubric_samples import RubricSample, one_scorer, rubric_samples

Ungraded = Literal["omit", "no"]
"""What becomes of a criterion without a verdict, which upstream does not know."""


@dataclass
class ExportedRows:
    """What an export wrote, and what it left out.

    Attributes:
        rows: Judgement rows.
        generations: Generation rows.
        replies: Replies with judgement rows.
        ungraded: Criteria without a verdict, of those replies.
        unscored: Replies without a score, by reason.
        script: The upstream script that reads the file.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    generations: list[dict[str, Any]] = field(default_factory=list)
    replies: int = 0
    ungraded: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    script: str = ""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "export-upstream", help="write a run's verdicts for upstream's own calculator"
    )
    parser.add_argument("log", metavar="LOG")
    parser.add_argument("--out", required=True, metavar="FILE.jsonl", help="judgement file")
    parser.add_argument(
        "--generations", metavar="GEN.jsonl", help="write the replies too, as a generation file"
    )
    parser.add_argument("--scorer", help="take this score where the log holds several")
    parser.add_argument(
        "--ungraded", choices=("omit", "no"), default="omit",
        help="criteria without a verdict: leave them out, which keeps this suite's figures "
        "(default), or count them as no",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Export, and print what was written and what was left out."""
    done = export_upstream(
        options.log,
        options.out,
        scorer=options.scorer,
        ungraded=options.ungraded,
        generations=options.generations,
        overwrite=options.overwrite,
    )
    print(f"{options.out}: {len(done.rows)} judgements of {done.replies} replies")
    if options.generations:
        print(f"{options.generations}: {len(done.generations)} replies")
    if done.ungraded:
        what = "left out" if options.ungraded == "omit" else "written as no"
        print(f"{done.ungraded} criteria are ungraded and {what}")
    if done.unscored:
        reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(done.unscored.items()))
        print(f"{sum(done.unscored.values())} replies have no score and are left out: {reasons}")
    # upstream's calculator stops unless the file has the number of rows it is told
    print(f"python {done.script} -i {options.out} -f human -es {len(done.rows)}")


def export_upstream(
    log: Place,
    out: Place,
    *,
    scorer: str | None = None,
    ungraded: Ungraded = "omit",
    generations: Place | None = None,
    overwrite: bool = False,
) -> ExportedRows:
    """Write a run's verdicts as upstream's judge writes them.

    A score that was imported from upstream comes back row for row as it was. Of any other score
    each verdict becomes a row whose judgement is a plain yes or no; where the run was imported
    and judged anew, the row keeps its other fields.

    Args:
        log: A finished rubric run.
        out: The judgement file.
        scorer: Name of the score where the log holds several.
        ungraded: What to do with a criterion without a verdict.
        generations: Also write the replies, for upstream's judge.
        overwrite: Replace files that exist.

    Raises:
        SuiteError: The log has no such score, or a file exists or cannot be written.
    """
    with Staged(overwrite) as staged:
        targets = [p for p in (out, generations) if p is not None]
        for target in targets:  # before the long reading
            staged.check(target)
        done = _collected(str(log), scorer, ungraded, generations is not None)
        staged.lines(targets[0], done.rows, ascii_only=True)
        if generations is not None:
            staged.lines(targets[1], done.generations)
    return done


def _collected(name: str, scorer: str | None, ungraded: Ungraded, replies: bool) -> ExportedRows:
    header = read(name, header_only=True)
    chosen = one_scorer(header, scorer)
    model, epochs = header.eval.model, header.eval.config.epochs or 1
    done = ExportedRows()
    rows: list[Placed] = []
    generations: list[Placed] = []
    theories = set()
    for found in rubric_samples(name, header, [chosen]):
        theories.add(found.metadata.theory)
        rows += _judgements(found, model, epochs, ungraded, done)
        if replies:
            row = generation_row(found, model, epochs)
            if row is None and found.sample.output.choices:
                raise SuiteError(
                    f"{name}: the dilemmas are not in this log, which was imported without "
                    "--generations; no generation file can be made of it."
                )
            generations += [row] if row else []
    done.rows, done.generations = in_order(rows), in_order(generations)
    theory = theories - {NEUTRAL}
    done.script = f"calculate_morebench{'_theory' if theory else ''}.py"
    return done


def _judgements(
    found: RubricSample, model: str, epochs: int, ungraded: Ungraded, done: ExportedRows
) -> list[Placed]:
    if is_imported(found):
        rows = list(imported_rows(found))
    elif found.scored:
        done.ungraded += sum(row.verdict == "ungraded" for row in found.rows)
        as_no = "no" if ungraded == "no" else None
        rows = list(judged_rows(found, model, epochs, as_no))
    else:
        reason = (found.score.reason or "unscored") if found.score else "error"
        done.unscored[reason] += 1
        return []
    done.replies += bool(rows)
    return rows
