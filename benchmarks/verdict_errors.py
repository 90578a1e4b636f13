"""How often `compare` says too much: simulated verdicts where nothing differs.

    python -m benchmarks.verdict_errors --sets 4000

Every set goes through the functions that `compare` calls: a `Paired` difference of two models,
`paired_test` over the bootstrap, `holm` over the pairs, `verdict_word`. The tests stop early
where no verdict can follow any more, which changes no word (asserted in the tests).
`Regular` stands for ΔLMS too: both are means of paired differences, tested by the same call.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from moral_evals.scorers.rubric.scenario_table import hard_score
from moral_evals.scorers.stats.bootstrap import Array, Bootstrap, ratio
from moral_evals.scorers.stats.multiplicity import ALPHA, Word, holm, verdict_word
from moral_evals.scorers.stats.paired import Paired, of_differences, of_sides, paired_test

SIZES = (10, 20, 30, 52, 75, 100)
RATES = (0.03, 0.05, 0.07, 0.1, 0.15)
LOSS = 0.8
STEPS, SHUFFLES = 5, 4
_SILENT: tuple[Word, ...] = ("not tested", "too few units", "no difference shown")
_DIFFERENCE = (-1.0, 1.0)

Draw = Callable[[np.random.Generator, int], list[Paired]]
"""From the number of units to the paired differences of one set of models."""


@dataclass(frozen=True)
class Errors:
    """Shares of sets in which some pair is called higher, or at least leaned to."""

    higher: float
    any_word: float


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Errors of compare's verdicts")
    parser.add_argument("--sets", type=int, default=4_000, help="sets a cell")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(f"{args.sets} sets a cell, seed {args.seed}", flush=True)
    for lines in (alike_table, null_benefit_table, unlike_table):
        print(flush=True)
        for line in lines(args.sets, args.seed):
            print(line, flush=True)


def verdicts(pairs: Sequence[Paired], n: int) -> list[Word]:
    """The words of one table, as `compare` makes them."""
    bootstrap = Bootstrap(n)
    tests = [paired_test(bootstrap, pair, enough=ALPHA) for pair in pairs]
    return [
        verdict_word(test.n, adjusted, rare_loss=test.rare_loss)
        for test, adjusted in zip(tests, holm([t.p for t in tests]), strict=True)
    ]


def errors(draw: Draw, n: int, sets: int, seed: int) -> Errors:
    """Family-wise shares over `sets` simulated sets."""
    rng = np.random.Generator(np.random.PCG64([seed, n]))
    found = [set(verdicts(draw(rng, n), n)) for _ in range(sets)]
    higher = sum("higher" in words for words in found)
    spoken = sum(not words <= set(_SILENT) for words in found)
    return Errors(higher / sets, spoken / sets)


# --- models that are alike ---------------------------------------------------------------------


def regular(rng: np.random.Generator, n: int, models: int) -> list[Paired]:
    """Scores of equally good models on shared scenarios."""
    scores, _ = _rubric(rng, n, models)
    return [of_sides(ratio(a), ratio(b)) for a, b in combinations(scores, 2)]


def hard(rng: np.random.Generator, n: int, models: int) -> list[Paired]:
    """The same for each 1,000 characters, lengths skewed."""
    sides = [hard_score(s, c) for s, c in zip(*_rubric(rng, n, models), strict=True)]
    return [of_sides(a, b) for a, b in combinations(sides, 2)]


def lms(rng: np.random.Generator, n: int, models: int) -> list[Paired]:
    """Differences in chain scores."""
    won = _chains(rng, n, models)
    scores = won.mean(axis=(2, 3))
    return [_mean(a - b) for a, b in combinations(scores, 2)]


def net_benefit(rng: np.random.Generator, n: int, models: int) -> list[Paired]:
    """Signs of chains, the first step that differs deciding."""
    won = _chains(rng, n, models)
    return [_mean(_leading(a - b).mean(axis=1)) for a, b in combinations(won, 2)]


def _rubric(rng: np.random.Generator, n: int, models: int) -> tuple[Array, Array]:
    odds = rng.normal(0.5, 0.8, n) + rng.normal(0, 0.6, (models, n))
    lengths = np.exp(rng.normal(7, 0.5, n) + rng.normal(0, 0.4, (models, n)))
    return expit(odds), lengths


def _chains(rng: np.random.Generator, n: int, models: int) -> Array:
    """Whether the better option is chosen, (models, n, SHUFFLES, STEPS)."""
    odds = rng.normal(1, 1, (n, 1, 1)) + rng.normal(0, 1, (models, n, 1, 1))
    return (rng.random((models, n, SHUFFLES, STEPS)) < expit(odds)).astype(float)


def _leading(difference: Array) -> Array:
    first = np.argmax(difference != 0, axis=-1)
    return np.take_along_axis(difference, first[..., None], axis=-1)[..., 0]


def _mean(values: Array) -> Paired:
    return of_differences(ratio(values, bounds=_DIFFERENCE))


ALIKE = {"Regular": regular, "Hard": hard, "ΔLMS": lms, "net benefit": net_benefit}


def alike_table(sets: int, seed: int) -> Iterator[str]:
    """Any word but "no difference shown" is an error."""
    yield "Alike models: share of sets with any verdict (bound .06)"
    yield _row("figure", "models", *SIZES)
    yield _rule(2 + len(SIZES))
    for name, draw in ALIKE.items():
        for models in (2, 5):
            made = _with(draw, models)
            yield _row(name, models, *(_share(errors(made, n, sets, seed).any_word) for n in SIZES))


def _with(draw: Callable[[np.random.Generator, int, int], list[Paired]], models: int) -> Draw:
    return lambda rng, n: draw(rng, n, models)


# --- net benefit 0 -----------------------------------------------------------------------------


def null_benefit(rng: np.random.Generator, n: int, models: int, rate: float) -> list[Paired]:
    """As many chains won as lost; all others tie. Sizes do not enter a net benefit.

    Of two models each chain is won or lost as a whole; of more each has levels of its own.
    """
    if models == 2:
        signs = rng.choice([-1.0, 0.0, 1.0], size=n, p=[rate, 1 - 2 * rate, rate])
        return [_mean(signs)]
    levels = rng.choice([-3.0, 0.0, 1.0], size=(models, n), p=[rate, 1 - 2 * rate, rate])
    return [_mean(np.sign(a - b)) for a, b in combinations(levels, 2)]


def null_benefit_table(sets: int, seed: int) -> Iterator[str]:
    """Any word is an error: net benefit is 0."""
    yield "Net benefit 0, ties, unlike sizes: share of sets with any verdict (bound .06)"
    yield _row("won = lost", "models", *SIZES)
    yield _rule(2 + len(SIZES))
    for rate in (0.05, 0.15, 0.35, 0.5):
        for models in (2, 5) if rate < 0.5 else (2,):
            cells = []
            for n in SIZES:
                draw = _at_rate(null_benefit, models, rate)
                cells.append(_share(errors(draw, n, sets, seed).any_word))
            yield _row(rate, models, *cells)


# --- equal means, unlike shapes ----------------------------------------------------------------


def unlike(
    rng: np.random.Generator, n: int, models: int, rate: float, losers: int = 1
) -> list[Paired]:
    """`losers` lose .8 with probability `rate`; the others as much on average, a little often."""
    lost = _losses(rng, n, models, rate, losers)
    return [of_sides(ratio(1 - a), ratio(1 - b)) for a, b in combinations(lost, 2)]


def unlike_signs(
    rng: np.random.Generator, n: int, models: int, rate: float, losers: int = 1
) -> list[Paired]:
    """The same sets by the chains won and lost, where net benefit is not 0."""
    lost = _losses(rng, n, models, rate, losers)
    return [_mean(np.sign(np.round(b - a, 9))) for a, b in combinations(lost, 2)]


def _losses(rng: np.random.Generator, n: int, models: int, rate: float, losers: int) -> Array:
    rare = LOSS * (rng.random((losers, n)) < rate)
    often = rng.binomial(20, LOSS * rate, (models - losers, n)) / 20
    return np.concatenate([rare, often])


def unlike_table(sets: int, seed: int) -> Iterator[str]:
    """ "Higher" is an error; in brackets the share of sets with any word."""
    yield (
        'Equal means, unlike shapes: share of sets with "higher" (with any verdict). Bound .10 for '
        "Regular and ΔLMS, q of .05 and above: 2 models from n = 52, 5 from 75"
    )
    yield _row("figure", "models", "rare losers", "q", *SIZES)
    yield _rule(4 + len(SIZES))
    cases = [("Regular, ΔLMS", unlike, m, k) for m, k in ((2, 1), (5, 1), (5, 2))]
    cases.append(("net benefit (no bound)", unlike_signs, 2, 1))
    for name, draw, models, losers in cases:
        for rate in RATES:
            cells = []
            for n in SIZES:
                found = errors(_at_rate(draw, models, rate, losers), n, sets, seed)
                cells.append(f"{_share(found.higher)} ({_share(found.any_word)})")
            yield _row(name, models, losers, rate, *cells)


def _at_rate(draw: Callable[..., list[Paired]], models: int, *rest: float) -> Draw:
    return lambda rng, n: draw(rng, n, models, *rest)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _rule(columns: int) -> str:
    return "|" + "---|" * columns


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
