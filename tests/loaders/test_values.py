"""Numbers as written, and names that a rule makes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.loaders.values import distinct, number

names = st.lists(st.sampled_from(["c1", "c1-2", "c1-3", "c1-2-2", "x"]), max_size=12)


@given(names)
def test_names_are_distinct_and_the_first_of_each_is_kept(given_names: list[str]) -> None:
    found = distinct(given_names)
    assert len(set(found)) == len(given_names)
    for i, name in enumerate(given_names):
        if name not in given_names[:i]:
            assert found[i] == name


def test_a_made_name_is_none_that_is_there() -> None:
    assert distinct(["c1", "c1", "c1-2"]) == ["c1", "c1-3", "c1-2"]
    assert distinct(["a", "a"], "{name} #{n}", taken=["a #2"]) == ["a", "a #3"]


@pytest.mark.parametrize(("text", "value"), [("3", 3), (" -1.5 ", -1.5), ("1e2", 100), (7, 7)])
def test_plain_numbers_are_read(text: object, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "value",
    ["1_000", "nan", "inf", "1e999", "", "0x10", True, None, [1], 10**400, math.nan, "\u0663"],
    ids=lambda v: repr(v)[:20],
)
def test_all_else_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="number"):
        number(value)
