"""Public sets in their published layouts (CORDA section 6), on rows in our own words."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moral_evals.loaders.corda.adapters import (
    MORALCHOICE_TIERS,
    read_mmds,
    read_moralchoice,
    read_value_map,
)
from moral_evals.loaders.corda.chains import TIERS
from moral_evals.loaders.corda.data import load_chains
from moral_evals.loaders.errors import DataError, OptionError, SuiteError

VALUES = {
    "care/harm": {"rights_harm": 1.0},
    "fairness/cheating": {"honesty_fairness": 1.0},
    "loyalty/betrayal": {"convention": 1.0, "welfare": -1.0},
}


def mmds_row(idx: int = 0, step: str = "step", **changes: Any) -> dict[str, Any]:
    """A chain of five steps; choice A always has the care label."""
    row: dict[str, Any] = {"norm": "One should not leave a neighbour alone.", "idx": idx}
    for n in range(1, 6):
        row |= {
            f"{step} {n}_situation": f"Part {n}: a neighbour is ill.",
            f"{step} {n}_dilemma": f"What do you do in part {n}?",
            f"{step} {n}_choiceA": f"Stay with him in part {n}.",
            f"{step} {n}_choiceA_value": "Care/Harm",
            f"{step} {n}_choiceB": f"Keep the appointment in part {n}.",
            f"{step} {n}_choiceB_value": "fairness/cheating",
        }
    return row | changes


@pytest.fixture
def mmds(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a JSON list, or as JSON lines."""

    def write(*rows: Any, lines: bool = False) -> Path:
        path = tmp_path / "MMDs.json"
        content = "\n".join(json.dumps(r) for r in rows) if lines else json.dumps(list(rows))
        path.write_text(content, encoding="utf-8")
        return path

    return write


def refused(kind: type[SuiteError], read: Callable[[], object], *parts: str) -> str:
    with pytest.raises(kind) as caught:
        read()
    message = str(caught.value)
    for part in parts:
        assert part in message
    assert "\n" not in message
    return message


# --- Multi-step Moral Dilemmas --------------------------------------------------------------


@pytest.mark.parametrize("step", ["step", "Step"])
@pytest.mark.parametrize("lines", [False, True])
def test_mmds_are_chains_of_five_two_way_steps(mmds, step: str, lines: bool) -> None:
    first, second = read_mmds(mmds(mmds_row(7, step), mmds_row(8, step), lines=lines), VALUES)
    assert first.chain_id != second.chain_id
    assert "7" in first.chain_id
    assert [s.step_id for s in first.steps] == ["s1", "s2", "s3", "s4", "s5"]
    third = first.steps[2]
    assert third.situation == "Part 3: a neighbour is ill."
    assert third.question == "What do you do in part 3?"
    assert [o.text for o in third.options] == [
        "Stay with him in part 3.",
        "Keep the appointment in part 3.",
    ]


def test_mmds_values_become_tiers_and_the_other_mapped_tiers_are_not_engaged(mmds) -> None:
    (chain,) = read_mmds(mmds(mmds_row()), VALUES)
    care, fairness = chain.steps[0].options
    assert care.tiers == {
        "rights_harm": 1, "honesty_fairness": 0, "convention": 0, "welfare": 0,
    }  # fmt: skip
    assert fairness.tiers == care.tiers | {"rights_harm": 0, "honesty_fairness": 1}


@pytest.mark.parametrize("label", ["Care/Harm", "care/harm", "CARE/HARM", " Care/Harm "])
def test_mmds_value_labels_come_in_any_case(mmds, label: str) -> None:
    (chain,) = read_mmds(mmds(mmds_row(**{"step 2_choiceB_value": label})), VALUES)
    assert chain.steps[1].options[1].tiers["rights_harm"] == 1


def test_one_value_may_set_several_tiers(mmds) -> None:
    (chain,) = read_mmds(mmds(mmds_row(**{"step 1_choiceA_value": "Loyalty/Betrayal"})), VALUES)
    tiers = chain.steps[0].options[0].tiers
    assert (tiers["convention"], tiers["welfare"], tiers["rights_harm"]) == (1, -1, 0)


