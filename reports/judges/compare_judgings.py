"""Two judgings of the same replies: scores side by side, agreement, changes, calls saved."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.compare.rubric import interval_of
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.judges.judgings import JudgedReply, Judging
from moral_evals.reports.runs.conditions import NAMES
from moral_evals.scorers.rubric.aggregate import Verdict
from moral_evals.scorers.rubric.scenario_table import Keep
from moral_evals.scorers.stats import agreement
from moral_evals.scorers.stats.agreement import JudgedPair
from moral_evals.scorers.stats.bootstrap import Array, Statistic, difference, ratio

_COUNTED = ("calls", "input_tokens", "output_tokens")


@dataclass(frozen=True)
class Shared:
    """What two judgings have in common.

    Attributes:
        ids: Scenario ids, the units of every interval, sorted.
        replies: By scenario, first and second judging of each of its replies.
        only_one: Replies that only one of them scored.
        other_text: Replies that both scored on different texts, left out.
    """

    ids: Sequence[str]
    replies: Sequence[Sequence[tuple[JudgedReply, JudgedReply]]]
    only_one: int
    other_text: int


def compare_judgings(first: Judging, second: Judging) -> Report:
    """Compare an old judging with a new one, criterion by criterion.

    Raises:
        SuiteError: If they judged no text in common.
    """
    shared = shared_replies(first, second)
    tables = [
        _sides(first, second, shared),
        _differences(shared),
        _agreement(shared),
        _flips(shared),
        _costs(first, second),
    ]
    changed = [n for n in NAMES if getattr(first.conditions, n) != getattr(second.conditions, n)]
    notes = [
        "Intervals: 95% BCa bootstrap over scenarios.",
        "Changed between the two: "
        + (
            "; ".join(
                f"{n.replace('_', ' ')} ({getattr(first.conditions, n) or 'not recorded'} → "
                f"{getattr(second.conditions, n) or 'not recorded'})"
                for n in changed
            )
            or "nothing that a log records"
        ),
    ]
    if shared.only_one or shared.other_text:
        notes.append(
            f"Left out: {shared.only_one} replies scored once only, {shared.other_text} whose "
            "judged text is not the same."
        )
    # in the title, for a judge that fails at whole rubrics would look like one that agrees
    title = f"Two judgings: {first.name} and {second.name}{_elsewhere(shared)}"
    return Report(title, tables, notes, name="judgings")


def shared_replies(first: Judging, second: Judging) -> Shared:
    """Pair up the replies that both judged, on the same text."""
    for judging in (first, second):
        if not judging.replies:
            raise SuiteError(
                f"{judging.name} holds no verdicts: none of {judging.unscored} replies could be "
                "judged. The explanations of its scores say why (inspect view)."
            )
    both = sorted(first.replies.keys() & second.replies.keys())
    same = [key for key in both if first.replies[key].text == second.replies[key].text]
    if not same:
        raise SuiteError(
            f"{first.name} and {second.name} judged no text in common: {len(both)} replies have "
            "the same sample and epoch, and none of these the same text. Compare judgings of one "
            "log, or of its copies (inspect score LOG --action append)."
        )
    ids = sorted({sample for sample, _ in same})
    replies = [
        [(first.replies[key], second.replies[key]) for key in same if key[0] == i] for i in ids
    ]
    return Shared(
        ids, replies, len(first.replies.keys() ^ second.replies.keys()), len(both) - len(same)
    )


def score_difference(shared: Shared) -> Statistic:
    """MoReBench-Regular of the second judging minus that of the first."""
    first, second = (ratio(_scores(shared, side)) for side in (0, 1))
    return difference(second, first)


def verdict_counts(shared: Shared, keep: Keep = lambda criterion: True) -> Array:
    """Verdicts by scenario, first judging against second, in the order of `agreement.COUNTS`.

    Of a judging by whole rubrics only what was read from a reply about a whole rubric counts.
    """
    pairs = [
        JudgedPair(unit, a.record.verdict(c.id), b.record.verdict(c.id))
        for unit, replies in enumerate(shared.replies)
        for a, b in replies
        for c in a.criteria
        if keep(c) and a.counts(c) and b.counts(c) and a.record.verdict(c.id) != "ungraded"
    ]
    return agreement.counts(pairs, len(shared.ids))


def _elsewhere(shared: Shared) -> str:
    """What share of the verdicts of whole rubrics was read elsewhere; empty without such ones."""
    read = [
        (side.counts(c), side.record.source(c.id))
        for replies in shared.replies
        for pair in replies
        for side in pair
        if side.by_rubric
        for c in side.criteria
    ]
    if not read:
        return ""
    other = sum(not counts for counts, _ in read) / len(read)
    text = f". {other:.1%} of the verdicts of whole rubrics read elsewhere, and left out"
    unknown = sum(source is None for _, source in read) / len(read)
    return text + (f"; of {unknown:.1%} it is not recorded" if unknown else "")


def _scores(shared: Shared, side: int) -> Array:
    means = []
    for replies in shared.replies:
        # both or neither: a reply that one of them could not grade is no pair
        pairs = [(a.score, b.score) for a, b in replies]
        known = [p[side] for p in pairs if all(map(math.isfinite, p))]
        means.append(math.fsum(known) / len(known) if known else math.nan)
    return np.array(means)


def _sides(first: Judging, second: Judging, shared: Shared) -> Table:
    rows: list[list[Cell]] = []
    for label, judging, side in (("first", first, 0), ("second", second, 1)):
        c = judging.conditions
        text = interval_of(ratio(_scores(shared, side)))
        rows.append(
            [label, c.judge, c.judge_mode, c.judged, text, _scored(judging), judging.unscored]
        )
    columns = ["judging", "judge", "mode", "text", "Regular (shared)", "scored", "unscored"]
    return Table("judgings", "Old and new scores side by side", columns, rows)


def _scored(judging: Judging) -> int:
    return sum(math.isfinite(reply.score) for reply in judging.replies.values())


def _differences(shared: Shared) -> Table:
    gaps = _scores(shared, 1) - _scores(shared, 0)
    rows: list[list[Cell]] = [
        ["Regular, second − first", interval_of(score_difference(shared))],
        ["mean size of a scenario's change", interval_of(ratio(np.abs(gaps)))],
        ["largest change of a scenario", float(np.nanmax(np.abs(gaps), initial=0.0))],
    ]
    return Table("score_changes", "Changes of the score", ["figure", "value [95%]"], rows)


def _agreement(shared: Shared) -> Table:
    criteria = [c for replies in shared.replies for a, _ in replies for c in a.criteria]
    dimensions = ScenarioMetadata(criteria=criteria).every_dimension()
    kinds: list[tuple[str, Keep]] = [("all criteria", lambda c: True)]
    kinds += [(d, lambda c, d=d: c.dimension == d) for d in dimensions]  # type: ignore[misc]
    kinds += [
        ("positive weight", lambda c: c.weight > 0),
        ("negative weight", lambda c: c.weight < 0),
    ]
    rows: list[list[Cell]] = []
    for label, keep in kinds:
        if any(map(keep, criteria)):
            table = verdict_counts(shared, keep)
            figures = (agreement.accuracy(table), agreement.kappa(table), agreement.yes_bias(table))
            rows.append([label, *map(interval_of, figures), round(table.sum())])
    columns = ["criteria", "same verdict", "kappa", "yes rate, second − first", "pairs"]
    return Table("agreement", "Agreement of the two judgings", columns, rows)


def _flips(shared: Shared) -> Table:
    words: tuple[Verdict, ...] = ("yes", "no", "ungraded")
    pairs = [
        (a.record.verdict(c.id), b.record.verdict(c.id))
        for replies in shared.replies
        for a, b in replies
        for c in a.criteria
        if a.counts(c) and b.counts(c)
    ]
    seen = Counter(pairs)
    rows: list[list[Cell]] = [[f"first: {a}", *(seen[a, b] for b in words)] for a in words]
    columns = ["verdict", *(f"second: {b}" for b in words)]
    return Table("flips", "Criteria by first and second verdict", columns, rows)


def _costs(first: Judging, second: Judging) -> Table:
    """What each judging needs: replies from the cache count as the calls that they once were."""
    rows: list[list[Cell]] = []
    totals = [_needed(judging) for judging in (first, second)]
    for name in totals[0]:
        old, new = totals[0][name], totals[1][name]
        rows.append([name.replace("_", " "), old, new, 1 - new / old if old else math.nan])
    columns = ["judge", "first", "second", "saved by the second"]
    notes = ["Counted whether they were paid for in this run or came from the verdict cache."]
    return Table("calls", "Calls and tokens", columns, rows, notes)


def _needed(judging: Judging) -> dict[str, int]:
    usage = judging.usage
    return {k: usage.get(k, 0) + usage.get(f"saved_{k}", 0) for k in _COUNTED}


def last_two(found: Sequence[Judging]) -> tuple[Judging, Judging]:
    """The judgings to compare: the first and the last of those given.

    Raises SuiteError if there are fewer than two.
    """
    if len(found) < 2:
        names = ", ".join(j.name for j in found) or "none"
        raise SuiteError(
            f"two judgings of the same replies are needed, found: {names}. Judge a log again with "
            "inspect score LOG --scorer moral_evals/rubric_judge --action append."
        )
    return found[0], found[-1]
