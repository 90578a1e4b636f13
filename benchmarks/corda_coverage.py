"""Do 95% intervals hold the truth in 95% of data sets? Simulation of CORDA section 5.

    python -m benchmarks.corda_coverage --sets 200

Answers come from a logistic-normal model: the log-odds of the better option vary by chain and by
step. In the second table a bad decision lowers the log-odds at the next step when it is shown,
positions and labels pull, and a second model has a lower mean and chain effects that correlate
with the first's. The definition gives that model's outline and true values; the constants here
are set to meet those values.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from moral_evals.scorers.corda.contrasts import later_difference
from moral_evals.scorers.corda.metrics import chain_mean, lms
from moral_evals.scorers.corda.net_benefit import net_benefit
from moral_evals.scorers.corda.order import DEFAULT_ORDER
from moral_evals.scorers.corda.table import Arm, IntArray, StepTable
from moral_evals.scorers.stats.bootstrap import Array, Bootstrap, Interval, Method, Statistic

STEPS, SIZES = 5, (20, 50, 200)
METHODS: tuple[Method, ...] = ("bca", "percentile")
STEP_SD = 0.5


@dataclass(frozen=True)
class Published:
    """Section 5's row: coverage by size of the default and of percentile intervals.

    Attributes:
        truth: True value.
        default: Coverage of the default interval at each of `SIZES`.
        percentile: Likewise.
        width: Mean width of the default interval; empty where section 5 gives none.
    """

    truth: float
    default: tuple[float, float, float]
    percentile: tuple[float, float, float]
    width: tuple[float, ...] = ()


@dataclass(frozen=True)
class LmsCell:
    """One cell of the LMS table: mean log-odds and shuffles."""

    mean: float
    shuffles: int
    published: Published


LMS_CELLS = (
    LmsCell(0, 1, Published(0.500, (0.964, 0.960, 0.952), (0.939, 0.946, 0.948))),
    LmsCell(0, 4, Published(0.500, (0.960, 0.958, 0.958), (0.932, 0.949, 0.955))),
    LmsCell(2, 1, Published(0.804, (0.952, 0.956, 0.951), (0.924, 0.946, 0.949))),
    LmsCell(2, 4, Published(0.804, (0.945, 0.953, 0.956), (0.918, 0.942, 0.954))),
    LmsCell(4, 1, Published(0.953, (0.985, 0.938, 0.942), (0.921, 0.923, 0.932))),
    LmsCell(4, 4, Published(0.953, (0.914, 0.919, 0.928), (0.867, 0.905, 0.924))),
)
LMS_CHAIN_SD = 1.5

METRICS = {
    "LMS": Published(0.613, (0.958, 0.955, 0.937), (0.933, 0.934, 0.940), (0.197, 0.121, 0.060)),
    "CE": Published(-0.068, (0.951, 0.955, 0.933), (0.931, 0.948, 0.933), (0.151, 0.093, 0.046)),
    "NB": Published(0.172, (0.959, 0.943, 0.955), (0.936, 0.931, 0.949), (0.501, 0.308, 0.152)),
}
CHAIN_SD, SHUFFLES = 1.0, 4
MEAN_A, MEAN_B, CORRELATION = 0.6, 0.2, 0.8
HISTORY, POSITION, LABEL = 0.8, 0.4, 0.2
POPULATION = 20_000  # chains whose values stand for the truth


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Coverage of CORDA's intervals")
    parser.add_argument("--sets", type=int, default=200, help="data sets a cell")
    parser.add_argument("--resamples", type=int, default=1_999)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    error = math.sqrt(0.95 * 0.05 / args.sets)
    print(
        f"{args.sets} data sets a cell, B = {args.resamples}, seed {args.seed}. In brackets the "
        f"definition's figure.\nMonte Carlo error of our coverage at .95: {error:.3f}.\n"
    )
    for block in (lms_table(rng, args), metrics_table(rng, args)):
        print("\n".join(block), end="\n\n", flush=True)


def lms_table(rng: np.random.Generator, args: argparse.Namespace) -> Iterator[str]:
    """LMS by true mean and number of shuffles."""
    yield "| true LMS | S | n | default | percentile | width |"
    yield "|---|---|---|---|---|---|"
    for cell in LMS_CELLS:
        truth = true_lms(cell.mean)
        for size, n in enumerate(SIZES):
            draws = (chain_mean(lms_data(rng, n, cell), (0, 1)) for _ in range(args.sets))
            found = coverage(draws, truth, n, args.resamples)
            yield f"| {truth:.3f} ({cell.published.truth:.3f}) | {cell.shuffles} | {n} | " + cells(
                found, cell.published, size
            )


def lms_data(rng: np.random.Generator, n: int, cell: LmsCell) -> Array:
    """Share of shuffles in which the better option is chosen, (n, STEPS)."""
    odds = cell.mean + rng.normal(0, LMS_CHAIN_SD, (n, 1)) + rng.normal(0, STEP_SD, (n, STEPS))
    return np.asarray(rng.binomial(cell.shuffles, expit(odds)) / cell.shuffles)


def true_lms(mean: float) -> float:
    """Mean of expit over the normal log-odds, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    odds = mean + math.hypot(LMS_CHAIN_SD, STEP_SD) * nodes
    return float((weights * expit(odds)).sum() / weights.sum())


