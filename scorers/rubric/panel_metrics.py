"""How far the judges of a panel agree, and how often one judge contradicts itself.

Empty for one judge asked once. Krippendorff's alpha over judges is Inspect's own; Cohen's kappa
by pair has the suite's intervals, resampled over scenarios.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from inspect_ai.scorer import SampleScore, Score, krippendorff_alpha

from moral_evals.scorers.judging.panel import majority
from moral_evals.scorers.rubric.aggregate import Verdict
from moral_evals.scorers.rubric.record import JudgingRecord
from moral_evals.scorers.stats import agreement
from moral_evals.scorers.stats.agreement import JudgedPair
from moral_evals.scorers.stats.bootstrap import (
    SEED,
    Array,
    Bootstrap,
    Interval,
    Statistic,
    ratio,
)

Votes = dict[str, list[Verdict]]
"""By judge its votes on one criterion."""


PanelFigures = dict[str, Interval | float]


def panel_figures(scores: Sequence[SampleScore], seed: int = SEED) -> PanelFigures:
    """Agreement within a panel, over all criteria of all samples.

    `alpha` is Krippendorff's over the judges' verdicts, criteria with fewer than two left out;
    `kappa.A|B` Cohen's for each pair. `flip_rate.A` is the chance that two votes of one judge on
    one criterion differ. `no_majority_share` counts criteria that the panel left open,
    `votes_missing_share` the votes that were never given.
    """
    units = _units(scores)
    criteria = [votes for unit in units for votes in unit]
    if not criteria:
        return {}
    ask = Bootstrap(len(units), seed=seed).interval
    judges = _judges(criteria)
    out: PanelFigures = {}
    if len(judges) > 1:
        out["alpha"] = _alpha(criteria)
        for a, b in combinations(judges, 2):
            out[f"kappa.{a}|{b}"] = ask(agreement.kappa(_pair(units, a, b)))
    for judge in judges:
        if any(len(votes.get(judge, [])) > 1 for votes in criteria):
            out[f"flip_rate.{judge}"] = ask(flip_rate(units, judge))
    panel = [majority([majority(own) for own in votes.values()]) for votes in criteria]
    cast = [vote for votes in criteria for own in votes.values() for vote in own]
    return out | {
        "no_majority_share": panel.count("ungraded") / len(panel),
        "votes_missing_share": cast.count("ungraded") / len(cast),
    }


def panel_alpha(scores: Sequence[SampleScore]) -> float | None:
    """Krippendorff's alpha of a panel; None if there was one judge."""
    criteria = [votes for unit in _units(scores) for votes in unit]
    return _alpha(criteria) if len(_judges(criteria)) > 1 else None


def flip_rate(units: Sequence[Sequence[Votes]], judge: str) -> Statistic:
    """Share of pairs of one judge's votes on the same criterion that differ, in [0, 1]."""
    differ, pairs = np.zeros(len(units)), np.zeros(len(units))
    for i, unit in enumerate(units):
        for votes in unit:
            own = [v for v in votes.get(judge, []) if v != "ungraded"]
            yes = own.count("yes")
            differ[i] += yes * (len(own) - yes)
            pairs[i] += math.comb(len(own), 2)
    return ratio(differ, pairs)


def _units(scores: Sequence[SampleScore]) -> list[list[Votes]]:
    """By scenario, its epochs together, the votes on each criterion."""
    units: dict[str, list[Votes]] = {}
    for s in sorted(scores, key=lambda s: str(s.sample_id)):
        unit = units.setdefault(str(s.sample_id), [])
        unit.extend(_criteria(JudgingRecord.of(s.score)))
    # by content: ids may hang on the file that the scenarios came from
    return sorted(units.values(), key=repr)


def _criteria(record: JudgingRecord) -> Iterator[Votes]:
    seats = [seat.model for seat in record.judges]
    for cast in record.votes.values():
        votes: Votes = {}
        for judge, vote in zip(seats, cast, strict=True):
            votes.setdefault(judge, []).append(vote)
        yield votes


def _judges(criteria: Sequence[Votes]) -> list[str]:
    return list(dict.fromkeys(judge for votes in criteria for judge in votes))


def _alpha(criteria: Sequence[Votes]) -> float:
    """Inspect's metric, fed with one list of ratings a criterion."""
    opinions = [[majority(own) for own in votes.values()] for votes in criteria]
    ratings = [[v for v in o if v != "ungraded"] for o in opinions]
    compute: Any = krippendorff_alpha()
    found = compute([SampleScore(score=Score(value=list(r))) for r in ratings if len(r) > 1])
    return float(found)


def _pair(units: Sequence[Sequence[Votes]], a: str, b: str) -> Array:
    pairs = [
        JudgedPair(i, majority(votes[a]), majority(votes[b]))
        for i, unit in enumerate(units)
        for votes in unit
        if a in votes and b in votes and majority(votes[a]) != "ungraded"
    ]
    return agreement.counts(pairs, len(units))
