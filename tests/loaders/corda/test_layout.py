import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from moral_evals.loaders.corda.rollouts import (
    LABEL_POOL,
    balance_warning,
    default_shuffles,
    draw_labels,
    layout,
)

STEPS = [f"s{j}" for j in range(40)]
Cells = Counter[tuple[object, object]]


def cells(step: str, k: int, shuffles: int) -> tuple[Cells, Cells, Cells]:
    """Counts of option x position, option x label and position x label over the shuffles."""
    by_position: Cells = Counter()
    by_label: Cells = Counter()
    together: Cells = Counter()
    for s in range(shuffles):
        for p, (option, label) in enumerate(layout(7, "c", step, k, s, draw_labels(7, k))):
            by_position[option, p] += 1
            by_label[option, label] += 1
            together[p, label] += 1
    return by_position, by_label, together


def exact(found: Cells, k: int, shuffles: int) -> bool:
    return len(found) == k * k and set(found.values()) == {shuffles / k}


@pytest.mark.parametrize(("k", "shuffles"), [(2, 4), (3, 3), (5, 5), (2, 12), (3, 12), (7, 7)])
def test_everything_is_balanced(k: int, shuffles: int) -> None:
    for step in STEPS:
        assert all(exact(found, k, shuffles) for found in cells(step, k, shuffles))


@pytest.mark.parametrize("k", range(2, 8))
def test_k_squared_shuffles_balance_everything(k: int) -> None:
    assert all(exact(found, k, k * k) for found in cells("s", k, k * k))


def test_four_options_in_four_shuffles_meet_two_labels_each() -> None:
    seen = set()
    for step in STEPS:
        by_position, by_label, together = cells(step, 4, 4)
        assert exact(by_position, 4, 4)
        assert exact(together, 4, 4)
        assert all(sum(o == option for o, _ in by_label) == 2 for option in range(4))
        seen |= set(by_label)
    assert len(seen) == 16  # seeded across steps


def test_two_options_in_two_shuffles_tie_option_and_label() -> None:
    seen = set()
    for step in STEPS:
        by_position, by_label, together = cells(step, 2, 2)
        assert exact(by_position, 2, 2)
        assert exact(together, 2, 2)
        assert sorted(by_label.values()) == [2, 2]
        seen |= set(by_label)
    assert len(seen) == 4


def test_formula_of_the_definition() -> None:
    start = layout(0, "c", "s", 3, 0, "GHJ")
    options, labels = [o for o, _ in start], [label for _, label in start]
    for s in range(9):
        a, c = s % 3, (s // 3 - s) % 3
        expected = [(options[(p + a) % 3], labels[(p + c) % 3]) for p in range(3)]
        assert layout(0, "c", "s", 3, s, "GHJ") == expected


def test_each_part_of_the_key_matters_and_parts_do_not_run_together() -> None:
    keys = [
        (0, "c", "s"),
        (1, "c", "s"),
        (0, "d", "s"),
        (0, "c", "t"),
        (0, "cs", ""),
        (0, "", "cs"),
    ]
    shown = {tuple(layout(*key, 7, 0, LABEL_POOL)) for key in keys}
    assert len(shown) == len(keys)


def test_order_of_the_labels_given_is_no_matter() -> None:
    assert layout(0, "c", "s", 3, 1, ["Q", "H", "Z"]) == layout(0, "c", "s", 3, 1, ["Z", "Q", "H"])


def test_same_in_every_process() -> None:
    code = (
        "from moral_evals.loaders.corda.rollouts import draw_labels, layout\n"
        "import random; random.seed(1)\n"
        "print([draw_labels(s, k) for s in (0, 1) for k in (2, 3, 7)])\n"
        "print(layout(0, 'chäin', 's1', 5, 3, draw_labels(0, 5)))"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(printed) == 1


def test_pinned_layout() -> None:
    # a change here would break pairing with logs already written
    assert draw_labels(0, 3) == ("G", "K", "V")
    assert layout(0, "c1", "s1", 3, 1, "GKV") == [(0, "K"), (2, "V"), (1, "G")]


def test_labels_come_from_the_pool_and_move_with_the_seed() -> None:
    drawn = {draw_labels(seed, 2) for seed in range(50)}
    assert len(drawn) > 10
    assert all(set(labels) <= set(LABEL_POOL) and len(set(labels)) == 2 for labels in drawn)
    with pytest.raises(ValueError, match="8 options"):
        draw_labels(0, 8)


@pytest.mark.parametrize(
    ("ks", "shuffles", "warned"),
    [({2}, 4, False), ({3}, 3, False), ({4}, 4, False), ({2, 3}, 12, False), ({2, 5}, 5, True)],
)
def test_default_shuffles(ks: set[int], shuffles: int, warned: bool) -> None:
    assert default_shuffles(ks) == shuffles
    assert bool(balance_warning(shuffles, ks)) == warned


def test_uneven_shuffles_are_warned_of() -> None:
    assert "3 shuffles" in balance_warning(3, [2, 2])
    assert "labels" in balance_warning(4, [2, 4])
    assert not balance_warning(6, [2])


def test_no_step_has_no_default() -> None:
    with pytest.raises(ValueError, match="no step"):
        default_shuffles([])


@pytest.mark.parametrize(
    ("k", "shuffle", "labels"), [(1, 0, "G"), (2, -1, "GH"), (2, 0, "GHJ"), (2, 0, "GG")]
)
def test_bad_arguments_are_refused(k: int, shuffle: int, labels: str) -> None:
    with pytest.raises(ValueError, match="label"):
        layout(0, "c", "s", k, shuffle, labels)
