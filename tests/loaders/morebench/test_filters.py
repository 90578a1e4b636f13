"""Choosing data and rows: refusals list what is allowed, order stays (cases D47, F52 to F57, F64, F65)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from moral_evals.inspect_tasks.morebench import morebench, morebench_theory
from moral_evals.loaders.errors import DataError, OptionError, SuiteError
from moral_evals.loaders.morebench.data import (
    MOREBENCH,
    MOREBENCH_THEORY,
    Filters,
    Loaded,
    Variant,
    load,
)
from moral_evals.loaders.morebench.records import NEUTRAL, THEORIES
from moral_evals.loaders.options import flag, one_of, refuse_unknown, text, texts, whole

SOURCES = [
    "ai_risk_dilemmas",
    "daily_dilemmas",
    "expert_written_ethic_bowl",
    "single",
    "expert_written_collab",
    "daily_dilemmas",
]


def dilemma(number: int, **labels: str) -> dict[str, Any]:
    return {
        "schema_version": "dilemma-1",
        "id": f"d{number}",
        "dilemma": f"Dilemma {number}",
        "criteria": [{"text": "Names it.", "weight": 3, "dimension": "other"}] * number,
        "role": ["ai_advisor", "ai_agent"][number % 2],
        "source": SOURCES[number - 1],
        "type": ["long_case", "short_case"][number > 3],
        "context": ["Science & Techonology", "Law", ""][number % 3],
        **labels,
    }


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A file of six dilemmas d1 to d6 with one to six criteria."""
    return write(tmp_path / "own.jsonl", [dilemma(n) for n in range(1, 7)])


@pytest.fixture
def themed(tmp_path: Path) -> str:
    """A file of one dilemma under each theory, and one neutral."""
    names = (*THEORIES, NEUTRAL)
    rows = [dilemma(n, theory=name) for n, name in enumerate(names, 1)]
    return write(tmp_path / "themed.jsonl", rows)


def ids(loaded: Loaded) -> list[str]:
    return [s.id for s in loaded.scenarios]


def kept(data: str, variant: Variant = MOREBENCH, **filters: Any) -> list[str]:
    return ids(load(variant, data, filters=Filters(**filters)))


def refusal(kind: type[SuiteError], call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- filters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "d1 d2 d3 d4 d5 d6"),
        ({"role": "ai_agent"}, "d1 d3 d5"),
        ({"role": ["ai_agent", "ai_advisor"]}, "d1 d2 d3 d4 d5 d6"),
        ({"role": ("ai_advisor",)}, "d2 d4 d6"),
        ({"type": "short_case"}, "d4 d5 d6"),
        ({"context": "Law"}, "d1 d4"),
        ({"context": "Science & Techonology"}, "d3 d6"),
        ({"context": "science &  techonology"}, "d3 d6"),
        ({"role": "AI_Agent "}, "d1 d3 d5"),
        ({"role": "ai_agent", "type": "short_case"}, "d5"),
        # a source or a group of sources
        ({"source": "ai_risk"}, "d1"),
        ({"source": "ai_risk_dilemmas"}, "d1"),
        ({"source": "daily_dilemmas"}, "d2 d6"),
        ({"source": "expert"}, "d3 d5"),
        ({"source": "expert_written_collab"}, "d5"),
        ({"source": "single"}, "d4"),
        ({"source": ["single", "expert"]}, "d3 d4 d5"),
        ({"source": ["expert", "ai_risk", "daily_dilemmas", "single"]}, "d1 d2 d3 d4 d5 d6"),
    ],
)
def test_filters_keep_matching_rows_in_file_order(own: str, filters, expected: str):
    assert kept(own, **filters) == expected.split()


@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        ({"role": "moral_advisor"}, ["ai_advisor", "ai_agent"]),
        ({"source": "expert_written"}, ["ai_risk", "daily_dilemmas", "expert", "single"]),
        ({"type": "short"}, ["long_case", "short_case"]),
        ({"context": "Science & Technology"}, ["Law", "Science & Techonology"]),
        ({"theory": "Kantian Deontology"}, [NEUTRAL]),
        ({"role": ["ai_agent", "agent"]}, ["ai_advisor", "ai_agent"]),
    ],
)
def test_an_unknown_label_is_refused_with_the_labels_present(own: str, filters, allowed):
    message = refusal(OptionError, kept, own, **filters)
    assert next(iter(filters)) in message
    assert all(repr(label) in message for label in allowed)
    assert "''" not in message.split("allowed")[1]


@pytest.mark.parametrize("name", ["role", "source", "type", "context", "theory"])
@pytest.mark.parametrize(
    "value", [True, False, 3, 1.5, "", "  ", [], {}, [None], ["ai_agent", None], [True]], ids=repr
)
def test_a_filter_of_the_wrong_type_is_refused_and_never_means_all(own: str, name: str, value):
    assert f"-T {name}" in refusal(OptionError, kept, own, **{name: value})


def test_filters_that_no_row_passes_together_are_refused(own: str):
    message = refusal(OptionError, kept, own, source="ai_risk", context="Science & Techonology")
    assert "ai_risk" in message
    assert "Techonology" in message


