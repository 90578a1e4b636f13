"""Replies labelled by hand: no wrong pick, and at most 3% lost of those that are clear to a person."""

import pytest

from benchmarks.reading_errors import reading_errors


@pytest.mark.parametrize(("kind", "least"), [("corda", 250), ("judge", 150)])
def test_no_wrong_pick_and_few_lost(kind: str, least: int):
    errors = reading_errors(kind)
    assert errors.replies >= least
    assert errors.wrong == []
    assert errors.lost_share <= 0.03