def metrics_table(rng: np.random.Generator, args: argparse.Namespace) -> Iterator[str]:
    """LMS, CE and NB on full data with history, position and label effects."""
    truth = {name: s.estimate() for name, s in metrics_data(rng, POPULATION).items()}
    yield "| metric | truth | n | default | percentile | width |"
    yield "|---|---|---|---|---|---|"
    sets = {n: [metrics_data(rng, n) for _ in range(args.sets)] for n in SIZES}
    for name, published in METRICS.items():
        for size, n in enumerate(SIZES):
            found = coverage((s[name] for s in sets[n]), truth[name], n, args.resamples)
            yield f"| {name} | {truth[name]:.3f} ({published.truth:.3f}) | {n} | " + cells(
                found, published, size
            )


def metrics_data(rng: np.random.Generator, n: int) -> dict[str, Statistic]:
    """The statistics of one data set of n chains."""
    steps = tier_steps(rng, n)
    # layouts: the four of K=2, S=4 in the order of a seeded base
    flip = rng.integers(0, 2, (2, n, STEPS, 1))
    first = np.where((np.array([0, 1, 0, 1]) ^ flip[0]) == 1, 1.0, -1.0)
    label = np.where((np.array([0, 1, 1, 0]) ^ flip[1]) == 1, 1.0, -1.0)
    pull = POSITION * first + LABEL * label
    chain = rng.normal(0, CHAIN_SD, (n, 1))
    other = rng.normal(0, CHAIN_SD, (n, 1))
    odds_a = MEAN_A + chain + rng.normal(0, STEP_SD, (n, STEPS))
    chain_b = CORRELATION * chain + math.sqrt(1 - CORRELATION**2) * other
    odds_b = MEAN_B + chain_b + rng.normal(0, STEP_SD, (n, STEPS))
    alone = answer(rng, steps, odds_a[..., None] + pull, history=0)
    own = answer(rng, steps, odds_a[..., None] + pull, history=HISTORY)
    model_b = answer(rng, steps, odds_b[..., None] + pull, history=0)
    return {
        "LMS": lms(alone),
        "CE": later_difference(own, alone),
        "NB": net_benefit(alone, model_b),
    }


def tier_steps(rng: np.random.Generator, n: int) -> StepTable:
    """n chains of informative two-option steps, tier values -1 to 1."""
    names = DEFAULT_ORDER.names
    levels = rng.integers(-1, 2, (n, STEPS, 2, len(names))).astype(float)
    same = (levels[:, :, 0] == levels[:, :, 1]).all(axis=2)
    levels[same, 0, -1], levels[same, 1, -1] = 1.0, 0.0
    options = [
        [[dict(zip(names, o, strict=True)) for o in step] for step in chain]
        for chain in levels.tolist()
    ]
    return StepTable.build(options, DEFAULT_ORDER)


def answer(rng: np.random.Generator, steps: StepTable, odds: Array, history: float) -> Arm:
    """Draw answers; `history` is the log-odds lost after a bad decision in the same rollout."""
    better = steps.u.argmax(axis=2)
    chosen: IntArray = np.empty(odds.shape, dtype=np.int64)
    bad = np.zeros((odds.shape[0], odds.shape[2]), dtype=bool)
    for j in range(odds.shape[1]):
        bad = rng.random(bad.shape) >= expit(odds[:, j] - history * bad)
        chosen[:, j] = np.where(bad, 1 - better[:, j, None], better[:, j, None])
    unseen = np.full((*odds.shape, 2), -1)  # these metrics look at no label or position
    return Arm(steps, chosen, np.zeros_like(chosen), unseen, unseen, ())


def coverage(
    statistics: Iterator[Statistic], truth: float, n: int, resamples: int
) -> dict[Method, tuple[float, float]]:
    """Share of intervals that hold the truth, and their mean width, by method."""
    by_method = {m: Bootstrap(n, resamples=resamples, method=m).interval for m in METHODS}
    found: dict[Method, list[Interval]] = {m: [] for m in METHODS}
    for statistic in statistics:
        for method, interval in by_method.items():
            found[method].append(interval(statistic))
    return {
        method: (
            float(np.mean([f.lower <= truth <= f.upper for f in intervals])),
            float(np.mean([f.upper - f.lower for f in intervals])),
        )
        for method, intervals in found.items()
    }


def cells(found: dict[Method, tuple[float, float]], published: Published, size: int) -> str:
    """The last three cells of a row."""
    (default, width), (percentile, _) = found["bca"], found["percentile"]
    given = f" ({published.width[size]:.3f})" if published.width else ""
    return (
        f"{default:.3f} ({published.default[size]:.3f}) | "
        f"{percentile:.3f} ({published.percentile[size]:.3f}) | {width:.3f}{given} |"
    )


if __name__ == "__main__":
    main()