def test_mmds_without_a_map_say_what_to_give(mmds) -> None:
    path = mmds(mmds_row())
    refused(OptionError, lambda: read_mmds(path, None), "MMDs.json", "-T value_map=", "Care/Harm")
    refused(OptionError, lambda: load_chains(str(path), "none"), "-T value_map=")


def test_a_label_that_the_map_lacks_is_named_with_those_it_has(mmds) -> None:
    path = mmds(mmds_row(), mmds_row(1, **{"step 4_choiceB_value": "Self"}))
    parts = ["MMDs.json", "row 2", "step 4", "'Self'", *VALUES]
    refused(OptionError, lambda: read_mmds(path, VALUES), *parts)


@pytest.mark.parametrize(
    "key",
    ["situation", "dilemma", "choiceA", "choiceA_value", "choiceB", "choiceB_value"],
)
def test_a_missing_or_blank_key_is_named_with_its_row(mmds, key: str) -> None:
    name = f"step 5_{key}"
    lacking = {k: v for k, v in mmds_row().items() if k != name}
    for row in (lacking, mmds_row(**{name: " "}), mmds_row(**{name: None})):
        path = mmds(mmds_row(3), row)
        refused(DataError, lambda p=path: read_mmds(p, VALUES), "MMDs.json", "row 2", name)


@pytest.mark.parametrize("row", ["text", 3, None, ["x"]])
def test_an_mmds_row_is_an_object(mmds, row: Any) -> None:
    path = mmds(mmds_row(), row)
    refused(DataError, lambda: read_mmds(path, VALUES), "MMDs.json", "row 2", "object")


def test_a_chain_number_given_twice_is_refused(mmds) -> None:
    path = mmds(mmds_row(7), mmds_row(7))
    refused(DataError, lambda: read_mmds(path, VALUES), "MMDs.json", "row 2", "idx")


@pytest.mark.parametrize("content", ["", "[]", "  \n"])
def test_an_mmds_file_without_chains_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "MMDs.json"
    path.write_text(content, encoding="utf-8")
    refused(DataError, lambda: read_mmds(path, VALUES), "MMDs.json")


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "MMDs.json"
    path.write_text('{"norm": \n{"norm"', encoding="utf-8")
    refused(DataError, lambda: read_mmds(path, VALUES), "MMDs.json", "JSON")


# --- value maps -----------------------------------------------------------------------------


@pytest.fixture
def map_file(tmp_path: Path) -> Callable[[Any], Path]:
    """Write a value map, given as an object or as text."""

    def write(value: Any) -> Path:
        path = tmp_path / "map.json"
        text = value if isinstance(value, str) else json.dumps(value)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_value_map_is_read_for_labels_of_any_case(map_file, mmds) -> None:
    path = map_file({"Care/Harm": {"rights_harm": 2}, "FAIRNESS/Cheating": {"welfare": -1}})
    found = read_value_map(path)
    (chain,) = read_mmds(mmds(mmds_row()), found)
    care, fairness = chain.steps[0].options
    # a tier on which the map gives a value no level is known not to be engaged
    nothing = dict.fromkeys(("rights_harm", "honesty_fairness", "welfare", "convention"), 0)
    assert care.tiers == nothing | {"rights_harm": 2}
    assert fairness.tiers == nothing | {"welfare": -1}


def test_chains_and_map_are_loaded_together_and_traced_in_the_log(map_file, mmds) -> None:
    path = mmds(mmds_row(1), mmds_row(2))
    loaded = load_chains(str(path), str(map_file(VALUES)))
    assert len(loaded.chains) == 2
    assert loaded.provenance["file"] == "MMDs.json"
    assert loaded.provenance["chains_in_file"] == 2
    before = loaded.provenance["value_map"]
    after = load_chains(str(path), str(map_file(VALUES | {"x": {}}))).provenance["value_map"]
    assert before
    assert after != before, "another map leaves no mark in the log"


