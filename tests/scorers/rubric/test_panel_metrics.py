"""Agreement within a panel, against figures worked out by hand."""

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score
from pytest_inspect_evals.metrics import run_metrics

from moral_evals.scorers.rubric.panel_metrics import PanelFigures, panel_alpha, panel_figures
from moral_evals.scorers.rubric_judge import morebench_score
from moral_evals.scorers.stats.bootstrap import Interval

WORDS = {"y": "yes", "n": "no", "u": "ungraded"}


def score(judges: str, *criteria: str) -> Score:
    """One judged text: a letter of `judges` for each ballot, a word for each criterion."""
    votes = {f"c{i}": [WORDS[v] for v in cast] for i, cast in enumerate(criteria)}
    facts = [{"model": judge} for judge in judges]
    return Score(value={"score": 1.0}, metadata={"judges": facts, "votes": votes})


def figures(*scores: Score, ids: str = "") -> dict[str, float]:
    names = ids or [f"s{i}" for i in range(len(scores))]
    samples = [SampleScore(score=s, sample_id=i) for s, i in zip(scores, names, strict=True)]
    return flat(panel_figures(samples))


def flat(found: PanelFigures) -> dict[str, float]:
    """Figures and the ends of their intervals under names of their own."""
    out: dict[str, float] = {}
    for name, figure in found.items():
        out |= figure.named(name) if isinstance(figure, Interval) else {name: figure}
    return out


def alpha(criteria: list[str]) -> float:
    """Krippendorff's nominal alpha from the matrix of coincidences (his 2011 paper, part B)."""
    coincidences = dict.fromkeys(["yy", "yn", "ny", "nn"], 0.0)
    for cast in criteria:
        ratings = [v for v in cast if v != "u"]
        for pair in permutations(ratings, 2):
            coincidences["".join(pair)] += 1 / (len(ratings) - 1)
    yes = coincidences["yy"] + coincidences["yn"]
    no = coincidences["nn"] + coincidences["ny"]
    if not yes or not no:
        return 1.0 if yes or no else math.nan
    return 1 - (yes + no - 1) * (coincidences["yn"] + coincidences["ny"]) / (2 * yes * no)


# Judges A, B, C. Coincidences: yy 6, nn 4, yn 2, ny 2, so 8 yes and 6 no; the last has one rating.
CRITERIA = ["yyy", "yny", "nnn", "nyn", "yyu", "yuu"]
ALPHA = 1 - 13 * 4 / (2 * 8 * 6)


def test_three_judges_by_hand():
    found = figures(score("ABC", *CRITERIA[:3]), score("ABC", *CRITERIA[3:]))
    assert alpha(CRITERIA) == pytest.approx(ALPHA)
    assert found["alpha"] == pytest.approx(ALPHA)
    # A and B decide 5 criteria both and agree on 3; each says yes to 3: (.6 - .52) / (1 - .52)
    assert found["kappa.A|B"] == pytest.approx(1 / 6)
    assert found["kappa.A|C"] == pytest.approx(1)
    assert found["kappa.B|C"] == pytest.approx(0)  # 2 of 4, as by chance
    assert found["no_majority_share"] == pytest.approx(1 / 6)
    assert found["votes_missing_share"] == pytest.approx(3 / 18)
    assert not [key for key in found if "flip_rate" in key]


def test_a_judge_asked_several_times_by_hand():
    # A's pairs of votes that differ: 2 of 3, 0 of 3, 1 of 1; B was asked thrice, C once
    found = figures(score("AAABBBC", "yynyyyy", "yyynnnn", "ynuynny"))
    assert found["flip_rate.A"] == pytest.approx(3 / 7)
    assert found["flip_rate.B"] == pytest.approx(2 / 9)
    assert "flip_rate.C" not in found
    # opinions: yyy, ynn, and of the third A has none
    assert found["alpha"] == pytest.approx(alpha(["yyy", "ynn", "uny"]))
    assert found["kappa.B|C"] == pytest.approx(2 / 5)  # (2/3 - 4/9) / (1 - 4/9)
    assert found["no_majority_share"] == pytest.approx(1 / 3)
    assert found["votes_missing_share"] == pytest.approx(1 / 21)
    assert figures(score("AAAB", "nnny"))["no_majority_share"] == 1, "A has one voice, not three"


