"""CORDA's contrasts made anew from the options that a log says were chosen."""

from collections.abc import Mapping

import numpy as np
from inspect_ai.log import read_eval_log

from tests.reports import by_hand

TIERS = ("rights_harm", "honesty_fairness", "welfare", "convention")

Vector = tuple[float, ...]
"""Tier values, nan where unknown."""


def leading(vector: Vector) -> float:
    """Sign of the first tier that is not 0; an unknown one decides nothing, nor those below."""
    first = next((v for v in vector if not abs(v) < 1e-9), 0.0)
    return 0.0 if np.isnan(first) else float(np.sign(first))


def choices(path: str) -> dict[tuple[str, str, int], list[tuple[float, Vector]]]:
    """By chain, condition and shuffle: of each step that decides anything, what was chosen.

    A rank in [0, 1], the share of other options that it beats, and its tier values.
    """
    found = {}
    for sample in read_eval_log(path).samples:
        steps = []
        records = sample.scores["lexicographic"].metadata["steps"]
        for step, record in zip(sample.metadata["chain"]["steps"], records, strict=True):
            options = {
                o["option_id"]: np.array([o["tiers"][t] for t in TIERS], dtype=float)
                for o in step["options"]
            }
            beats = {
                o: [leading(x - y) for other, y in options.items() if other != o]
                for o, x in options.items()
            }
            won = beats[record["chosen"]]
            chosen = (sum((w + 1) / 2 for w in won) / len(won), options[record["chosen"]])
            steps.append(chosen if any(map(any, beats.values())) else None)
        key = (sample.metadata["chain_id"], sample.metadata["condition"])
        found[(*key, sample.metadata["shuffle"])] = steps
    return found


def gaps(first: Mapping, second: Mapping, condition: str) -> dict[str, np.ndarray]:
    """By chain the differences in rank, shuffles by steps, nan where nothing is decided."""
    found: dict[str, list[list[float]]] = {}
    for (chain, arm, shuffle), steps in sorted(first.items()):
        if arm == condition and (chain, arm, shuffle) in second:
            other = second[chain, arm, shuffle]
            row = [a[0] - b[0] if a else np.nan for a, b in zip(steps, other, strict=True)]
            found.setdefault(chain, []).append(row)
    return {chain: np.array(rows) for chain, rows in found.items()}


def means(by_chain: dict[str, np.ndarray], first_step: int = 0) -> np.ndarray:
    """Mean over shuffles, then over steps, of each chain."""
    later = [d[:, first_step:] for d in by_chain.values()]
    return np.array([d[:, ~np.isnan(d).all(axis=0)].mean(axis=0).mean() for d in later])


def tier_sums(first: Mapping, second: Mapping, condition: str) -> list[list[np.ndarray]]:
    """By chain and shuffle the tier values gained over all steps, and how many there are."""
    by_chain: dict[str, list[np.ndarray]] = {}
    for key, steps in sorted(first.items()):
        if key[1] == condition and key in second:
            pairs = [(a[1], b[1]) for a, b in zip(steps, second[key], strict=True) if a]
            moved = [np.where(np.array_equal(a, b, True), 0, a - b) for a, b in pairs]
            by_chain.setdefault(key[0], []).append(np.array([*np.sum(moved, axis=0), len(pairs)]))
    return list(by_chain.values())


def ahead(sums: list[list[np.ndarray]]) -> float:
    """Share of resamples in which the mean gain a step is lexicographically above 0.

    A shuffle with a sum that is not known is left out, and a chain without any other.
    """
    known = [[t[:-1] / t[-1] for t in chain if not np.isnan(t).any()] for chain in sums]
    gains = np.array([np.mean(k, axis=0) if k else np.zeros(len(TIERS)) for k in known])
    drawn = by_hand.draws(len(sums)) * [bool(k) for k in known]
    means = (drawn @ gains)[drawn.any(axis=1)] / drawn[drawn.any(axis=1)].sum(axis=1)[:, None]
    return float(np.mean([leading(line) > 0 for line in means]))


def benefit_interval(better: list[float]) -> tuple[float, float, float]:
    """BCa, or where all chains are alike what so many can exclude."""
    if np.ptp(better) > 1e-12:
        return by_hand.interval(by_hand.share(better), len(better), bounds=(-1, 1))
    c, q = better[0], 0.05 ** (1 / len(better))
    return c, -1 + (c + 1) * q, 1 - (1 - c) * q


def largest_p(better: list[float]) -> float:
    n, figure = len(better), by_hand.share(better)
    flips = by_hand.flip_p(np.mean, np.array(better), np.zeros(n))
    if np.ptp(better) < 1e-12:
        c = abs(better[0])
        resampled = max(1 / 10_001, 0.5 ** (n - 1), (1 / (1 + c)) ** n)
    else:
        resampled = by_hand.p_value(figure, n)
    return max(flips, by_hand.t_p(figure, n), resampled)