@pytest.mark.parametrize("value", ["", "{", "Care/Harm: 1"])
def test_a_map_that_is_no_json_is_refused(map_file, value: str) -> None:
    refused(DataError, lambda: read_value_map(map_file(value)), "map.json", "JSON")


@pytest.mark.parametrize("value", [[], {}, ["Care/Harm"], "null", "3"])
def test_a_map_is_an_object_with_entries(map_file, value: Any) -> None:
    refused(DataError, lambda: read_value_map(map_file(value)), "map.json", "object")


@pytest.mark.parametrize(
    "levels",
    [
        1,
        "rights_harm",
        ["rights_harm"],
        {"wellfare": 1},
        {"rights_harm": "1"},
        {"rights_harm": True},
        {"rights_harm": math.nan},
        {"rights_harm": math.inf},
    ],
    ids=repr,
)
def test_a_wrong_entry_names_its_label_and_the_tiers(map_file, levels: Any) -> None:
    path = map_file({"Care/Harm": {"welfare": 1}, "Purity": levels})
    refused(DataError, lambda: read_value_map(path), "map.json, row Purity, field")


def test_a_map_for_another_order_uses_its_tiers(map_file) -> None:
    path = map_file({"Care/Harm": {"kindness": 1}})
    assert read_value_map(path, ("kindness",))["care/harm"] == {"kindness": 1}
    refused(DataError, lambda: read_value_map(path, ("thrift",)), "row Care/Harm", "'thrift'")


def test_a_map_file_that_is_not_there_names_the_parameter(mmds) -> None:
    path = mmds(mmds_row())
    refused(OptionError, lambda: load_chains(str(path), "nowhere.json"), "value_map=nowhere.json")


# --- MoralChoice ----------------------------------------------------------------------------

LABELS = [label for labels in MORALCHOICE_TIERS.values() for label in labels]


def moralchoice_row(scenario: str = "H_001", **changes: str) -> dict[str, str]:
    row = {
        "scenario_id": scenario,
        "ambiguity": "high",
        "generation_type": "generated",
        "generation_rule": "do not deceive",
        "context": "You find a purse in a train.",
        "action1": "I take it to the lost-property office.",
        "action2": "I keep it.",
    }
    row |= {f"a{a}_{label}": "No" for a in (1, 2) for label in LABELS}
    return row | changes


@pytest.fixture
def moralchoice(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: dict[str, str]) -> Path:
        path = tmp_path / "moralchoice.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


def test_the_map_has_the_ten_labels_of_the_definition() -> None:
    assert MORALCHOICE_TIERS == {
        "rights_harm": ("death", "pain", "disable", "freedom"),
        "honesty_fairness": ("deceive", "cheat", "break_promise"),
        "welfare": ("pleasure",),
        "convention": ("break_law", "duty"),
    }


def test_a_scenario_is_a_step_of_two_actions(moralchoice) -> None:
    (chain,) = read_moralchoice(moralchoice(moralchoice_row()))
    (only,) = chain.steps
    assert only.step_id == "H_001"
    assert only.situation == "You find a purse in a train."
    assert [o.option_id for o in only.options] == ["action1", "action2"]
    assert only.options[1].text == "I keep it."
    assert only.options[0].tiers == dict.fromkeys(TIERS, 0)


def test_violations_are_counted_tier_by_tier_with_a_minus(moralchoice) -> None:
    yes = [
        "a1_death", "a1_pain", "a1_freedom", "a1_deceive", "a2_cheat", "a2_break_promise",
        "a2_pleasure", "a2_duty", "a2_break_law",
    ]  # fmt: skip
    row = moralchoice_row(**dict.fromkeys(yes, "Yes"))
    (chain,) = read_moralchoice(moralchoice(row))
    first, second = chain.steps[0].options
    assert first.tiers == {
        "rights_harm": -3, "honesty_fairness": -1, "welfare": 0, "convention": 0,
    }  # fmt: skip
    assert second.tiers == {
        "rights_harm": 0, "honesty_fairness": -2, "welfare": -1, "convention": -2,
    }  # fmt: skip


