"""What `moral-reports show --by` asks of a rubric score: its figures by label, weight, dimension."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from moral_evals.scorers.rubric.scenario_table import (
    ScenarioTable,
    dimension_means,
    dimension_share,
    mean_interval,
    weight_share,
)
from moral_evals.scorers.stats.bootstrap import SEED, Bootstrap, Interval, Statistic, ratio


@dataclass(frozen=True)
class GroupRow:
    """One label of a breakdown: mean score, share of refusals, scored scenarios."""

    label: str
    score: Interval
    refused: float
    scenarios: int


def by_label(table: ScenarioTable, group: str, seed: int = SEED) -> Iterator[GroupRow]:
    """Mean score of each label of a group of `GROUPS`; intervals resample all scenarios."""
    ask = Bootstrap(len(table.ids), seed=seed).interval
    refused = table.mean_of("declined")
    for label in table.labels(group):
        within = ratio(table.score_within(group, label))
        rate = ratio(np.where(table.member(group, label), refused, np.nan))
        yield GroupRow(label, ask(within), rate.estimate(), within.units())


@dataclass(frozen=True)
class ShareRow:
    """Criteria of one weight or dimension: the mean over scenarios, and the pooled share."""

    label: str
    by_scenario: Interval
    pooled: Interval


def by_weight(table: ScenarioTable, seed: int = SEED) -> Iterator[ShareRow]:
    """Plain share of criteria fulfilled for each weight; needs verdicts."""
    for weight in table.weights():
        pooled = _asked(table, weight_share(table, weight), seed)
        yield ShareRow(f"{weight:+g}", mean_interval(table.by_weight(weight), seed), pooled)


def by_dimension(table: ScenarioTable, seed: int = SEED) -> Iterator[ShareRow]:
    """Weighted share by scenario, and the pooled plain share as in upstream's tables."""
    for dimension, mean in dimension_means(table, seed).items():
        yield ShareRow(dimension, mean, _asked(table, dimension_share(table, dimension), seed))


def _asked(table: ScenarioTable, statistic: Statistic, seed: int) -> Interval:
    return Bootstrap(len(table.ids), seed=seed).interval(statistic)
