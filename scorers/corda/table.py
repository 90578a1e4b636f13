"""Rollouts of a run as arrays over chains, the units of every interval.

A run is a full grid of chains, shuffles and arms. An arm is a condition, or a model when models
are compared. A rollout that is not there although the grid has its place was lost (the sample
failed): it counts as a missing answer, with the status `absent`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from moral_evals.loaders.corda.rollouts import CONDITIONS
from moral_evals.scorers.corda.order import TierOrder
from moral_evals.scorers.corda.records import STATUSES, ChainAnswer, StepRecord
from moral_evals.scorers.corda.steps import BoolArray, IntArray, StepTable
from moral_evals.scorers.stats.bootstrap import Array

ANSWER_KINDS = (*STATUSES, "absent")
"""Status words by their code in `Arm.status`."""


@dataclass(frozen=True, eq=False)
class Arm:
    """Answers in one condition, or of one model: n chains, J steps, S shuffles, K positions.

    Attributes:
        steps: What the tier order says about the steps.
        chosen: Place in the data of the option chosen, (n, J, S); -1 if missing.
        status: Code of the status word, (n, J, S); -1 where the chain has no such step.
        shown: Place in the data of the option at each position, (n, J, S, K); -1 if none.
        labels: Code of the label at each position, likewise.
        tokens: Labels by their code, in alphabetical order.
    """

    steps: StepTable
    chosen: IntArray
    status: IntArray
    shown: IntArray
    labels: IntArray
    tokens: tuple[str, ...]

    @property
    def answered(self) -> BoolArray:
        """Where an option was chosen, (n, J, S)."""
        return np.asarray(self.chosen >= 0)

    @property
    def places(self) -> BoolArray:
        """Where an answer was due, (n, J, S)."""
        return np.asarray(self.status >= 0)

    @cached_property
    def u(self) -> Array:
        """Rank value of the option chosen, (n, J, S); nan if missing or not informative."""
        scored = self.steps.informative[:, :, None]
        return np.where(scored, self.pick(self.steps.u), np.nan)

    def pick(self, values: Array) -> Array:
        """A value of the option chosen: from (n, J, K) or (n, J, K, T) to S in place of K."""
        extra = (1,) * (values.ndim - 3)
        index = np.maximum(self.chosen, 0).reshape(*self.chosen.shape, *extra)
        known = self.answered.reshape(index.shape)
        return np.where(known, np.take_along_axis(values, index, axis=2), np.nan)


@dataclass(frozen=True, eq=False)
class ChainTable:
    """Arms over the same chains, sorted by id.

    Attributes:
        ids: Chain ids.
        strata: Stratum of each chain.
        steps: What the tier order says about the steps.
        shuffles: Shuffle numbers of the grid, ascending.
        arms: Answers by condition or model.
    """

    ids: tuple[str, ...]
    strata: tuple[str, ...]
    steps: StepTable
    shuffles: tuple[int, ...]
    arms: dict[str, Arm]

    @classmethod
    def by_condition(cls, answers: Iterable[ChainAnswer], order: TierOrder) -> "ChainTable":
        """One model's rollouts, an arm for each condition; errors as in `build`."""
        arms: dict[str, list[ChainAnswer]] = {}
        for answer in answers:
            arms.setdefault(answer.condition, []).append(answer)
        return cls.build({c: arms[c] for c in CONDITIONS if c in arms}, order)

    @classmethod
    def build(cls, arms: Mapping[str, Sequence[ChainAnswer]], order: TierOrder) -> "ChainTable":
        """Line up the rollouts of all arms.

        Args:
            arms: Rollouts by name of the arm.
            order: Tier order.

        Raises:
            ValueError: If there is no rollout, one is given twice, two disagree about a step or
                stratum, or a tier is outside the order.
        """
        rollouts = [answer for answers in arms.values() for answer in answers]
        if not rollouts:
            raise ValueError("no rollouts, hence nothing to score")
        chains = {i: _Chain.of(i, found) for i, found in sorted(_by_chain(rollouts).items())}
        options = [
            [list(s.options.values()) if s else [] for s in c.steps] for c in chains.values()
        ]
        grid = _Grid(
            chains,
            tuple(sorted({r.shuffle for r in rollouts})),
            tuple(sorted({label for r in rollouts for s in r.steps for label in s.labels})),
            StepTable.build(options, order),
        )
        return cls(
            ids=tuple(chains),
            strata=tuple(c.stratum for c in chains.values()),
            steps=grid.steps,
            shuffles=grid.shuffles,
            arms={name: grid.arm(name, answers) for name, answers in arms.items()},
        )

    def under(self, order: TierOrder) -> "ChainTable":
        """The same answers read by another order of the same tiers."""
        steps = self.steps.under(order)
        return replace(
            self, steps=steps, arms={k: replace(arm, steps=steps) for k, arm in self.arms.items()}
        )


