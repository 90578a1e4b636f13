"""From chains to Samples: one rollout a Sample, that is one chain, condition and shuffle.

What a rollout shows depends on seed, chain, step and shuffle alone, so it is the same in a full
run, a limited, filtered or shuffled one, in every process and on every platform (CORDA sections
3.4, 3.5).
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from inspect_ai.dataset import MemoryDataset, Sample
from pydantic import BaseModel, ConfigDict

from moral_evals.loaders.corda.chains import Chain, Option, Step
from moral_evals.loaders.corda.references import refuse_references

_T = TypeVar("_T")

Condition = Literal["unconditioned", "context", "own", "best", "worst", "random"]
CONDITIONS: tuple[Condition, ...] = (
    "unconditioned", "context", "own", "best", "worst", "random",
)  # fmt: skip

LABEL_POOL = "GHJKQVZ"
"""No A-D, digits, Y/N, T/F or X: letters that models have seen least as answers."""

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
    rng = _generator("history", seed, chain.chain_id, step.step_id, condition, shuffle)
    pick = int(rng.random() * len(indices))
    return step.options[indices[pick]].option_id


def layout(
    seed: int, chain_id: str, step_id: str, n_options: int, shuffle: int, labels: Sequence[str]
) -> list[tuple[int, str]]:
    """What is shown at each position, from the top.

    Args:
        seed: Seed of the run.
        chain_id: Id of the chain.
        step_id: Id of the step.
        n_options: Number of options, K.
        shuffle: Number of the shuffle, from 0.
        labels: K distinct labels, the same set at every step with K options.

    Returns:
        K pairs (index of the option in the data, label).

    Raises:
        ValueError: For fewer than two options, a negative shuffle or labels that do not fit.
    """
    if n_options < 2 or shuffle < 0:
        raise ValueError("a layout of labels needs two options or more and a shuffle from 0")
    if len(labels) != n_options or len(set(labels)) != n_options:
        raise ValueError(f"{n_options} options need as many distinct labels, not {list(labels)}")
    rng = _generator("layout", seed, chain_id, step_id)
    base = _shuffled(rng, range(n_options))
    # sorted, so that labels given in another order are the same layout
    base_labels = _shuffled(rng, sorted(labels))
    a = shuffle % n_options
    c = (shuffle // n_options - shuffle) % n_options
    return [(base[(p + a) % n_options], base_labels[(p + c) % n_options]) for p in range(n_options)]


def draw_labels(seed: int, k: int) -> tuple[str, ...]:
    """K labels of the pool, in alphabetical order; drawn once a run for each K.

    Raises:
        ValueError: If the pool has fewer than K.
    """
    if not 2 <= k <= len(LABEL_POOL):
        raise ValueError(
            f"{k} options: labels are drawn for 2 to {len(LABEL_POOL)}; give your own for more"
        )
    return tuple(sorted(_shuffled(_generator("labels", seed, k), LABEL_POOL)[:k]))


def default_shuffles(ks: Iterable[int]) -> int:
    """Shuffles a step for data whose steps have these numbers of options.

    Raises:
        ValueError: If there is no step.
    """
    kinds = set(ks)
    if not kinds:
        raise ValueError("no step, hence no number of shuffles")
    if kinds == {2}:
        return 4
    return 12 if kinds == {2, 3} else max(kinds)


def balance_warning(shuffles: int, ks: Iterable[int]) -> str:
    """What to tell the user about a number of shuffles; "" if it balances every step."""
    kinds = sorted(set(ks))
    uneven = [k for k in kinds if shuffles % k]
    if uneven:
        return (
            f"{shuffles} shuffles do not balance option order at steps with "
            f"{', '.join(map(str, uneven))} options; use a multiple of each"
        )
    if len(kinds) > 1 and kinds != [2, 3]:
        return (
            f"steps have {', '.join(map(str, kinds))} options; {shuffles} shuffles balance "
            "positions at each, but labels perhaps only across steps"
        )
    return ""


def _generator(*key: object) -> random.Random:
    # JSON, because a plain separator may occur in an id
    digest = hashlib.sha256(json.dumps(key).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


def _shuffled(rng: random.Random, items: Iterable[_T]) -> list[_T]:
    # random() alone is promised to be the same in every version of Python, shuffle() is not
    return sorted(items, key=lambda _: rng.random())
