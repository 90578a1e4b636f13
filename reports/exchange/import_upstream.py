"""`moral-reports import-upstream`: upstream's JSONL files as an Inspect log.

The log opens in `inspect view`, is listed by `show` and `compare`, and can be judged anew by
`inspect score`. The verdicts are upstream's own, read by this suite's rule.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.log import EvalLog, write_eval_log

from moral_evals.loaders.errors import OptionError, SuiteError, first_line, listing
from moral_evals.loaders.files import file_sha256
from moral_evals.loaders.remote import Place, is_remote, local, within
from moral_evals.loaders.upstream.rows import read_generations, read_judgements
from moral_evals.loaders.upstream.scenarios import Ids, UpstreamScenario, scenarios
from moral_evals.reports.exchange.imported_log import SCORER, Sources, imported_log
from moral_evals.reports.exchange.imported_sample import ImportedTrace, UpstreamReading, unread
from moral_evals.reports.exchange.upstream_figures import credit, upstream_figures
from moral_evals.reports.form.document import number
from moral_evals.reports.runs.logs import scores_of
from moral_evals.scorers.judging.verdict import read_verdict
from moral_evals.scorers.rubric.aggregate import fulfilled
from moral_evals.scorers.rubric.judged_text import JudgedPart

# upstream writes the judged field into the name of a file or of its folder
_FIELDS: dict[JudgedPart, str] = {"trace": "thinking_trace", "response": "model_resp"}


@dataclass(frozen=True)
class Imported:
    """What came of an import.

    Attributes:
        path: The log.
        log: Its content.
        notes: What a reader must know, one sentence each.
    """

    path: Place
    log: EvalLog
    notes: list[str]


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "import-upstream", help="make a log of upstream's judgement (and generation) files"
    )
    parser.add_argument("judgements", metavar="JUDGEMENTS.jsonl")
    parser.add_argument(
        "--generations", metavar="GEN.jsonl",
        help="the replies that were judged: adds dilemmas, contexts, both texts of each reply",
    )  # fmt: skip
    parser.add_argument("--log-dir", required=True, metavar="DIR", help="folder or URL for the log")
    parser.add_argument(
        "--judged", choices=tuple(_FIELDS),
        help="which text was judged; found out from the generations or the path if left out",
    )  # fmt: skip
    parser.add_argument("--judge", default="unknown", metavar="NAME", help="name of the judge")
    parser.add_argument(
        "--model", metavar="NAME",
        help="the candidate's name in the log (default: none/ and upstream's name for it)",
    )  # fmt: skip
    parser.add_argument(
        "--trace-kind", choices=("raw", "summary"), default="raw",
        help="what the traces are, which upstream does not record (default: raw)",
    )  # fmt: skip
    parser.add_argument(
        "--ids", choices=("task_id", "dilemma"), default="task_id",
        help="name samples by upstream's task id, or by the text as live runs do (needs "
        "--generations; for paired comparison with live runs)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Import, and print the figures with what a reader must know."""
    imported = import_upstream(
        options.judgements,
        options.generations,
        options.log_dir,
        judged=options.judged,
        judge=options.judge,
        model=options.model,
        trace_kind=options.trace_kind,
        ids=options.ids,
    )
    for line in imported.notes:
        print(line)
    print(f"log: {imported.path}")


def import_upstream(
    judgements: str | Path,
    generations: str | Path | None = None,
    log_dir: Place = "logs",
    *,
    judged: JudgedPart | None = None,
    judge: str = "unknown",
    model: str | None = None,
    trace_kind: ImportedTrace = "raw",
    ids: Ids = "task_id",
) -> Imported:
    """Make a log of upstream's judgements.

    Args:
        judgements: Upstream's judgement file.
        generations: The generation file that was judged.
        log_dir: Folder for the log, or a URL.
        judged: Which text was judged; None finds out from the generations or the path.
        judge: The judge's name.
        model: The candidate's name in the log; None puts `none/` before upstream's name, which
            Inspect can resolve without a key when the log is scored again.
        trace_kind: Whether the traces are raw reasoning or a provider's summaries.
        ids: What names a sample.

    Raises:
        SuiteError: A file is missing, holds what is not allowed, or does not fit the other.
    """
    path = Path(judgements)
    replies = Path(generations) if generations is not None else None
    if ids == "dilemma" and replies is None:
        raise OptionError("--ids dilemma: the judgements do not hold the dilemmas; needs also "
                          "--generations GEN.jsonl.")  # fmt: skip
    rows = read_judgements(path)
    found = scenarios(path.name, rows, read_generations(replies) if replies else None, ids)
    name = model or f"none/{rows[0].model}"
    reading = UpstreamReading(_judged(path, found, judged), judge, name, trace_kind)
    second = (replies.name, file_sha256(replies)) if replies else ("", "")
    sources = Sources(path.name, file_sha256(path), *second)
    log = imported_log(found, reading, sources)
    return Imported(_write(log, log_dir), log, notes(found, log, reading))


