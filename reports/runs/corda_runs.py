"""CORDA scores of finished runs, with the rollouts behind them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.scorer import SampleScore

from moral_evals.loaders.corda.rollouts import RolloutMetadata
from moral_evals.reports.runs.conditions import Conditions, chain_conditions
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.logs import FoundLog, is_corda, scored_samples, scores_of
from moral_evals.scorers.corda.order import TierOrder
from moral_evals.scorers.corda.order_scan import MAX_TIERS, OrderScan, order_scan
from moral_evals.scorers.corda.records import ChainAnswer, chain_answers
from moral_evals.scorers.corda.summary import DEFAULTS, Figures, summarise
from moral_evals.scorers.corda.table import Arm, ChainTable
from moral_evals.scorers.stats.bootstrap import Interval, Statistic


@dataclass(frozen=True)
class CordaRun:
    """One CORDA score of one log. Figures come from the rollouts, never from the log's metrics.

    Attributes:
        log: The log's header.
        score: The score's entry in the header.
        conditions: What must be the same for two runs to be comparable.
        answers: Every rollout.
        order: Tier order of the score.
        data_tiers: Tiers of the data, some of which the order may leave out.
    """

    log: EvalLog
    score: EvalScore
    conditions: Conditions
    answers: tuple[ChainAnswer, ...]
    order: TierOrder
    data_tiers: frozenset[str] = frozenset()

    @property
    def scorer(self) -> str:
        """Name of the score in the log."""
        return self.score.scorer

    @property
    def model(self) -> str:
        """The model that chose."""
        return self.log.eval.model

    @cached_property
    def table(self) -> ChainTable:
        """The answers lined up, an arm for each condition."""
        return ChainTable.by_condition(self.answers, self.order)

    @cached_property
    def figures(self) -> Figures:
        """Every figure of the run by name, as `summarise` names them."""
        return summarise(self.answers, self.order)

    @cached_property
    def orders(self) -> dict[str, OrderScan]:
        """By condition the LMS under every order of the tiers; empty for too many tiers."""
        return order_scan(self.table) if len(self.order.names) <= MAX_TIERS else {}

    def ask(self, condition: str, figure: Callable[[Arm], Statistic]) -> Interval:
        """A figure of one condition with its interval over chains."""
        return DEFAULTS.over(self.table).interval(figure(self.table.arms[condition]))

    def ask_tier(
        self, condition: str, tier: str, figure: Callable[[Arm, int], Statistic]
    ) -> Interval:
        """A figure of one tier by name; unmeasured where the run's order leaves the tier out."""
        if tier not in self.order.names:
            return Interval.unmeasured()
        place = self.order.names.index(tier)
        return self.ask(condition, lambda arm: figure(arm, place))


def all_tiers(runs: Sequence[CordaRun]) -> list[str]:
    """The tiers of all runs, in the first run's order; others may have another, or more."""
    return list(dict.fromkeys(tier for run in runs for tier in run.order.names))


def corda_runs(logs: Found | Sequence[str]) -> list[CordaRun]:
    """All CORDA scores of some logs, or of the logs and folders named."""
    return (logs if isinstance(logs, Found) else find_logs(logs)).each(corda_runs_of)


def corda_runs_of(log: FoundLog) -> Iterator[CordaRun]:
    """The CORDA scores of one log, in their order in it."""
    header = log.header
    scores = [s for s in scores_of(header) if is_corda(s)]
    if not scores:
        return
    samples = scored_samples(log.location)
    for score in scores:
        rollouts = [
            SampleScore(score=s.scores[score.scorer], sample_id=s.id, sample_metadata=s.metadata)
            for s in samples
            if s.scores and score.scorer in s.scores
        ]
        answers, order = chain_answers(rollouts)
        if order is not None:
            conditions = chain_conditions(header, order, [s.score for s in rollouts])
            yield CordaRun(header, score, conditions, tuple(answers), order, _tiers(rollouts))


def _tiers(rollouts: Sequence[SampleScore]) -> frozenset[str]:
    # every rollout of a chain has the same options
    chains = {r.chain_id: r.chain for s in rollouts if (r := s.sample_metadata_as(RolloutMetadata))}
    steps = (step for chain in chains.values() for step in chain.steps)
    return frozenset(tier for step in steps for option in step.options for tier in option.tiers)
