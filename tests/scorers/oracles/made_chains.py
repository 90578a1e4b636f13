"""Random CORDA data sets, as the oracle takes them and as the suite's records."""

import numpy as np

from moral_evals.scorers.corda.order import TierOrder
from moral_evals.scorers.corda.records import ChainAnswer, Condition, StepRecord
from tests.scorers.oracles.plain_corda import Made

MISSING = ("abstained", "unparsed", "refused", "truncated", "error")
LABELS = "GHJKQ"


def made(
    seed: int,
    arms: tuple[Condition, ...] = ("unconditioned", "own"),
    widths: tuple[int, ...] = (2, 3, 4),
    tiers: int = 3,
    chains: int | None = None,
) -> Made:
    """Chains of 1 to 4 steps, with ties at the top, unknown values, missing and lost answers."""
    rng = np.random.default_rng(seed)
    n = chains or int(rng.integers(1, 9))
    steps = [
        [_options(rng, int(rng.choice(widths)), tiers) for _ in range(rng.integers(1, 5))]
        for _ in range(n)
    ]
    shuffles = int(rng.integers(2, 6))
    places = [[[len(o)] * shuffles for o in chain] for chain in steps]
    found = Made(
        steps=steps,
        strata=[str(rng.choice(["a", "b"])) for _ in range(n)],
        shuffles=shuffles,
        shown=[[[list(map(int, rng.permutation(k))) for k in s] for s in c] for c in places],
        labels=[[[list(rng.permutation(list(LABELS[:k]))) for k in s] for s in c] for c in places],
    )
    patchy = rng.choice([0.0, 0.1, 0.6])
    for arm in arms:
        found.picks[arm] = [_picks(rng, chain, shuffles, patchy, lost=n > 1) for chain in steps]
        # the first chain is whole, so that the grid has every shuffle
        found.picks[arm][0] = _picks(rng, steps[0], shuffles, 0.1, lost=False)
    return found


def _options(rng: np.random.Generator, k: int, tiers: int) -> list[list[float | None]]:
    unknown = rng.choice([0.0, 0.15])
    options = [
        [None if rng.random() < unknown else float(rng.integers(-1, 2)) for _ in range(tiers)]
        for _ in range(k)
    ]
    if rng.random() < 0.3:
        options[0] = list(options[-1])  # a tie, at the top often enough
    return options


def _picks(rng, chain, shuffles: int, patchy: float, lost: bool) -> list[list[int | str]]:
    gone = [lost and rng.random() < 0.1 for _ in range(shuffles)]
    leaning = rng.random() < 0.3  # the same option whenever it can be

    def pick(k: int, s: int) -> int | str:
        if gone[s]:
            return "absent"
        if rng.random() < patchy:
            return str(rng.choice(MISSING))
        return 0 if leaning else int(rng.integers(k))

    return [[pick(len(options), s) for s in range(shuffles)] for options in chain]


def order_of(data: Made) -> TierOrder:
    return TierOrder(tuple(f"t{t}" for t in range(len(data.steps[0][0][0]))))


def records(data: Made) -> list[ChainAnswer]:
    """The rollouts, the later chains first; a lost one is not there."""
    return [
        ChainAnswer(
            f"c{i}",
            data.strata[i],
            arm,
            s,
            tuple(_step(data, arm, i, j, s) for j in _range(data, i)),
        )
        for arm in data.picks
        for i in reversed(range(len(data.steps)))
        for s in range(data.shuffles)
        if data.picks[arm][i][0][s] != "absent"
    ]


def _range(data: Made, i: int) -> range:
    return range(len(data.steps[i]))


def _step(data: Made, arm: str, i: int, j: int, s: int) -> StepRecord:
    options, pick = data.steps[i][j], data.picks[arm][i][j][s]
    answered = isinstance(pick, int)
    return StepRecord(
        index=j,
        step_id=f"s{j}",
        options={
            # an absent name is as unknown as a null
            f"o{k}": {f"t{t}": v for t, v in enumerate(o) if v is not None or k % 2}
            for k, o in enumerate(options)
        },
        chosen=f"o{pick}" if answered else None,
        status="answered" if answered else pick,
        shown=tuple(f"o{k}" for k in data.shown[i][j][s]),
        labels=tuple(map(str, data.labels[i][j][s])),
    )