@pytest.mark.parametrize("name", THEORIES)
@pytest.mark.parametrize(
    "spell", [str, str.lower, lambda n: f" {n} "], ids=["exact", "lower", "blanks"]
)
def test_a_theory_is_kept_by_any_spelling_of_its_name(themed: str, name: str, spell):
    found = load(MOREBENCH_THEORY, themed, filters=Filters(theory=spell(name)))
    assert [s.theory for s in found.scenarios] == [name]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["Kantian Deontology", "Act Utilitarianism"], "d1 d2"),
        (["Act Utilitarianism"], "d1"),
        (list(THEORIES), "d1 d2 d3 d4 d5"),
    ],
)
def test_theories_may_be_one_or_a_list(themed: str, value: list[str], expected: str):
    assert kept(themed, MOREBENCH_THEORY, theory=value) == expected.split()


@pytest.mark.parametrize("name", ["Kantian", "neutral", "every", "None"])
def test_an_unknown_theory_is_refused_with_the_five(themed: str, name: str):
    message = refusal(OptionError, kept, themed, MOREBENCH_THEORY, theory=name)
    assert all(t in message for t in THEORIES)


def test_each_variant_takes_its_own_rows_only(themed: str):
    assert kept(themed) == ["d6"]
    assert kept(themed, MOREBENCH_THEORY) == ["d1", "d2", "d3", "d4", "d5"]


def test_a_file_without_rows_of_the_variant_is_refused(own: str):
    message = refusal(DataError, load, MOREBENCH_THEORY, own)
    assert "own.jsonl" in message
    assert all(t in message for t in THEORIES)


def test_groups_of_the_real_rows_add_up_to_all(real_rows: Path):
    data = str(real_rows / "public_rows.csv")
    groups = {g: kept(data, source=g) for g in ("daily_dilemmas", "ai_risk", "expert")}
    assert {g: len(rows) for g, rows in groups.items()} == {
        "daily_dilemmas": 3,
        "ai_risk": 3,
        "expert": 2,
    }
    assert sorted(i for rows in groups.values() for i in rows) == sorted(kept(data))


def test_a_filtered_real_file_needs_no_full_counts(real_rows: Path):
    loaded = load(
        MOREBENCH, str(real_rows / "public_rows.csv"), filters=Filters(type="expert_case")
    )
    assert len(loaded.scenarios) == 2


# --- the data parameter ------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [MOREBENCH, MOREBENCH_THEORY], ids=lambda v: v.name)
def test_the_bundled_sample_loads_in_file_order(variant: Variant):
    loaded = load(variant, "sample")
    dataset = loaded.dataset()
    assert [s.id for s in dataset] == ids(loaded)
    assert dataset.shuffled is False
    assert {s.theory for s in loaded.scenarios} <= set(variant.theories)
    assert loaded.provenance["data"] == "sample"


def test_samples_carry_the_dilemma_as_input_and_plain_json_as_metadata(own: str):
    loaded = load(MOREBENCH, own)
    for scenario, sample in zip(loaded.scenarios, loaded.dataset(), strict=True):
        assert sample.id == scenario.id
        assert sample.input == scenario.dilemma
        assert json.loads(json.dumps(sample.metadata)) == sample.metadata
        assert len(sample.metadata["criteria"]) == len(scenario.criteria)


def test_provenance_says_what_was_read_and_kept(own: str):
    found = load(MOREBENCH, own, filters=Filters(type="short_case")).provenance
    assert found["data"] == "file"
    assert found["file"] == "own.jsonl"
    assert found["commit"] == ""
    assert (found["scenarios_in_file"], found["scenarios"], found["criteria"]) == (6, 3, 15)
    assert len(found["sha256"]) == 64
    assert json.dumps(found)


@pytest.mark.parametrize("value", [None, True, False, 7, "", " ", ["sample"]], ids=repr)
def test_data_must_be_text(value: Any):
    assert "-T data" in refusal(OptionError, load, MOREBENCH, value)


@pytest.mark.parametrize("value", ["Hub", "samples", "no/such/file.csv"])
def test_a_file_that_is_not_there_is_refused_with_what_is_allowed(value: str):
    message = refusal(OptionError, load, MOREBENCH, value)
    assert value in message
    assert "hub" in message
    assert "sample" in message


