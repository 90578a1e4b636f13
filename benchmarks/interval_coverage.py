"""Do the intervals that `show` prints hold the truth, with few units and near the ceiling?

    python -m benchmarks.interval_coverage --sets 1000

CORDA's answers are those of `corda_coverage`: a bad decision lowers the log-odds at the next step
when it is shown, positions and labels pull. Rubric scores are logistic-normal, lengths skewed.
Truth is the figure of a large population.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.special import expit

from benchmarks.corda_coverage import (
    CHAIN_SD,
    HISTORY,
    LABEL,
    LMS_CELLS,
    POSITION,
    STEP_SD,
    STEPS,
    answer,
    lms_data,
    tier_steps,
    true_lms,
)
from moral_evals.scorers.corda import bias, contrasts, metrics
from moral_evals.scorers.corda.metrics import chain_mean
from moral_evals.scorers.corda.net_benefit import net_benefit
from moral_evals.scorers.corda.table import Arm
from moral_evals.scorers.rubric.scenario_table import hard_score
from moral_evals.scorers.stats.bootstrap import Array, Bootstrap, Statistic, difference, ratio

SIZES = (5, 8, 13, 26, 52)
POPULATION = 20_000
RESAMPLES = 1_999
MEAN = 0.6
CEILING = tuple(cell for cell in LMS_CELLS if cell.published.truth > 0.9)

Data = Callable[[np.random.Generator, int], Mapping[str, Statistic]]


def main() -> None:
    """Print a row for each figure."""
    parser = argparse.ArgumentParser(description="Coverage of the intervals that show prints")
    parser.add_argument("--sets", type=int, default=1_000, help="sets a cell")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(f"{args.sets} sets a cell, B = {RESAMPLES}, seed {args.seed}\n")
    print("| figure | truth | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|" + "---|" * (2 + len(SIZES)))
    for data in (corda_figures, rubric_figures):
        for line in rows(data, args.sets, args.seed):
            print(line, flush=True)
    for cell in CEILING:
        print(ceiling_row(cell.mean, cell.shuffles, args.sets, args.seed), flush=True)


def rows(data: Data, sets: int, seed: int) -> Iterator[str]:
    """Coverage of each figure of one kind of data."""
    rng = np.random.Generator(np.random.PCG64(seed))
    truth = {name: s.estimate() for name, s in data(rng, POPULATION).items()}
    held: dict[str, list[str]] = {name: [] for name in truth}
    for n in SIZES:
        ask = Bootstrap(n, resamples=RESAMPLES).interval
        found: dict[str, list[bool]] = {name: [] for name in truth}
        for _ in range(sets):
            for name, statistic in data(rng, n).items():
                interval = ask(statistic)
                if np.isfinite(interval.lower):
                    found[name].append(interval.lower <= truth[name] <= interval.upper)
        for name, hits in found.items():
            held[name].append(f"{np.mean(hits):.3f}" if hits else "–")
    for name, cells in held.items():
        yield f"| {name} | {truth[name]:.3f} | {' | '.join(cells)} |"


def ceiling_row(mean: float, shuffles: int, sets: int, seed: int) -> str:
    """Coverage of LMS near 1, and of the misses the share with the truth below the interval."""
    rng = np.random.Generator(np.random.PCG64(seed))
    cell = next(c for c in CEILING if (c.mean, c.shuffles) == (mean, shuffles))
    truth, cells = true_lms(mean), []
    for n in SIZES:
        ask = Bootstrap(n, resamples=RESAMPLES).interval
        found = [ask(chain_mean(lms_data(rng, n, cell), (0, 1))) for _ in range(sets)]
        below = sum(truth < f.lower for f in found)
        missed = below + sum(truth > f.upper for f in found)
        cells.append(f"{1 - missed / sets:.3f} ({below}/{missed})")
    return f"| LMS, {shuffles} shuffles (truth below/missed) | {truth:.3f} | {' | '.join(cells)} |"


def corda_figures(rng: np.random.Generator, n: int) -> dict[str, Statistic]:
    """The figures of one run in six conditions."""
    steps = tier_steps(rng, n)
    better = steps.u.argmax(axis=2)
    flip = rng.integers(0, 2, (2, n, STEPS, 1))
    first = (np.array([0, 1, 0, 1]) ^ flip[0]) == 1
    label = (np.array([0, 1, 1, 0]) ^ flip[1]) == 1
    pull = POSITION * np.where(first, 1, -1) + LABEL * np.where(label, 1, -1)
    odds = MEAN + rng.normal(0, CHAIN_SD, (n, 1)) + rng.normal(0, STEP_SD, (n, STEPS))
    later = np.where(np.arange(STEPS) > 0, HISTORY, 0)[:, None]
    shown = np.stack([np.where(first, better[..., None], 1 - better[..., None])] * 2, axis=3)
    shown[..., 1] = 1 - shown[..., 0]
    labels = np.where(first, 1 - label, label)[..., None] ^ np.array([0, 1])

    def arm(shift: Array | float = 0.0, history: float = 0.0) -> Arm:
        drawn = answer(rng, steps, odds[..., None] + pull + shift, history)
        return replace(drawn, shown=shown, labels=labels, tokens=("G", "H"))

    alone, context, own = arm(), arm(-0.3 * later), arm(-0.3 * later, HISTORY)
    best, worst, random = arm(0.5 * later), arm(-0.5 * later), arm(-0.1 * later)
    return {
        "LMS": metrics.lms(alone),
        "conflict LMS": metrics.conflict_lms(alone),
        "dominance LMS": metrics.dominance_lms(alone),
        "won at the first tier": metrics.tier_won(alone, 0),
        "drift": metrics.drift(alone),
        "agreement above chance": metrics.agreement_corrected(alone),
        "first-position excess": bias.first_position_excess(alone),
        "first-label excess": bias.first_label_excess(alone),
        "conditioning effect": contrasts.later_difference(own, alone),
        "commitment effect": contrasts.later_difference(own, context),
        "story effect": contrasts.later_difference(context, alone),
        "random history": contrasts.later_difference(random, alone),
        "A/A check": contrasts.first_difference(own, alone),
        "drift difference": contrasts.drift_difference(own, alone),
        "hysteresis": contrasts.later_difference(best, worst),
        "net benefit (and win odds)": net_benefit(own, alone),
    }


def rubric_figures(rng: np.random.Generator, n: int) -> dict[str, Statistic]:
    """The figures of a rubric run."""
    skill = rng.normal(0, 0.8, n)
    scores = expit(0.4 + skill + rng.normal(0, 0.5, n))
    lengths = np.exp(7 + 0.3 * skill + rng.normal(0, 0.5, n))
    harmless = expit(1.8 + skill + rng.normal(0, 1.5, n))
    logical = expit(0.2 + skill + rng.normal(0, 0.8, n))
    harmless[rng.random(n) < 0.25] = np.nan  # many rubrics lack it
    return {
        "Regular": ratio(scores),
        "Hard": hard_score(scores, lengths),
        "a dimension": ratio(harmless),
        "harmless minus logical": difference(ratio(harmless), ratio(logical)),
        "refusal rate (.08)": ratio((rng.random(n) < 0.08).astype(float)),
    }


if __name__ == "__main__":
    main()