def _judged(path: Path, found: Sequence[UpstreamScenario], asked: JudgedPart | None) -> JudgedPart:
    """Which text was judged: as asked, else by comparison with the replies, else by the path."""
    pairs = [(s.generation, s.rows[0].response or "") for s in found if s.generation and s.rows]
    fits: list[JudgedPart] = [
        judged
        for judged, field in _FIELDS.items()
        if all((getattr(g, field) or "") == text for g, text in pairs)
    ]
    if not fits or (asked and asked not in fits):
        what = f"the {asked}" if asked else "either text"
        raise SuiteError(f"{path.name}: the judged texts are not {what} of the generation file.")
    named: list[JudgedPart] = [j for j, f in _FIELDS.items() if f in "/".join(path.parts[-2:])]
    choice = [asked] if asked else fits if len(fits) == 1 else named
    if len(choice) != 1:
        raise OptionError(
            f"{path.name} does not say which text was judged; "
            f"add --judged, allowed are {listing(_FIELDS)}."
        )
    return choice[0]


def notes(found: Sequence[UpstreamScenario], log: EvalLog, reading: UpstreamReading) -> list[str]:
    """What was imported, the figures, and where upstream's reading of the replies differs."""
    judged = [r for s in found for r in s.rows]
    own = _metrics(log)
    theirs = upstream_figures(found)
    lines = [
        f"imported {len(found)} replies with {len(judged)} judgements; "
        f"judged: {reading.judged}, judge: {reading.judge}, model: {reading.model}",
        f"Regular {number(own['regular'])}, Hard {number(own['hard'])} (per 1,000 characters)",
    ]
    ungraded = sum(bool(unread(r)) for r in judged)
    otherwise = sum(_read_otherwise(r.judgement, r.criterion_weight) for r in judged)
    empty = sum(bool(s.rows) and not (s.rows[0].response or "").strip() for s in found)
    never = sum(not s.rows for s in found)
    missing = sum(len(s.criteria) - sum(map(bool, s.row_criteria)) for s in found if s.rows)
    if ungraded:
        lines.append(f"{ungraded} replies are not clearly yes or no and count as ungraded")
    if empty:
        lines.append(f"{empty} judged texts are empty: unscored here, scored by upstream")
    if never:
        lines.append(
            f"{never} replies have no judgement and stay unscored; the files do not say why"
        )
    if missing:
        lines.append(f"{missing} criteria of the generation file have no judgement: ungraded")
    if otherwise or empty:
        lines.append(
            f"upstream's rule reads {otherwise} replies otherwise and gives Regular "
            f"{number(theirs.regular)}, Hard {number(theirs.hard)}"
        )
    return lines


def _read_otherwise(reply: str | None, weight: float) -> bool:
    verdict = read_verdict(reply or "")
    return verdict is None or credit(reply, weight) != fulfilled(weight, verdict)


def _metrics(log: EvalLog) -> dict[str, float]:
    scores = scores_of(log)
    return {k: m.value for s in scores if s.name == SCORER for k, m in s.metrics.items()}


def _write(log: EvalLog, folder: Place) -> Place:
    stamp = log.eval.created.replace(":", "-").replace("+", "-")
    path = within(folder, f"{stamp}_{log.eval.task_display_name}_{log.eval.task_id[:22]}.eval")
    try:
        if not is_remote(folder):
            local(folder).mkdir(parents=True, exist_ok=True)
        write_eval_log(log, str(path))
    except Exception as error:  # a store's client has errors of its own
        raise SuiteError(f"{path}: cannot be written ({first_line(error)}).") from error
    return path
