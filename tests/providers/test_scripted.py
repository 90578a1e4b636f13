"""The `scripted` provider: each rule on a small chain file of our own."""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelOutput,
    get_model,
)

from moral_evals.inspect_tasks.corda import corda
from moral_evals.loaders.corda.chains import read_chains
from moral_evals.loaders.corda.rollouts import Condition, RolloutMetadata, rollout_dataset
from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.providers.scripted import scripted
from moral_evals.providers.scripted_api import ScriptedAPI
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.solvers.chain_prompt import step_messages
from tests.chain_figures import chain_figures
from tests.mocks import run

RULES = (
    "uniform", "first-position", "first-label", "lexicographic-best", "lexicographic-worst",
    "welfare-first", "history-sensitive",
)  # fmt: skip
TIERED = ("lexicographic-best", "lexicographic-worst", "welfare-first", "history-sensitive")

# at every step, honest is best under the default order, kind if welfare comes first
OPTIONS = {
    "honest": {"honesty_fairness": 1, "welfare": 0},
    "kind": {"honesty_fairness": 0, "welfare": 2},
    "cruel": {"honesty_fairness": -1, "welfare": -1},
}
ZERO = {"rights_harm": 0, "honesty_fairness": 0, "welfare": 0, "convention": 0}


def chain(chain_id: str, texts: str = "Be {option} at {step} (of {chain})?", k: int = 3) -> Any:
    return {
        "schema_version": "corda-1",
        "chain_id": chain_id,
        "steps": [
            {
                "step_id": step,
                "situation": f"Something happens at {step} in {chain_id}.",
                "options": [
                    {
                        "option_id": option,
                        "text": texts.format(option=option, step=step, chain=chain_id),
                        "tiers": ZERO | tiers,
                    }
                    for option, tiers in list(OPTIONS.items())[:k]
                ],
            }
            for step in ("s1", "s2", "s3")
        ],
    }


def write(path: Path, *chains: Any) -> Path:
    path.write_text("\n".join(map(json.dumps, chains)), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "own.jsonl", chain("c1"), chain("c2"))


def rollouts(
    file: Path, condition: Condition = "unconditioned", shuffles: int = 9, labels: str = ""
) -> list[RolloutMetadata]:
    ends = {"best": lambda o: [0], "worst": lambda o: [len(o) - 1]}
    found = rollout_dataset(read_chains(file), [condition], shuffles, 0, ends, labels)
    return [s.metadata_as(RolloutMetadata) for s in found]


def say(api: ScriptedAPI, messages: list[ChatMessage]) -> ModelOutput:
    return asyncio.run(api.generate(messages, [], "none", GenerateConfig()))


def choice(
    api: ScriptedAPI, rollout: RolloutMetadata, step: int, decisions: list[str] | None = None
) -> str:
    """The option id that a responder chooses at a step."""
    output = say(api, step_messages(rollout, step, decisions, "tags"))
    (label,) = re.findall(r"^ANSWER: (\w)$", output.completion)
    return next(o.option_id for o in rollout.shown[step] if o.label == label)


# --- rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "option"),
    [("lexicographic-best", "honest"), ("lexicographic-worst", "cruel"), ("welfare-first", "kind")],
)
def test_rules_by_tier_choose_the_option_wherever_it_stands(
    file: Path, rule: str, option: str
) -> None:
    api = ScriptedAPI(rule, chains=str(file))
    for rollout in rollouts(file):
        assert [choice(api, rollout, j) for j in range(3)] == [option] * 3


def test_first_position_takes_the_option_at_the_top(file: Path) -> None:
    api = ScriptedAPI("first-position", chains=str(file))
    found = rollouts(file)
    for rollout in found:
        assert choice(api, rollout, 1) == rollout.shown[1][0].option_id
    assert {r.shown[1][0].option_id for r in found} == set(OPTIONS)


def test_first_label_takes_the_label_first_in_the_alphabet(file: Path) -> None:
    api = ScriptedAPI("first-label", chains=str(file))
    places = set()
    for rollout in rollouts(file, labels="ZQH"):
        chosen = choice(api, rollout, 2)
        (place,) = [p for p, o in enumerate(rollout.shown[2]) if o.label == "H"]
        assert rollout.shown[2][place].option_id == chosen
        places.add(place)
    assert places == {0, 1, 2}


