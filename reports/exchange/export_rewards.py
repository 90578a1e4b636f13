"""`moral-reports export-rewards`: verdicts and scores of finished runs as a set for training."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.log import EvalLog

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.remote import Place, name_of, within
from moral_evals.reports.exchange.reward_card import Source, card
from moral_evals.reports.exchange.reward_pairs import check_margin, preference_pairs
from moral_evals.reports.exchange.reward_rows import Rewarded, rewarded
from moral_evals.reports.exchange.staged import Staged
from moral_evals.reports.form.output import say
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.logs import FoundLog
from moral_evals.reports.runs.rubric_samples import (
    RubricSample,
    one_scorer,
    rubric_samples,
    rubric_scorers,
)

REWARDS, PAIRS, CARD = "rewards.jsonl", "pairs.jsonl", "README.md"


@dataclass
class ExportedRewards:
    """What an export wrote.

    Attributes:
        sources: Each score of each log, with what it gave and what was left out.
        pairs: Number of preference pairs; None if they were not asked for.
        left_out: Lines on logs that gave nothing.
    """

    sources: list[Source] = field(default_factory=list)
    pairs: int | None = None
    left_out: list[str] = field(default_factory=list)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "export-rewards", help="write scored replies with their verdicts as a training set"
    )
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder or URL for the set")
    parser.add_argument("--scorer", help="take this score only, where a log holds several")
    parser.add_argument(
        "--pairs", action="store_true", help="write preference pairs between replies too"
    )
    parser.add_argument(
        "--margin", type=float, default=0.1, metavar="M",
        help="least difference of the two scores of a pair (default: 0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--pairs-per-dilemma", type=int, metavar="N",
        help="the N widest pairs of each dilemma (default: all that have the margin)",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Export, and print what was written and what was left out."""
    done = export_rewards(
        options.logs,
        options.out,
        pairs=options.pairs,
        margin=options.margin,
        per_dilemma=options.pairs_per_dilemma,
        scorer=options.scorer,
        overwrite=options.overwrite,
    )
    print(
        f"{options.out}: {sum(s.rows for s in done.sources)} scored replies (a line for each score)"
    )
    if done.pairs is not None:
        print(f"{done.pairs} preference pairs with a margin of at least {options.margin:g}")
    for source in done.sources:
        for reason, count in sorted(source.left_out.items()):
            print(f"left out, {source.model}: {count} {reason.replace('_', ' ')}")
    say(done.left_out)


def export_rewards(
    logs: Sequence[str],
    out: Place,
    *,
    pairs: bool = False,
    margin: float = 0.1,
    per_dilemma: int | None = None,
    scorer: str | None = None,
    overwrite: bool = False,
) -> ExportedRewards:
    """Write `rewards.jsonl`, `pairs.jsonl` if asked for, and the card `README.md`.

    A reply without a score is left out and counted, and so is one whose prompt the log does not
    hold. Where a log holds several rubric scores, each makes rows of its own.

    Args:
        logs: Logs or folders of logs.
        out: Folder for the set, or a URL.
        pairs: Also write preference pairs.
        margin: Least difference of the two scores of a pair, in (0, 1].
        per_dilemma: Pairs for each dilemma at most.
        scorer: Take this score only.
        overwrite: Replace files that exist.

    Raises:
        SuiteError: No usable log, a bad option, or files that exist or cannot be written.
    """
    check_margin(margin)
    if per_dilemma is not None and per_dilemma < 1:
        raise OptionError(f"--pairs-per-dilemma {per_dilemma}: must be 1 or more.")
    done = ExportedRewards()
    kept: list[Rewarded] = []
    with Staged(overwrite) as staged:
        for name in (REWARDS, PAIRS, CARD):  # pairs of an earlier export would be stale
            staged.check(within(out, name))
        rows = _rows(logs, scorer, done, kept if pairs else None)
        staged.lines(within(out, REWARDS), rows)
        if pairs:
            found = (p.model_dump() for p in preference_pairs(kept, margin, per_dilemma))
            done.pairs = staged.lines(within(out, PAIRS), found)
        else:
            staged.remove(within(out, PAIRS))
        staged.whole(within(out, CARD), card(name_of(out), done.sources, done.pairs, margin))
    return done


def _rows(
    logs: Sequence[str], scorer: str | None, done: ExportedRewards, kept: list[Rewarded] | None
) -> Iterator[dict[str, Any]]:
    used = []

    def of_log(log: FoundLog) -> list[Rewarded]:
        present = rubric_scorers(log.header)
        if not present:  # a folder may hold runs of other tasks
            return []
        scorers = [one_scorer(log.header, scorer)] if scorer else present
        sources = {s: Source(log.header.eval.model, "", "", "") for s in scorers}
        samples = rubric_samples(log.location, log.header, scorers)
        # one log at a time, since the rows of one that breaks off are not taken
        replies = [r for s in samples if (r := _reply(s, log.header, sources[s.scorer]))]
        used.append(log.location)
        done.sources += sources.values()
        return replies

    found = find_logs(logs)
    for reply in found.over(of_log):
        if kept is not None:
            kept.append(reply)
        yield reply.row.model_dump()
    done.left_out = found.lines_for(used, "rubric score")
    if not done.sources:
        raise found.nothing("no rubric score in these logs", done.left_out)


def _reply(found: RubricSample, header: EvalLog, source: Source) -> Rewarded | None:
    """A reply for the set, counted under its source; None with the reason counted."""
    if not found.scored:
        reason = (found.score.reason or "unscored") if found.score else "error"
        source.left_out[reason] += 1
        return None
    reply = rewarded(found, header)
    source.judge, source.judged = reply.row.judge, reply.row.judged
    source.protocol = reply.row.protocol
    if not reply.row.prompt:
        source.left_out["prompt_not_in_log"] += 1
        return None
    source.rows += 1
    return reply
