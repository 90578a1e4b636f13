"""The chain schema `corda-1` (CORDA section 3.1): what is read, and each rule that refuses a line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from moral_evals.loaders.corda.chains import TIERS, Chain, Option, Step, read_chains
from moral_evals.loaders.errors import DataError

Line = dict[str, Any]
Write = Callable[..., Path]


def option(option_id: str = "o1", text: str = "Tell her.", **more: Any) -> Line:
    return {"option_id": option_id, "text": text, "tiers": {"rights_harm": 1}, **more}


def step(step_id: str = "s1", **more: Any) -> Line:
    options = [option(), option("o2", "Say nothing.", tiers={"rights_harm": 0})]
    return {"step_id": step_id, "situation": "A friend asks.", "options": options, **more}


def line(chain_id: str = "c1", **more: Any) -> Line:
    return {"schema_version": "corda-1", "chain_id": chain_id, "steps": [step()], **more}


def with_options(*options: Any) -> Line:
    return line(steps=[step(options=list(options))])


def with_level(level: Any) -> Line:
    return with_options(option(tiers={"rights_harm": 0, "welfare": level}), option("o2", "No."))


def without(value: Line, key: str) -> Line:
    return {k: v for k, v in value.items() if k != key}


@pytest.fixture
def file(tmp_path: Path) -> Write:
    """Write lines, given as objects or as text, to a chain file."""

    def write(*lines: Line | str) -> Path:
        path = tmp_path / "own.jsonl"
        texts = [x if isinstance(x, str) else json.dumps(x) for x in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


def refusal(path: Path, *parts: str) -> str:
    """The one-line message, which must name the file and hold all parts."""
    with pytest.raises(DataError) as caught:
        read_chains(path)
    message = str(caught.value)
    for part in ("own.jsonl", *parts):
        assert part in message
    assert "\n" not in message
    return message


# --- what is read ---------------------------------------------------------------------------


def test_a_full_line_is_read(file: Write) -> None:
    labels = {"stratum": "medical", "role": "advisor", "context": "You advise a ward."}
    (chain,) = read_chains(file(line(steps=[step(question="What now?")], **labels)))
    assert chain == Chain(
        chain_id="c1",
        steps=(
            Step(
                step_id="s1",
                situation="A friend asks.",
                question="What now?",
                options=(
                    Option(option_id="o1", text="Tell her.", tiers={"rights_harm": 1.0}),
                    Option(option_id="o2", text="Say nothing.", tiers={"rights_harm": 0.0}),
                ),
            ),
        ),
        **labels,
    )


def test_optional_fields_may_be_left_out(file: Write) -> None:
    (chain,) = read_chains(file(line()))
    assert (chain.stratum, chain.role, chain.context, chain.steps[0].question) == ("", "", "", "")


def test_file_order_is_kept_at_every_level(file: Write) -> None:
    options = [option(o, f"Text {o}.") for o in ("z", "a", "m")]
    rows = [line("c2", steps=[step("s9", options=options), step("s1")]), "", line("c1")]
    first, second = read_chains(file(*rows))
    assert (first.chain_id, second.chain_id) == ("c2", "c1")
    assert [s.step_id for s in first.steps] == ["s9", "s1"]
    assert [o.option_id for o in first.steps[0].options] == ["z", "a", "m"]


def test_text_is_kept_to_the_letter(file: Write) -> None:
    text = "  Tell {her} [Q] 100 %\n– «now»\u2028\u200b "
    (chain,) = read_chains(file(with_options(option(text=text), option("o2", "No."))))
    assert chain.steps[0].options[0].text == text


@pytest.mark.parametrize("level", [-2, -1, 0, 1, 2, 0.5, -1.5])
def test_numbers_are_read_as_they_are(file: Write, level: float) -> None:
    (chain,) = read_chains(file(with_level(level)))
    assert chain.steps[0].options[0].tiers["welfare"] == level


def test_null_and_absent_tiers_are_unknown_and_zero_is_not(file: Write) -> None:
    tiers = {"rights_harm": None, "welfare": 0}
    path = file(with_options(option(tiers=tiers), without(option("o2", "No."), "tiers")))
    first, second = read_chains(path)[0].steps[0].options
    assert first.tiers["rights_harm"] is None
    assert "honesty_fairness" not in first.tiers
    assert first.tiers["welfare"] == 0
    assert second.tiers == {}


def test_another_tier_order_allows_its_own_names_only(file: Write) -> None:
    path = file(with_options(option(tiers={"loyalty": 1}), option("o2", "No.", tiers={})))
    (chain,) = read_chains(path, ("loyalty", "welfare"))
    assert chain.steps[0].options[0].tiers == {"loyalty": 1}
    with pytest.raises(DataError, match=r"tiers\.rights_harm: allowed are loyalty, welfare"):
        read_chains(file(line()), ("loyalty", "welfare"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(levels=st.dictionaries(st.sampled_from(TIERS), st.none() | st.floats(-9, 9)))
def test_tier_values_come_back_as_written(file: Write, levels: dict[str, float | None]) -> None:
    (chain,) = read_chains(file(with_options(option(tiers=levels), option("o2", "No."))))
    assert chain.steps[0].options[0].tiers == levels


# --- ids ------------------------------------------------------------------------------------


def test_a_chain_id_given_twice_names_both_rows(file: Write) -> None:
    refusal(file(line("c1"), "", line("c2"), line("c1")), "row 4", "chain_id", "'c1'", "row 1")


def test_a_step_id_given_twice_names_the_chain(file: Write) -> None:
    path = file(line("c1"), line("c2", steps=[step("s1"), step("s2"), step("s1")]))
    refusal(path, "row 2", "chain 'c2'", "step_id", "'s1'")


def test_an_option_id_given_twice_names_chain_and_step(file: Write) -> None:
    double = step("s2", options=[option("o1"), option("o1", "No.")])
    refusal(
        file(line(steps=[step(), double])), "row 1", "chain 'c1'", "step 's2'", "option_id", "'o1'"
    )


@pytest.mark.parametrize("other", ["Tell her.", "tell  HER. ", "Tell\nher."])
def test_two_options_of_the_same_words_cannot_be_told_apart(file: Write, other: str) -> None:
    path = file(with_options(option(), option("o2", other)))
    refusal(path, "row 1", "chain 'c1'", "step 's1'", "text")


def test_steps_of_different_chains_may_share_ids(file: Write) -> None:
    assert len(read_chains(file(line("c1"), line("c2")))) == 2


# --- fields ---------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["schema_version", "chain_id", "steps"])
def test_a_missing_field_of_a_chain(file: Write, field: str) -> None:
    refusal(file(line("c0"), without(line(), field)), "row 2", field, "missing")


@pytest.mark.parametrize("field", ["step_id", "situation", "options"])
def test_a_missing_field_of_a_step(file: Write, field: str) -> None:
    path = file(line(steps=[without(step(), field)]))
    refusal(path, "row 1", "chain 'c1'", field, "missing")


@pytest.mark.parametrize("field", ["option_id", "text"])
def test_a_missing_field_of_an_option(file: Write, field: str) -> None:
    path = file(with_options(option(), without(option("o2", "No."), field)))
    refusal(path, "row 1", "chain 'c1'", "step 's1'", field, "missing")


@pytest.mark.parametrize(
    "broken",
    [without(step(), "step_id"), step(step_id=""), step(stepid="s2"), "Tell her."],
    ids=["missing", "blank", "unknown key", "no object"],
)
def test_a_broken_second_step_is_not_blamed_on_the_first(file: Write, broken: Any) -> None:
    message = refusal(file(line(steps=[step("first-step"), broken])), "row 1", "chain 'c1'")
    assert "first-step" not in message


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (line(stratums="x"), ["stratums", "stratum, role, context"]),
        (line(steps=[step(prompt="x")]), ["chain 'c1'", "prompt", "question"]),
        (
            with_options(option(tier={}), option("o2", "No.")),
            ["step 's1'", "tier", "option_id, text, tiers"],
        ),
    ],
    ids=["chain", "step", "option"],
)
def test_an_unknown_key_lists_the_known_ones(file: Write, row: Line, parts: list[str]) -> None:
    refusal(file(row), "row 1", "not in the schema", *parts)


@pytest.mark.parametrize("version", ["corda-2", "dilemma-1", 1, None])
def test_another_schema_version_names_the_right_one(file: Write, version: Any) -> None:
    refusal(file(line(schema_version=version)), "row 1", "schema_version", "'corda-1'")


BLANK = ["", "  ", "\n", None, 7, True, ["x"], {}]


@pytest.mark.parametrize("value", BLANK)
@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda v: line(chain_id=v), "chain_id"),
        (lambda v: line(steps=[step(step_id=v)]), "step_id"),
        (lambda v: line(steps=[step(situation=v)]), "situation"),
        (lambda v: with_options(option(option_id=v), option("o2", "No.")), "option_id"),
        (lambda v: with_options(option(text=v), option("o2", "No.")), "text"),
    ],
    ids=["chain_id", "step_id", "situation", "option_id", "text"],
)
def test_required_text_must_be_text_that_is_not_blank(
    file: Write, make: Callable[[Any], Line], field: str, value: Any
) -> None:
    refusal(file(make(value)), "row 1", field, "must be text that is not blank")


@pytest.mark.parametrize("value", [None, 7, False, ["x"]])
@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda v: line(stratum=v), "stratum"),
        (lambda v: line(context=v), "context"),
        (lambda v: line(role=v), "role"),
        (lambda v: line(steps=[step(question=v)]), "question"),
    ],
    ids=["stratum", "context", "role", "question"],
)
def test_optional_text_must_be_text(
    file: Write, make: Callable[[Any], Line], field: str, value: Any
) -> None:
    refusal(file(make(value)), "row 1", "chain 'c1'", field, "must be text")


@pytest.mark.parametrize("steps", [[], {}, None, "s1", 3])
def test_a_chain_has_a_step_or_more(file: Write, steps: Any) -> None:
    refusal(file(line(steps=steps)), "row 1", "chain 'c1'", "steps", "at least 1")


@pytest.mark.parametrize("options", [[], [option()], {"o1": "Go.", "o2": "Stay."}, None, "Go."])
def test_a_step_has_two_options_or_more(file: Write, options: Any) -> None:
    path = file(line(steps=[step("s7", options=options)]))
    refusal(path, "row 1", "chain 'c1'", "step 's7'", "options", "at least 2")


@pytest.mark.parametrize("value", ["Go.", 1, None, ["o1"]])
def test_steps_and_options_are_objects(file: Write, value: Any) -> None:
    refusal(file(line(steps=[value])), "row 1", "chain 'c1'", "step", "must be an object")
    refusal(file(with_options(option(), value)), "step 's1'", "option", "must be an object")


# --- tiers ----------------------------------------------------------------------------------


def test_a_tier_outside_the_order_lists_the_tiers(file: Write) -> None:
    path = file(with_options(option(tiers={"wellfare": 1}), option("o2", "No.")))
    refusal(path, "row 1", "chain 'c1'", "step 's1'", "tiers.wellfare", ", ".join(TIERS))


@pytest.mark.parametrize(
    "level",
    [True, False, "1", "", [], [1], {}, {"value": 1}],
    ids=repr,
)
def test_a_tier_value_is_a_finite_number_or_null(file: Write, level: Any) -> None:
    parts = ["row 1", "chain 'c1'", "step 's1'", "tiers.welfare", "finite numbers and null"]
    refusal(file(with_level(level)), *parts)


@pytest.mark.parametrize(
    "digits", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, "1" + "0" * 5000]
)
def test_a_number_that_no_float_holds_is_refused_as_well(file: Write, digits: str) -> None:
    path = file(json.dumps(with_level(12345)).replace("12345", digits))
    refusal(path, "row 1, field steps[1].options[1].tiers.welfare", "not a finite number")


@pytest.mark.parametrize("tiers", [[], [1, 0], "", "welfare", 0, 1, False])
def test_tiers_are_an_object(file: Write, tiers: Any) -> None:
    path = file(with_options(option(tiers=tiers), option("o2", "No.")))
    refusal(path, "row 1", "chain 'c1'", "step 's1'", "tiers", "must be an object")


# --- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [[], ["", "  "]])
def test_a_file_without_chains_is_refused(file: Write, lines: list[str]) -> None:
    refusal(file(*lines), "no chains")


@pytest.mark.parametrize("row", ['{"schema_version": ', "[]", '"c1"', "null"])
def test_a_line_that_is_no_object_names_its_row(file: Write, row: str) -> None:
    refusal(file(line(), "", row), "row 3")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["chain_id", "steps", "step_id", "options", "tiers", "x"]), inner
        )
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    field=st.sampled_from(["schema_version", "chain_id", "steps", "stratum", "context"]),
    value=json_values,
)
@example(field="steps", value=[{"step_id": "s1", "situation": "x", "options": [None, None]}])
def test_any_value_in_any_place_is_read_or_refused_in_one_line(
    file: Write, field: str, value: Any
) -> None:
    path = file(line(**{field: value}))
    try:
        (chain,) = read_chains(path)
    except DataError as error:
        assert "own.jsonl, row 1" in str(error)
        assert "\n" not in str(error)
    else:
        assert chain.steps
        assert all(len(s.options) >= 2 for s in chain.steps)
