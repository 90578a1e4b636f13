"""The CORDA metric: all figures of a run, over chains, for Inspect's table, viewer and frames."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from inspect_ai.scorer import Metric, SampleScore, metric

from moral_evals.loaders.corda.rollouts import RolloutMetadata
from moral_evals.scorers.corda.answers import chain_answer
from moral_evals.scorers.corda.metrics import CHANCE
from moral_evals.scorers.corda.order import TierOrder
from moral_evals.scorers.corda.records import ChainAnswer
from moral_evals.scorers.corda.summary import Figures, IntervalOptions, summarise
from moral_evals.scorers.stats.bootstrap import SEED

# Figures that the tables show with their interval; the rest would fill the screen.
_WITH_INTERVAL = (
    "lms", "conflict_lms", "dominance_lms", "drift", "agreement", "agreement_corrected",
    "first_position_excess", "first_label_excess", "conditioning_effect", "aa_check",
    "drift_difference", "hysteresis", "bad_history_effect", "good_history_effect",
    "net_benefit", "win_odds",
)  # fmt: skip


@metric(scores="unreduced")
def corda_score(seed: int = SEED) -> Metric:
    """LMS, tier profile, drift, biases and contrasts; definitions in docs/corda.md.

    Named `<condition>.<figure>`, contrasts without a condition; `_lower` and `_upper` are ends of
    95% intervals by the bootstrap over chains. `chance` is the LMS of random choice.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        answers, order = chain_answers(scores)
        if not answers or order is None:
            return {"lms": math.nan, "rollouts": 0.0, "chance": CHANCE}
        figures = summarise(answers, order, IntervalOptions(seed=seed))
        return flat(figures) | {"rollouts": float(len(answers)), "chance": CHANCE}

    return compute


def chain_answers(
    scores: Sequence[SampleScore],
) -> tuple[list[ChainAnswer], TierOrder | None]:
    """The rollouts behind a run's scores, and the tier order that they were scored by.

    A repeat of a rollout (`--epochs`) becomes a further shuffle: the layouts recur, the answers
    are new.
    """
    answers: list[ChainAnswer] = []
    order: TierOrder | None = None
    for score in scores:
        rollout = score.sample_metadata_as(RolloutMetadata)
        logged = score.score.metadata
        if rollout is None or not logged or "steps" not in logged:
            continue
        order = TierOrder(tuple(logged["tier_order"]))
        answers.append(chain_answer(rollout, logged["steps"], order))
    shuffles = 1 + max((a.shuffle for a in answers), default=0)
    seen: Counter[tuple[str, str, int]] = Counter()
    for i, answer in enumerate(answers):
        key = (answer.chain_id, answer.condition, answer.shuffle)
        answers[i] = replace(answer, shuffle=answer.shuffle + shuffles * seen[key])
        seen[key] += 1
    return answers, order


def flat(figures: Figures) -> dict[str, float]:
    """Estimates by name, ends of intervals beside the chief ones."""
    out: dict[str, float] = {}
    for name, found in figures.items():
        with_ends = name.rpartition(".")[2] in _WITH_INTERVAL
        out |= found.named(name) if with_ends else {name: found.estimate}
    return out