def test_one_judge_asked_several_times_has_a_flip_rate_and_no_partner():
    found = figures(score("AA", "yn", "yy", "nn", "yu"))
    assert found["flip_rate.A"] == pytest.approx(1 / 3)
    assert found["no_majority_share"] == pytest.approx(1 / 2)
    assert not [key for key in found if key.startswith(("alpha", "kappa"))]


def test_one_judge_asked_once_has_no_figures():
    single = Score(value={"score": 1.0}, metadata={"judges": [{"model": "A"}], "verdicts": {}})
    assert figures(single) == {}
    assert panel_alpha([SampleScore(score=single, sample_id="s")]) is None
    assert figures() == {}
    assert figures(Score(value={"score": math.nan})) == {}


def test_an_unscored_sample_takes_nothing_away():
    scored = score("ABC", *CRITERIA)
    assert figures(scored, Score(value={"score": math.nan}, metadata={})) == pytest.approx(
        figures(scored), nan_ok=True
    )


def test_intervals_hold_their_figure_and_rest_on_scenarios():
    parts = [score("AAB", "yyy", "nny", "ynn"), score("AAB", "yny", "nnn", "yyn"),
             score("AAB", "nnn", "yyy", "yyy"), score("AAB", "nyy", "nnn", "yyy")]  # fmt: skip
    five = figures(*parts, score("AAB", "yny", "yyy", "nny"))
    for key in ("kappa.A|B", "flip_rate.A"):
        assert five[f"{key}_lower"] < five[key] < five[f"{key}_upper"]
    apart = figures(*parts)
    more = [*parts, score("AAB", "yny", "yyy"), score("AAB", "nnn", "nyn"), score("AAB", "yyy")]
    assert figures(*reversed(more), ids="tuvwxyz"[::-1]) == figures(*more, ids="tuvwxyz")
    # two epochs of two scenarios: the same figures, on half as many units
    epochs = figures(*parts, ids="xyxy")
    joined = figures(score("AAB", "yyy", "nny", "ynn", "nnn", "yyy", "yyy"),
                     score("AAB", "yny", "nnn", "yyn", "nyy", "nnn", "yyy"))  # fmt: skip
    assert epochs == pytest.approx(joined, nan_ok=True)
    assert epochs["kappa.A|B"] == pytest.approx(apart["kappa.A|B"])
    assert math.isnan(epochs["kappa.A|B_lower"]), "two scenarios have no interval"
    alone = figures(*parts, ids="xxxx")
    assert alone["flip_rate.A"] == pytest.approx(apart["flip_rate.A"])
    assert math.isnan(alone["flip_rate.A_lower"]), "four epochs are not four scenarios"


def test_epochs_reach_the_metric_unreduced():
    first, second = score("AB", "yy", "nn"), score("AB", "yn", "ny")
    first.value, second.value = {"score": 1.0, "length": 1.0}, {"score": 1.0, "length": 1.0}
    found = run_metrics([morebench_score()], [[first, second]], metadata=[{}])
    assert found["alpha"] == pytest.approx(alpha(["yy", "nn", "yn", "ny"]))


CAST = st.lists(st.text("ynu", min_size=3, max_size=3), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.lists(CAST, min_size=1, max_size=4))
def test_alpha_is_that_of_the_coincidences(parts):
    found = figures(*(score("ABC", *criteria) for criteria in parts))
    criteria = [cast for part in parts for cast in part]
    assert found["alpha"] == pytest.approx(alpha(criteria), nan_ok=True)


@settings(deadline=None)
@given(st.lists(CAST, min_size=1, max_size=3), st.permutations([0, 1, 2]))
def test_seats_and_order_of_samples_change_nothing(parts, seats):
    names = "".join("ABC"[i] for i in seats)
    moved = [score(names, *("".join(c[i] for i in seats) for c in part)) for part in parts]
    ids = "pqr"[: len(parts)]
    here = figures(*(score("ABC", *part) for part in parts), ids=ids)
    there = figures(*reversed(moved), ids=ids[::-1])
    for key in ("alpha", "no_majority_share", "votes_missing_share"):
        assert there[key] == pytest.approx(here[key], nan_ok=True)
    for a, b in ("AB", "AC", "BC"):
        found = there.get(f"kappa.{a}|{b}", there.get(f"kappa.{b}|{a}"))
        assert found == pytest.approx(here[f"kappa.{a}|{b}"], nan_ok=True)
