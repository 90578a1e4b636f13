"""From chains to Samples: one rollout a Sample, that is one chain, condition and shuffle.

What a rollout shows depends on seed, chain, step and shuffle alone, so it is the same in a full
run, a limited, filtered or shuffled one, and in every process (CORDA sections 3.4, 3.5).
"""

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from inspect_ai.dataset import MemoryDataset, Sample
from pydantic import BaseModel, ConfigDict

from moral_evals.loaders.corda.chains import Chain, Option, Step
from moral_evals.loaders.corda.layout import draw_labels, layout
from moral_evals.loaders.corda.references import refuse_references

Condition = Literal["unconditioned", "context", "own", "best", "worst", "random"]
CONDITIONS: tuple[Condition, ...] = (
    "unconditioned", "context", "own", "best", "worst", "random",
)  # fmt: skip

STEPS_KEY = "corda_steps"
"""Where the solver leaves its step records in a sample's store, and the scorer finds them."""

Ends = Callable[[Sequence[Option]], Sequence[int]]
"""From a step's options to the indices of its best (or worst) ones under the tier order."""


class ShownOption(BaseModel):
    """An option at its place on the screen."""

    model_config = ConfigDict(frozen=True)

    option_id: str
    label: str


class RolloutMetadata(BaseModel):
    """What a CORDA Sample carries: `sample.metadata_as(RolloutMetadata)`.

    Attributes:
        chain_id: Id of the chain, the unit of every interval.
        stratum: Its stratum.
        condition: What history is shown (section 3.4).
        shuffle: Number of the layout, from 0.
        chain: The chain itself.
        shown: For each step, options with labels in the order displayed.
        history: For each step, the option id that a fixed history reports; empty texts otherwise.
    """

    model_config = ConfigDict(frozen=True)

    chain_id: str
    stratum: str
    condition: Condition
    shuffle: int
    chain: Chain
    shown: list[list[ShownOption]]
    history: list[str]


def rollout_dataset(
    chains: Sequence[Chain],
    conditions: Sequence[Condition],
    shuffles: int,
    seed: int,
    ends: Mapping[str, Ends],
    labels: str = "",
    name: str = "corda",
) -> MemoryDataset:
    """Samples chain by chain, then condition by condition, then shuffle by shuffle.

    Args:
        chains: The chains.
        conditions: Conditions to run.
        shuffles: Layouts of each chain and condition.
        seed: Seed of layouts, labels and picks.
        ends: For `best` and `worst`, the options that a history may report.
        labels: The user's own labels; the first K serve a step with K options.
        name: Name of the data set.

    Raises:
        DataError: For an option that speaks of other options, with its place.
    """
    refuse_references(chains, name)
    samples = [
        _sample(chain, condition, shuffle, seed, ends, labels)
        for chain in chains
        for condition in conditions
        for shuffle in range(shuffles)
    ]
    return MemoryDataset(samples, name=name, location=name)


def option_counts(chains: Sequence[Chain]) -> set[int]:
    """The numbers of options that steps have."""
    return {len(step.options) for chain in chains for step in chain.steps}


def _sample(
    chain: Chain,
    condition: Condition,
    shuffle: int,
    seed: int,
    ends: Mapping[str, Ends],
    labels: str,
) -> Sample:
    metadata = RolloutMetadata(
        chain_id=chain.chain_id,
        stratum=chain.stratum,
        condition=condition,
        shuffle=shuffle,
        chain=chain,
        shown=[_shown(chain, step, shuffle, seed, labels) for step in chain.steps],
        history=[_reported(chain, step, condition, shuffle, seed, ends) for step in chain.steps],
    )
    return Sample(
        id=f"{chain.chain_id}:{condition}:{shuffle}",
        input=f"{chain.context}\n\n{chain.steps[0].situation}".strip(),
        metadata=metadata.model_dump(mode="json"),
    )


def _shown(chain: Chain, step: Step, shuffle: int, seed: int, labels: str) -> list[ShownOption]:
    k = len(step.options)
    tokens = tuple(labels[:k]) if labels else draw_labels(seed, k)
    places = layout(seed, chain.chain_id, step.step_id, k, shuffle, tokens)
    return [ShownOption(option_id=step.options[i].option_id, label=label) for i, label in places]


def _reported(
    chain: Chain,
    step: Step,
    condition: Condition,
    shuffle: int,
    seed: int,
    ends: Mapping[str, Ends],
) -> str:
    if condition in ("best", "worst"):
        indices = list(ends[condition](step.options))
    elif condition == "random":
        indices = list(range(len(step.options)))
    else:
        return ""
    key: list[Any] = ["history", seed, chain.chain_id, step.step_id, condition, shuffle]
    digest = hashlib.sha256(json.dumps(key).encode()).digest()
    pick = int(random.Random(int.from_bytes(digest, "big")).random() * len(indices))
    return step.options[indices[pick]].option_id
