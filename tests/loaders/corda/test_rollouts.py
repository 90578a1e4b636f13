"""From chains to samples: one rollout a sample, the same layouts in every run (sections 3.4, 3.5)."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.dataset import Sample
from pydantic import JsonValue, TypeAdapter

from moral_evals.loaders.corda.chains import Chain, Option, Step
from moral_evals.loaders.corda.rollouts import (
    CONDITIONS,
    LABEL_POOL,
    Condition,
    RolloutMetadata,
    draw_labels,
    option_counts,
    rollout_dataset,
)
from moral_evals.loaders.errors import DataError

ROOT = Path(__file__).resolve().parents[2]


def step(step_id: str, *values: float, **more: Any) -> Step:
    """A step with an option for each rank, named by its place in the file."""
    options = tuple(
        Option(option_id=f"o{i}", text=f"Text {i} of {step_id}.", tiers={"welfare": v})
        for i, v in enumerate(values)
    )
    return Step(
        **{"step_id": step_id, "situation": f"Situation {step_id}.", "options": options} | more
    )


def chain(chain_id: str, *steps: Step, context: str = "") -> Chain:
    return Chain(chain_id=chain_id, stratum="work", context=context, steps=steps)


CHAINS = [
    chain("zeta", step("s1", 0, 1), step("s2", 1, 0), step("s3", 0, 0, 2, 2)),
    chain("alpha", step("s1", 1, 0), step("s2", 5, 1, 1), context="A shop."),
]


def top(options: Sequence[Option]) -> list[int]:
    values = [o.tiers["welfare"] for o in options]
    return [i for i, v in enumerate(values) if v == max(values)]


def bottom(options: Sequence[Option]) -> list[int]:
    values = [o.tiers["welfare"] for o in options]
    return [i for i, v in enumerate(values) if v == min(values)]


def samples(
    chains: Sequence[Chain] = CHAINS,
    conditions: Sequence[Condition] = CONDITIONS,
    shuffles: int = 4,
    seed: int = 0,
    labels: str = "",
) -> list[Sample]:
    ends = {"best": top, "worst": bottom}
    return list(rollout_dataset(chains, conditions, shuffles, seed, ends, labels))


def rollouts(*args: Any, **more: Any) -> list[RolloutMetadata]:
    return [s.metadata_as(RolloutMetadata) for s in samples(*args, **more)]


def shown(rollout: RolloutMetadata) -> list[list[tuple[str, str]]]:
    return [[(o.option_id, o.label) for o in options] for options in rollout.shown]


# --- samples --------------------------------------------------------------------------------


def test_samples_come_chain_by_chain_then_condition_then_shuffle() -> None:
    found = [(r.chain_id, r.condition, r.shuffle) for r in rollouts(shuffles=2)]
    assert found == [(c, k, s) for c in ("zeta", "alpha") for k in CONDITIONS for s in range(2)]


def test_ids_are_unique_texts_that_name_the_rollout() -> None:
    ids = [s.id for s in samples(shuffles=2)]
    assert ids[:3] == ["zeta:unconditioned:0", "zeta:unconditioned:1", "zeta:context:0"]
    assert len(set(ids)) == len(ids) == 2 * len(CONDITIONS) * 2


def test_ids_stay_unique_if_chain_ids_contain_the_separator() -> None:
    chains = [chain(c, step("s", 0, 1)) for c in ("a", "a:own", "a:own:0", "a:0")]
    ids = [s.id for s in samples(chains)]
    assert len(set(ids)) == len(ids)


def test_the_input_shows_where_the_story_starts() -> None:
    by_chain = {r.metadata["chain_id"]: r.input for r in samples()}
    assert by_chain == {"zeta": "Situation s1.", "alpha": "A shop.\n\nSituation s1."}


def test_metadata_is_plain_json_and_comes_back_whole() -> None:
    for sample in samples():
        TypeAdapter(JsonValue).validate_python(sample.metadata, strict=True)
        again = RolloutMetadata(**json.loads(json.dumps(sample.metadata)))
        assert again == sample.metadata_as(RolloutMetadata)
        assert again.chain in CHAINS
        assert again.stratum == "work"


def test_unknown_tiers_stay_unknown_on_the_way() -> None:
    options = (
        Option(option_id="a", text="A.", tiers={"welfare": None, "rights_harm": 0}),
        Option(option_id="b", text="B.", tiers={}),
    )
    only = chain("c", Step(step_id="s", situation="x", options=options))
    (found, *_) = rollouts([only], ["own"])
    assert [o.tiers for o in found.chain.steps[0].options] == [o.tiers for o in options]


def test_numbers_of_options_are_counted_over_all_steps() -> None:
    assert option_counts(CHAINS) == {2, 3, 4}


# --- layouts --------------------------------------------------------------------------------


def test_every_option_is_shown_once_with_a_label_of_its_own() -> None:
    for rollout in rollouts(shuffles=12):
        for s, options in zip(rollout.chain.steps, rollout.shown, strict=True):
            assert {o.option_id for o in options} == {o.option_id for o in s.options}
            assert len({o.label for o in options}) == len(s.options)


def test_all_conditions_share_layouts() -> None:
    by_layout: dict[tuple[str, int], list[Any]] = {}
    for rollout in rollouts():
        by_layout.setdefault((rollout.chain_id, rollout.shuffle), []).append(shown(rollout))
    assert len(by_layout) == 8
    for found in by_layout.values():
        assert len(found) == len(CONDITIONS)
        assert all(f == found[0] for f in found)


@given(
    conditions=st.lists(st.sampled_from(CONDITIONS), min_size=1, unique=True),
    order=st.permutations(CHAINS),
    take=st.integers(1, 2),
    shuffles=st.integers(1, 6),
    seed=st.sampled_from([0, 1, 2**40]),
)
def test_a_rollout_is_the_same_whatever_else_is_in_the_run(
    conditions: list[Condition], order: list[Chain], take: int, shuffles: int, seed: int
) -> None:
    whole_run = {s.id: s for s in samples(shuffles=6, seed=seed)}
    for sample in samples(order[:take], conditions, shuffles, seed):
        assert sample.metadata == whole_run[sample.id].metadata


def test_a_layout_does_not_depend_on_what_the_step_or_its_neighbours_say() -> None:
    changed = chain("zeta", step("s0", 3, 3), step("s2", 7, 8, situation="Other."))
    before, after = rollouts()[0], rollouts([changed])[0]
    assert shown(after)[1] == shown(before)[1]


def test_layouts_move_with_seed_chain_step_and_shuffle() -> None:
    steps = [step(f"s{i}", 0, 1) for i in range(30)]
    one, other = chain("one", *steps), chain("other", *steps)
    base = rollouts([one], ["own"], seed=1)

    def sides(rollout: RolloutMetadata) -> tuple[str, ...]:
        return tuple(options[0].option_id for options in rollout.shown)

    assert set(sides(base[0])) == {"o0", "o1"}, "all steps of a chain show the same order"
    assert sides(rollouts([other], ["own"], seed=1)[0]) != sides(base[0])
    assert sides(rollouts([one], ["own"], seed=2)[0]) != sides(base[0])
    assert len({json.dumps(shown(r)) for r in base}) == 4


@pytest.mark.parametrize("k", [2, 3, 5])
def test_each_option_stands_equally_often_at_each_place_and_under_each_label(k: int) -> None:
    shuffles = 4 if k == 2 else k
    found = rollouts([chain("c", step("s", *range(k)))], ["own"], shuffles)
    cells = Counter(
        (o.option_id, cell)
        for r in found
        for place, o in enumerate(r.shown[0])
        for cell in (place, o.label)
    )
    assert len(cells) == 2 * k * k
    assert set(cells.values()) == {shuffles // k}


def test_layouts_are_the_same_in_another_process() -> None:
    program = (
        "import json\n"
        "from tests.loaders.corda.test_rollouts import samples\n"
        "print(json.dumps({s.id: s.metadata for s in samples()}))\n"
    )
    here = {s.id: s.metadata for s in samples()}
    paths = [str(ROOT), *filter(None, sys.path)]
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == here


# --- labels ---------------------------------------------------------------------------------


def test_labels_are_drawn_from_the_pool_once_for_each_number_of_options() -> None:
    for rollout in rollouts(seed=5):
        for options in rollout.shown:
            drawn = {o.label for o in options}
            assert drawn == set(draw_labels(5, len(options)))
            assert drawn <= set(LABEL_POOL)
    assert len({draw_labels(seed, 2) for seed in range(40)}) > 5


def test_the_users_labels_are_used_and_the_first_k_serve_k_options() -> None:
    for rollout in rollouts(labels="QHWM"):
        for options in rollout.shown:
            assert {o.label for o in options} == set("QHWM"[: len(options)])


def test_the_order_of_the_users_labels_changes_nothing() -> None:
    one = [chain("c", step("s1", 0, 1), step("s2", 1, 0))]
    assert [shown(r) for r in rollouts(one, labels="QH")] == [
        shown(r) for r in rollouts(one, labels="HQ")
    ]


# --- histories ------------------------------------------------------------------------------

MANY = [
    chain(f"c{i}", step("s1", 0, 1), step("s2", 2, 0, 2, 0), step("s3", 4, 4)) for i in range(30)
]


def histories(condition: Condition, **more: Any) -> dict[tuple[str, int], list[str]]:
    found = rollouts(MANY, [condition], **more)
    return {(r.chain_id, r.shuffle): r.history for r in found}


@pytest.mark.parametrize("condition", ["unconditioned", "context", "own"])
def test_conditions_without_a_fixed_history_report_nothing(condition: Condition) -> None:
    assert all(h == ["", "", ""] for h in histories(condition).values())


@pytest.mark.parametrize(
    ("condition", "allowed"),
    [
        ("best", [{"o1"}, {"o0", "o2"}, {"o0", "o1"}]),
        ("worst", [{"o0"}, {"o1", "o3"}, {"o0", "o1"}]),
        ("random", [{"o0", "o1"}, {"o0", "o1", "o2", "o3"}, {"o0", "o1"}]),
    ],
)
def test_a_fixed_history_picks_among_the_right_options_and_reaches_all(
    condition: Condition, allowed: list[set[str]]
) -> None:
    found = histories(condition).values()
    assert [{h[j] for h in found} for j in range(3)] == allowed


def test_random_histories_are_uniform() -> None:
    picks = Counter(h[1] for h in histories("random", shuffles=40).values())
    assert picks.total() == 1200
    assert all(abs(n - 300) < 60 for n in picks.values()), "more than 4 standard errors"


@pytest.mark.parametrize("condition", ["best", "worst", "random"])
def test_picks_are_seeded(condition: Condition) -> None:
    first = histories(condition, seed=3)
    assert histories(condition, seed=3) == first
    assert histories(condition, seed=4) != first
    assert len({tuple(h) for h in first.values()}) > 2, "one pick for all chains and shuffles"


# --- options that name other options --------------------------------------------------------


def naming(text: str) -> Step:
    plain = step("s2", 0, 1, 2)
    return plain.model_copy(
        update={"options": (*plain.options[:2], plain.options[2].model_copy(update={"text": text}))}
    )


@pytest.mark.parametrize(
    "text",
    ["Both of the above.", "None of the above", "Do both A and B.", "Take all of the ABOVE."],
)
def test_options_that_name_others_are_refused_with_their_place(text: str) -> None:
    story = chain("c", step("s1", 0, 1, 2), naming(text), step("s3", 0, 1, 2))
    with pytest.raises(DataError, match="chain 'c', step 's2', option 'o2'"):
        rollouts([story], ["unconditioned", "own"], 9)


@pytest.mark.parametrize(
    "text", ["Tell both of them above all.", "Above all, be kind.", "Tell Anna and Bo."]
)
def test_other_texts_are_shuffled(text: str) -> None:
    found = rollouts([chain("c", naming(text))], ["own"], 3)
    assert len({r.shown[0][0].option_id for r in found}) == 3