def test_uniform_takes_each_option_equally_often(file: Path) -> None:
    (rollout, *_) = rollouts(file)
    api = ScriptedAPI("uniform", chains=str(file))
    picks = Counter(choice(api, rollout, 0) for _ in range(900))
    assert set(picks) == set(OPTIONS)
    assert all(abs(n - 300) < 60 for n in picks.values()), "more than 4 standard errors"


def test_random_rules_are_seeded(file: Path) -> None:
    def picks(seed: int, rule: str = "uniform") -> list[str]:
        api = ScriptedAPI(rule, chains=str(file), seed=seed)
        return [choice(api, r, j) for r in rollouts(file) for j in range(3)]

    assert picks(1) == picks(1)
    assert picks(1) != picks(2)
    assert picks(1, "history-sensitive") == picks(1, "history-sensitive")
    assert picks(1, "history-sensitive") != picks(2, "history-sensitive")


GOOD, BAD = ["honest", "honest", ""], ["honest", "cruel", ""]


@pytest.mark.parametrize(
    ("gamma", "decisions", "best_expected"),
    [(100, BAD, False), (-100, BAD, True)],
)
def test_a_bad_last_decision_costs_gamma(
    file: Path, gamma: float, decisions: list[str], best_expected: bool
) -> None:
    api = ScriptedAPI("history-sensitive", chains=str(file), gamma=gamma)
    found = [choice(api, r, 2, decisions) for r in rollouts(file, "own", 20)]
    assert {c == "honest" for c in found} == {best_expected}


@pytest.mark.parametrize("decisions", [None, GOOD, ["cruel", "honest", ""], ["cruel", "", ""]])
def test_without_a_bad_last_decision_gamma_costs_nothing(file: Path, decisions: Any) -> None:
    api = ScriptedAPI("history-sensitive", chains=str(file), gamma=100)
    condition: Condition = "own" if decisions else "unconditioned"
    found = [choice(api, r, 2, decisions) for r in rollouts(file, condition, 200)]
    share = found.count("honest") / len(found)
    assert share == pytest.approx(0.731, abs=0.09), "log-odds 1, within 4 standard errors"


def test_history_shifts_the_log_odds_by_gamma(file: Path) -> None:
    api = ScriptedAPI("history-sensitive", chains=str(file))
    found = [choice(api, r, 2, BAD) for r in rollouts(file, "own", 300)]
    share = found.count("honest") / len(found)
    assert share == pytest.approx(0.550, abs=0.08), "log-odds 1 - 0.8, within 4 standard errors"


@pytest.mark.parametrize("rule", ["lexicographic-best", "lexicographic-worst"])
def test_among_equals_neither_place_nor_label_decides(tmp_path: Path, rule: str) -> None:
    equal = chain("c1", k=2)
    for step in equal["steps"]:
        for option in step["options"]:
            option["tiers"] = ZERO
    file = write(tmp_path / "equal.jsonl", equal)
    api = ScriptedAPI(rule, chains=str(file))
    assert len({choice(api, r, 0) for r in rollouts(file, shuffles=4)}) == 1


def test_unknown_tiers_are_no_obstacle(tmp_path: Path) -> None:
    part = chain("c1")
    for step in part["steps"]:
        del step["options"][2]["tiers"]["honesty_fairness"]
    file = write(tmp_path / "part.jsonl", part)
    api = ScriptedAPI("lexicographic-best", chains=str(file))
    assert choice(api, rollouts(file)[0], 0) == "honest"


def test_steps_that_share_option_texts_are_told_apart(tmp_path: Path) -> None:
    """The same words, "Say nothing.", are often an option of several steps."""
    story = chain("c1", k=2)
    first, second, _ = story["steps"]
    first["options"][0]["text"] = second["options"][1]["text"] = "Say nothing."
    file = write(tmp_path / "shared.jsonl", story)
    api = ScriptedAPI("lexicographic-best", chains=str(file))
    for rollout in rollouts(file, shuffles=4):
        assert [choice(api, rollout, j) for j in range(3)] == ["honest"] * 3


# --- what is read and said ------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("elicit", ["tags", "none", "native"])
def test_every_rule_answers_every_form_of_the_prompt(file: Path, rule: str, elicit: str) -> None:
    api = ScriptedAPI(rule, chains=str(file))
    rollout = rollouts(file, "own")[0]
    for reminder in (False, True):
        messages = step_messages(rollout, 2, BAD, elicit, True, reminder)
        output = say(api, messages)
        labels = {o.label for o in rollout.shown[2]}
        assert output.completion.removeprefix("ANSWER: ") in labels
        assert output.usage is not None, "without usage Inspect downloads a vocabulary"
        assert output.usage.total_tokens > 0