def test_another_kind_of_file_is_refused_with_the_two_kinds(tmp_path: Path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1")
    message = refusal(OptionError, load, MOREBENCH, str(path))
    assert ".csv" in message
    assert ".jsonl" in message


@pytest.mark.parametrize(("name", "content"), [("a.csv", "DILEMMA,RUBRIC\n"), ("a.jsonl", "\n")])
def test_a_file_without_rows_is_refused(tmp_path: Path, name: str, content: str):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert name in refusal(DataError, load, MOREBENCH, str(path))


def test_a_path_is_found_from_the_shells_folder_too(own: str, tmp_path: Path, monkeypatch):
    """Inspect works inside the task file's folder; PWD still names the shell's."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PWD", os.path.dirname(own))
    assert len(load(MOREBENCH, "own.jsonl").scenarios) == 6


# --- revision ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [42798, 0, 1e5, True, False, "", ["main"]], ids=repr)
def test_a_revision_that_yaml_made_a_number_is_refused_and_says_how_to_quote(value: Any):
    message = refusal(OptionError, load, MOREBENCH, "hub", value)
    assert "-T revision" in message
    assert "quote" in message


@pytest.mark.parametrize("data", ["sample", "own.jsonl"])
def test_a_revision_without_the_hub_is_refused(data: str):
    assert "data=hub" in refusal(OptionError, load, MOREBENCH, data, "0123abc")


# --- the runner's options ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("limit", "--limit"),
        ("epochs", "--epochs"),
        ("model", "--model"),
        ("seed", "--sample-shuffle"),
        ("shuffle", "--sample-shuffle"),
        ("grader", "--model-role grader="),
        ("judge", "--model-role grader="),
        ("temperature", "--temperature"),
        ("max_tokens", "--max-tokens"),
    ],
)
def test_a_runners_option_is_refused_with_a_hint(name: str, hint: str):
    message = refusal(OptionError, refuse_unknown, {name: 5}, ["data", "role"])
    assert f"-T {name}" in message
    assert hint in message
    assert "data, role" in message


def test_an_unknown_name_is_refused_with_the_allowed_ones():
    message = refusal(OptionError, refuse_unknown, {"roles": "x"}, ["data", "role"])
    assert "data, role" in message
    assert "--" not in message


def test_no_unknown_name_is_no_refusal():
    refuse_unknown({}, ["data"])


@pytest.mark.parametrize("task", [morebench, morebench_theory])
@pytest.mark.parametrize(
    ("name", "hint"), [("limit", "--limit"), ("epochs", "--epochs"), ("typo", "")]
)
def test_the_tasks_refuse_names_that_they_do_not_have(task, name: str, hint: str):
    message = refusal(OptionError, task, data="sample", **{name: 5})
    assert f"-T {name}" in message
    assert hint in message
    assert "judge_attempts" in message


@pytest.mark.parametrize("task", [morebench, morebench_theory])
@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"judged": False}, "'trace', 'last_turn', 'response', 'both'"),
        ({"judged": None}, "'trace', 'last_turn', 'response', 'both'"),
        ({"judged": "thinking"}, "'trace', 'last_turn', 'response', 'both'"),
        ({"protocol": True}, "'suite', 'upstream'"),
        ({"protocol": None}, "'suite', 'upstream'"),
        ({"judge_attempts": True}, "from 1 to 20"),
        ({"judge_attempts": 0}, "from 1 to 20"),
        ({"judge_attempts": "3"}, "from 1 to 20"),
        ({"judge_cache": None}, "true and false"),
        ({"judge_cache": "no"}, "true and false"),
        ({"upstream_path": 3}, "must be text"),
        ({"data": None}, "must be text"),
    ],
    ids=repr,
)
def test_yaml_surprises_are_refused_with_what_is_allowed(
    task, changes: dict[str, Any], allowed: str
):
    assert allowed in refusal(OptionError, task, **{"data": "sample", **changes})


@pytest.mark.parametrize("name", ["role", "source", "type", "context", "theory", "revision"])
def test_an_explicit_null_is_refused_and_never_means_all(name: str):
    """YAML reads `-T theory=$UNSET` and `-T theory=null` as None; that must not widen the run."""
    assert f"-T {name}" in refusal(OptionError, morebench_theory, data="sample", **{name: None})


# --- the checks themselves ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "args", "values"),
    [
        pytest.param(one_of, (["a", "b"],), ["a", "b"], id="one_of"),
        pytest.param(text, ("x",), ["a", " a "], id="text"),
        pytest.param(flag, (), [True, False], id="flag"),
        pytest.param(whole, (0, 9), [0, 5, 9], id="whole"),
    ],
)
def test_good_values_come_back_as_they_are(check, args, values):
    assert [check("name", v, *args) for v in values] == values


@pytest.mark.parametrize(
    ("check", "args", "values"),
    [
        pytest.param(one_of, (["a", "b"],), ["c", "A", "", None, True, ["a"], 1], id="one_of"),
        pytest.param(text, ("x",), ["", " ", None, False, 12, 1e5, ["a"]], id="text"),
        pytest.param(flag, (), ["true", "no", 0, 1, None], id="flag"),
        pytest.param(whole, (0, 9), [-1, 10, 1.0, "1", True, False, None], id="whole"),
        pytest.param(texts, ("x",), [None, [], [""], ["a", 1], [["a"]], False], id="texts"),
    ],
)
def test_bad_values_are_refused_by_the_parameters_name(check, args, values):
    for value in values:
        assert "-T name" in refusal(OptionError, check, "name", value, *args)


@pytest.mark.parametrize(
    ("value", "listed"), [("a", ["a"]), (["a", "b"], ["a", "b"]), (("a",), ["a"])]
)
def test_one_text_and_a_list_of_texts_are_both_taken(value: Any, listed: list[str]):
    assert texts("name", value, "x") == listed