def _by_chain(rollouts: Iterable[ChainAnswer]) -> dict[str, list[ChainAnswer]]:
    chains: dict[str, list[ChainAnswer]] = {}
    for rollout in rollouts:
        chains.setdefault(rollout.chain_id, []).append(rollout)
    return chains


@dataclass(frozen=True)
class _Chain:
    """What all rollouts of a chain agree on; steps by index, None if no rollout has it."""

    stratum: str
    steps: list[StepRecord | None]

    @classmethod
    def of(cls, chain_id: str, rollouts: Sequence[ChainAnswer]) -> "_Chain":
        steps: dict[int, StepRecord] = {}
        for rollout in rollouts:
            if rollout.stratum != rollouts[0].stratum:
                raise ValueError(f"chain {chain_id!r}: rollouts name different strata")
            for step in rollout.steps:
                first = steps.setdefault(step.index, step)
                if (first.step_id, first.options) != (step.step_id, step.options):
                    raise ValueError(f"chain {chain_id!r}: rollouts disagree on step {step.index}")
        last = max(steps, default=-1)
        return cls(rollouts[0].stratum, [steps.get(j) for j in range(last + 1)])


@dataclass(frozen=True)
class _Grid:
    """Places for answers, the same in every arm."""

    chains: dict[str, _Chain]
    shuffles: tuple[int, ...]
    tokens: tuple[str, ...]
    steps: StepTable

    def arm(self, name: str, rollouts: Iterable[ChainAnswer]) -> Arm:
        n, j, k = self.steps.conflict.shape
        places = np.broadcast_to(self.steps.n_options[:, :, None] > 0, (n, j, len(self.shuffles)))
        arm = Arm(
            steps=self.steps,
            chosen=np.full(places.shape, -1),
            status=np.where(places, ANSWER_KINDS.index("absent"), -1),
            shown=np.full((*places.shape, k), -1),
            labels=np.full((*places.shape, k), -1),
            tokens=self.tokens,
        )
        row = {chain_id: i for i, chain_id in enumerate(self.chains)}
        seen = set()
        for rollout in rollouts:
            key = (row[rollout.chain_id], self.shuffles.index(rollout.shuffle))
            if key in seen:
                raise ValueError(
                    f"chain {rollout.chain_id!r}, {name}, shuffle {rollout.shuffle} is given "
                    "twice; shuffles are the repeats, keep epochs at 1"
                )
            seen.add(key)
            for step in rollout.steps:
                self._write(arm, (key[0], step.index, key[1]), step)
        return arm

    def _write(self, arm: Arm, at: tuple[int, int, int], step: StepRecord) -> None:
        first = list(self.chains.values())[at[0]].steps[at[1]]
        place = {o: i for i, o in enumerate(first.options)} if first else {}
        arm.status[at] = ANSWER_KINDS.index(step.status)
        if step.chosen is not None:
            arm.chosen[at] = place[step.chosen]
        arm.shown[at][: len(place)] = [place[o] for o in step.shown]
        arm.labels[at][: len(place)] = [self.tokens.index(label) for label in step.labels]
