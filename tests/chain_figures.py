"""Every figure of a CORDA log, computed from its samples as the reports do."""

from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore

from moral_evals.scorers.corda.metrics import CHANCE
from moral_evals.scorers.corda.records import chain_answers
from moral_evals.scorers.corda.summary import summarise


def sample_scores(log: EvalLog, scorer: str = "lexicographic") -> list[SampleScore]:
    return [
        SampleScore(score=s.scores[scorer], sample_id=s.id, sample_metadata=s.metadata)
        for s in log.samples or []
        if s.scores
    ]


def chain_figures(log: EvalLog, scorer: str = "lexicographic") -> dict[str, float]:
    """By the names that logs of task version 1-A have, all with the ends of their intervals."""
    answers, order = chain_answers(sample_scores(log, scorer))
    assert order is not None
    found: dict[str, float] = {"rollouts": float(len(answers)), "chance": CHANCE}
    for name, interval in summarise(answers, order).items():
        found |= interval.named(name)
    return found