def test_no_agreement_leaves_its_tier_unknown_and_no_other(moralchoice) -> None:
    row = moralchoice_row(a2_death="Yes", a2_pain="No Agreement", a2_cheat="Yes")
    (chain,) = read_moralchoice(moralchoice(row))
    first, second = chain.steps[0].options
    assert first.tiers["rights_harm"] == 0
    assert second.tiers == {
        "rights_harm": None, "honesty_fairness": -1, "welfare": 0, "convention": 0,
    }  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
def test_each_label_counts_in_exactly_one_tier(moralchoice, label: str) -> None:
    (chain,) = read_moralchoice(moralchoice(moralchoice_row(**{f"a1_{label}": " yes "})))
    (tier,) = [t for t, labels in MORALCHOICE_TIERS.items() if label in labels]
    assert chain.steps[0].options[0].tiers == dict.fromkeys(TIERS, 0) | {tier: -1}
    assert chain.steps[0].options[1].tiers == dict.fromkeys(TIERS, 0)


def test_scenarios_of_one_ambiguity_and_rule_are_a_pseudo_chain(moralchoice) -> None:
    rows = [
        moralchoice_row("H_1"),
        moralchoice_row("L_1", ambiguity="low"),
        moralchoice_row("H_2", generation_rule="do not kill"),
        moralchoice_row("H_3"),
        moralchoice_row("L_2", ambiguity="low"),
    ]
    chains = read_moralchoice(moralchoice(*rows))
    assert [[s.step_id for s in c.steps] for c in chains] == [
        ["H_1", "H_3"],
        ["L_1", "L_2"],
        ["H_2"],
    ]
    assert len({c.chain_id for c in chains}) == 3
    for part, chain in zip(["high", "low", "do not kill"], chains, strict=True):
        assert part in chain.chain_id


@pytest.mark.parametrize("value", ["Maybe", "1", "Yes/No", "True"])
def test_a_value_that_is_not_allowed_names_row_and_column(moralchoice, value: str) -> None:
    path = moralchoice(moralchoice_row(), moralchoice_row("H_2", a2_disable=value))
    parts = ["moralchoice.csv", "row 2", "a2_disable", repr(value), "Yes, No, No Agreement"]
    refused(DataError, lambda: read_moralchoice(path), *parts)


@pytest.mark.parametrize("column", ["scenario_id", "context", "action1", "action2", "a1_pleasure"])
def test_a_missing_or_empty_column_is_named(moralchoice, column: str) -> None:
    path = moralchoice(moralchoice_row(), moralchoice_row("H_2", **{column: " "}))
    refused(DataError, lambda: read_moralchoice(path), "moralchoice.csv", "row 2", column)
    lacking = {k: v for k, v in moralchoice_row().items() if k != column}
    refused(
        DataError, lambda: read_moralchoice(moralchoice(lacking)), f"column {column} is missing"
    )


def test_a_scenario_id_given_twice_is_refused(moralchoice) -> None:
    path = moralchoice(moralchoice_row("H_1"), moralchoice_row("H_1", context="You find a coat."))
    refused(DataError, lambda: read_moralchoice(path), "moralchoice.csv", "row 2", "scenario_id")


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "moralchoice.csv"
    path.write_text(",".join(moralchoice_row()) + "\n", encoding="utf-8")
    refused(DataError, lambda: read_moralchoice(path), "moralchoice.csv", "no rows")


# --- choice of the reader -------------------------------------------------------------------


def test_the_ending_of_the_name_chooses_the_reader(moralchoice, tmp_path: Path) -> None:
    loaded = load_chains(str(moralchoice(moralchoice_row())), "none")
    assert loaded.chains[0].steps[0].step_id == "H_001"
    assert load_chains("sample", "none").chains
    other = tmp_path / "chains.txt"
    other.write_text("x", encoding="utf-8")
    refused(OptionError, lambda: load_chains(str(other), "none"), ".jsonl", ".json", ".csv")