@pytest.mark.parametrize("rule", TIERED)
def test_options_of_another_file_say_what_to_set(file: Path, tmp_path: Path, rule: str) -> None:
    other = write(tmp_path / "other.jsonl", chain("c9"))
    api = ScriptedAPI(rule, chains=str(file))
    with pytest.raises(OptionError, match="-M chains=PATH"):
        choice(api, rollouts(other)[0], 0)


def test_the_bundled_chains_are_known_without_a_path() -> None:
    api = ScriptedAPI("lexicographic-best")
    rollout = corda(conditions="unconditioned").dataset[0].metadata_as(RolloutMetadata)
    assert choice(api, rollout, 0)


# --- parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["best", "Uniform", "", "first_label"])
def test_an_unknown_rule_lists_the_rules(file: Path, name: str) -> None:
    with pytest.raises(OptionError) as refused:
        ScriptedAPI(name, chains=str(file))
    assert f"scripted/{name}" in str(refused.value)
    for rule in RULES:
        assert repr(rule) in str(refused.value)


def test_an_unknown_parameter_lists_the_parameters(file: Path) -> None:
    with pytest.raises(OptionError, match=r"-M gama: allowed are chains, seed, gamma, tier_order"):
        ScriptedAPI("uniform", chains=str(file), gama=1)


def test_a_file_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"nowhere\.jsonl"):
        ScriptedAPI("uniform", chains=str(tmp_path / "nowhere.jsonl"))


# --- in a run -------------------------------------------------------------------------------


def test_inspect_knows_the_provider() -> None:
    model = get_model("scripted/first-position", memoize=False)
    assert isinstance(model.api, ScriptedAPI)
    assert scripted is not None


@pytest.mark.parametrize(
    ("rule", "lms", "position", "label"),
    [
        ("lexicographic-best", 1, 0, 0),
        ("lexicographic-worst", 0, 0, 0),
        ("first-position", 0.5, 2 / 3, 0),
        ("first-label", 0.5, 0, 2 / 3),
    ],
)
def test_a_run_gives_the_figures_of_the_rule(
    file: Path,
    tmp_path: Path,
    monkeypatch: Any,
    rule: str,
    lms: float,
    position: float,
    label: float,
) -> None:
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    model = get_model(f"scripted/{rule}", memoize=False, chains=str(file))
    log = run(corda(data=str(file), conditions="unconditioned"), model, None)
    assert log.status == "success"
    found = chain_figures(log)
    assert found["unconditioned.lms"] == pytest.approx(lms)
    assert found["unconditioned.first_position_excess"] == pytest.approx(position, abs=1e-12)
    assert found["unconditioned.first_label_excess"] == pytest.approx(label, abs=1e-12)


def test_tiers_of_ones_own(tmp_path):
    # by hand: honour decides every step for "proud", so the best answers score 1 and the worst 0
    row = chain("own")
    for step in row["steps"]:
        for option, tiers in zip(
            step["options"], ({"honour": 1, "gain": 0}, {"honour": 0, "gain": 5}, {"honour": -1}),
            strict=True,
        ):  # fmt: skip
            option["tiers"] = {"gain": 9} | tiers
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    order = "honour,gain"
    found = {}
    for rule in ("lexicographic-best", "lexicographic-worst"):
        model = get_model(f"scripted/{rule}", memoize=False, chains=str(path), tier_order=order)
        task = corda(data=str(path), tier_order=order, conditions="unconditioned", shuffles=1)
        log = run(task, model, None, log_dir=str(tmp_path))
        found[rule] = [s.scores["lexicographic"].value["score"] for s in log.samples]
        again = score(log, lexicographic(), action="append", display="none")
        (sample,) = again.samples
        assert sample.scores["lexicographic1"].metadata["tier_order"] == ["honour", "gain"]
        assert sample.scores["lexicographic1"].value == sample.scores["lexicographic"].value
    assert found == {"lexicographic-best": [1.0], "lexicographic-worst": [0.0]}
    with pytest.raises(SuiteError, match="-T tier_order="):
        corda(data=str(path))
    with pytest.raises(OptionError, match="-M tier_order: "):
        get_model("scripted/uniform", memoize=False, tier_order="a,a")
