"""CORDA scores of finished runs, with the rollouts behind them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.scorer import SampleScore

from moral_evals.reports.runs.conditions import Conditions, chain_conditions
from moral_evals.reports.runs.found import Found, find_logs
from moral_evals.reports.runs.logs import FoundLog, is_corda, scored_samples, scores_of
from moral_evals.scorers.corda.figures import chain_answers
from moral_evals.scorers.corda.order import TierOrder
from moral_evals.scorers.corda.records import ChainAnswer


@dataclass(frozen=True)
class CordaRun:
    """One CORDA score of one log.

    Attributes:
        log: The log's header.
        score: The score's entry in the header, with its metrics.
        conditions: What must be the same for two runs to be comparable.
        answers: Every rollout.
        order: Tier order of the score.
    """

    log: EvalLog
    score: EvalScore
    conditions: Conditions
    answers: tuple[ChainAnswer, ...]
    order: TierOrder

    @property
    def model(self) -> str:
        """The model that chose."""
        return self.log.eval.model


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
            yield CordaRun(header, score, chain_conditions(header, order), tuple(answers), order)
