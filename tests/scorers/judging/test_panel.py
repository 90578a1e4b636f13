"""From many votes to one verdict: strict majorities, and what a missing vote may do."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.scorers.judging.panel import Ballot, combine, majority

WORDS = {"y": "yes", "n": "no", "u": "ungraded"}
VOTES = st.sampled_from(["yes", "no", "ungraded"])


def words(letters: str) -> list[str]:
    return [WORDS[letter] for letter in letters]


def ballots(votes: dict[str, str], criterion: str = "c") -> list[Ballot]:
    """One ballot for each letter; `f` is a call that failed, `-` a criterion never reached."""
    found = []
    for judge, letters in votes.items():
        for vote, letter in enumerate(letters, 1):
            ballot = Ballot(judge, vote)
            if letter == "f":
                ballot.failures[criterion] = f"{judge} is down"
            elif letter != "-":
                ballot.verdicts[criterion] = WORDS[letter]
            found.append(ballot)
    return found


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ("y", "yes"), ("n", "no"), ("u", "ungraded"),
        ("yy", "yes"), ("nn", "no"), ("yn", "ungraded"), ("yu", "ungraded"), ("nu", "ungraded"),
        ("yyn", "yes"), ("ynn", "no"), ("yyu", "yes"), ("nnu", "no"), ("ynu", "ungraded"),
        ("yuu", "ungraded"), ("nuu", "ungraded"), ("uuu", "ungraded"),
        ("yyyn", "yes"), ("yynn", "ungraded"), ("yynu", "ungraded"), ("yyuu", "ungraded"),
        ("ynnn", "no"), ("nnnu", "no"), ("nnuu", "ungraded"),
        ("yyynn", "yes"), ("yynnn", "no"), ("yyyuu", "yes"), ("nnnuu", "no"),
        ("yynnu", "ungraded"), ("yyuuu", "ungraded"), ("yynuu", "ungraded"),
    ],
)  # fmt: skip
def test_a_verdict_is_what_more_than_half_of_all_votes_say(votes, verdict):
    assert majority(words(votes)) == verdict


@given(st.lists(VOTES, min_size=1, max_size=9), st.data())
def test_a_missing_vote_never_eases_or_turns_a_verdict(votes, data):
    lost = data.draw(st.integers(0, len(votes) - 1))
    without = [*votes[:lost], "ungraded", *votes[lost + 1 :]]
    assert majority(without) in (majority(votes), "ungraded")


@pytest.mark.parametrize(
    ("votes", "verdict", "reason"),
    [
        # each judge first makes up its own mind: 4 of 9 votes say yes, and so do 2 of 3 judges
        ({"a": "yyn", "b": "yyn", "c": "nnn"}, "yes", ""),
        ({"a": "ynn", "b": "ynn", "c": "yyy"}, "no", ""),
        ({"a": "yn", "b": "yy", "c": "nn"}, "ungraded", "tie"),
        ({"a": "yu", "b": "yy", "c": "yy"}, "yes", ""),
        ({"a": "yuu", "b": "yyy"}, "ungraded", "votes_missing"),
        ({"a": "y", "b": "n"}, "ungraded", "tie"),
        ({"a": "yn"}, "ungraded", "tie"),
        ({"a": "yu"}, "ungraded", "votes_missing"),
        ({"a": "y", "b": "n", "c": "u"}, "ungraded", "votes_missing"),
        ({"a": "y", "b": "y", "c": "f"}, "yes", ""),
        ({"a": "y", "b": "f", "c": "f"}, "ungraded", "votes_missing"),
        ({"a": "y", "b": "n", "c": "f"}, "ungraded", "votes_missing"),
        ({"a": "-"}, "ungraded", "ungraded"),
    ],
)
def test_judges_vote_by_the_majority_of_their_own_votes(votes, verdict, reason):
    result = combine(ballots(votes), ["c"])
    assert result.verdicts == {"c": verdict}
    assert result.ungraded == ({"c": reason} if reason else {})
    assert result.failures == {}


def test_a_judge_that_sits_alone_gives_its_own_reason():
    alone = Ballot("a", verdicts={"c": "ungraded"}, ungraded={"c": "judge_refused"})
    assert combine([alone], ["c"]).ungraded == {"c": "judge_refused"}


def test_a_criterion_fails_only_where_every_call_failed():
    a = Ballot("a", failures={"c1": "a down", "c2": "a down"}, verdicts={"c3": "no"})
    b = Ballot("b", failures={"c1": "b down"}, verdicts={"c2": "yes", "c3": "no"})
    result = combine([a, b], ["c1", "c2", "c3"])
    assert result.failures == {"c1": "a down"}
    assert result.verdicts == {"c2": "ungraded", "c3": "no"}
    assert result.ungraded == {"c2": "votes_missing"}
    assert result.votes() == {
        "c1": ["ungraded", "ungraded"],
        "c2": ["ungraded", "yes"],
        "c3": ["no", "no"],
    }


def test_a_judge_with_one_good_vote_of_two_has_not_failed():
    result = combine(ballots({"a": "fy"}), ["c"])
    assert result.failures == {}
    assert result.verdicts == {"c": "ungraded"}


def test_a_judgement_names_its_judges_once_and_adds_up_what_they_used():
    seats = ballots({"a": "yy", "b": "n"})
    for i, ballot in enumerate(seats, 1):
        ballot.usage.update({"calls": i, "input_tokens": 100 * i})
    result = combine(seats, ["c"])
    assert result.judge == "a + b"
    assert result.usage == {"calls": 6, "input_tokens": 600}
    assert result.usage_by_judge() == {
        "a": {"calls": 3, "input_tokens": 300},
        "b": {"calls": 3, "input_tokens": 300},
    }
    assert not result.single
    assert not combine(seats[:2], ["c"]).single, "one judge asked twice is a panel too"
    assert combine(seats[:1], ["c"]).single


def test_a_ballot_says_of_its_judge_what_the_log_must_know():
    plain = Ballot("a", settings={"temperature": 1.0}, usage=Counter(calls=2), retries=1)
    facts = {"model": "a", "settings": {"temperature": 1.0}, "retries": 1, "usage": {"calls": 2}}
    assert plain.seat().metadata() == facts
    more = Ballot("a", 2, asked_alone=3, failures={"c1": "401", "c2": "500"})
    assert more.seat().metadata().items() >= {
        "vote": 2, "asked_alone": 3, "failed": 2, "failure": "401"
    }.items()  # fmt: skip


@given(
    st.lists(st.lists(st.sampled_from("ynuf-"), min_size=4, max_size=4), min_size=1, max_size=7),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_judges_changes_nothing(columns, judges, shuffle):
    seats: list[Ballot] = []
    for i, letters in enumerate(columns):
        ballot = Ballot(f"judge {i % judges}", 1 + i // judges)
        for criterion, letter in zip("abcd", letters, strict=True):
            if letter == "f":
                ballot.failures[criterion] = "down"
            elif letter != "-":
                ballot.verdicts[criterion] = WORDS[letter]
        seats.append(ballot)
    mixed = list(seats)
    shuffle.shuffle(mixed)
    first, second = combine(seats, "abcd"), combine(mixed, "abcd")
    assert first.verdicts == second.verdicts
    assert first.ungraded == second.ungraded
    assert first.failures == second.failures
    assert set(first.verdicts) | set(first.failures) == set("abcd")
    assert set(first.ungraded) == {c for c, v in first.verdicts.items() if v == "ungraded"}
