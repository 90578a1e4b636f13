"""Which option stands where under which label: the balanced shuffles of CORDA (section 3.5).

A layout depends on (seed, chain, step, shuffle) alone: not on the sample's place in the run, nor
on Python's hash seed, nor on the platform.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

_T = TypeVar("_T")

LABEL_POOL = "GHJKQVZ"
"""No A-D, digits, Y/N, T/F or X: letters that models have seen least as answers."""


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
