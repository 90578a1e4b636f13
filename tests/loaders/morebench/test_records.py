"""Labels and names of the records (cases F64, F65)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from moral_evals.loaders.morebench.records import (
    DIMENSIONS,
    NEUTRAL,
    THEORIES,
    Criterion,
    Scenario,
    ScenarioMetadata,
    dimension_key,
    slug,
    source_group,
    theory_name,
)


@pytest.mark.parametrize(
    ("source", "group"),
    [
        ("daily_dilemmas", "daily_dilemmas"),
        ("ai_risk_dilemmas", "ai_risk"),
        ("ai_risk_x", "ai_risk"),
        ("ai_risk", "ai_risk"),
        ("expert_case", "expert"),
        ("expert_written_ethic_bowl", "expert"),
        ("expert_written_ethic_unwrapped", "expert"),
        ("expert_written_collab", "expert"),
        ("expert", "expert"),
        # unknown ones stay what they are, above all those that only begin alike
        ("single", "single"),
        ("expertise", "expertise"),
        ("ai_risky_things", "ai_risky_things"),
        ("dailymail", "dailymail"),
        ("ai_dilemmas", "ai_dilemmas"),
        ("", ""),
    ],
)
def test_source_groups(source: str, group: str):
    assert source_group(source) == group


@given(st.text(max_size=20))
def test_every_source_has_one_group_that_is_stable(source: str):
    group = source_group(source)
    assert group in ("daily_dilemmas", "ai_risk", "expert", source)
    assert source_group(group) == group


@pytest.mark.parametrize("name", [*THEORIES, NEUTRAL])
@pytest.mark.parametrize(
    "vary",
    [str, str.lower, str.upper, lambda n: f"  {n}\n", lambda n: n.replace(" ", "  "), slug,
     lambda n: n.replace(" ", "_")],
    ids=["exact", "lower", "upper", "blanks around", "blanks within", "slug", "underscores"],
)  # fmt: skip
def test_theory_names_whatever_case_blanks_and_joints(name: str, vary):
    assert theory_name(vary(name)) == name


def test_the_dataset_cards_misspelling_is_known():
    assert theory_name("Gautheierian Contractarianism") == "Gauthierian Contractarianism"


@pytest.mark.parametrize(
    "text", ["", " ", "Kantian", "Utilitarianism", "None", "all", "Kant Deontology"]
)
def test_any_other_name_is_none(text: str):
    assert theory_name(text) is None


def test_dimension_keys_are_distinct_words():
    keys = [dimension_key(d) for d in DIMENSIONS]
    assert keys[1] == "dim_clear_process"
    assert len(set(keys)) == len(DIMENSIONS)
    assert all(key.isidentifier() for key in keys)


def test_a_scenarios_metadata_is_plain_json_and_reads_back():
    criteria = [Criterion(id="c", text="t", weight=-3, dimension="other")]
    scenario = Scenario(id="s", dilemma="d", source="ai_risk_dilemmas", criteria=criteria)
    metadata = json.loads(json.dumps(scenario.metadata()))
    assert metadata["source_group"] == "ai_risk"
    assert ScenarioMetadata.model_validate(metadata).criteria == criteria
    assert "dilemma" not in metadata


def test_records_cannot_be_changed():
    criterion = Criterion(id="c", text="t", weight=1, dimension="other")
    with pytest.raises(ValidationError):
        criterion.weight = -1
