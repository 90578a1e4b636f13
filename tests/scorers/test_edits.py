"""`edit_score` moves every figure that rests on the score, or is refused; E 41."""

import copy
import math

import pytest
from inspect_ai.log import EvalLog, edit_score
from inspect_ai.scorer import ScoreEdit

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.errors import SuiteError
from tests.cases import one_case
from tests.chain_figures import chain_figures
from tests.mocks import always, first_shown, metrics, mock, run, thinking


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


@pytest.fixture
def rubric_log(tmp_path) -> EvalLog:
    """One reply; weights 3, 2 and -1, of which the judge finds all met: (3 + 2) / 6."""
    reply = thinking("I weigh it.", "Go.")
    return run(morebench(data=one_case(tmp_path, [3, 2, -1])), always(reply), always("yes"))


def edited(log: EvalLog, changes: dict[str, str], **values: float) -> ScoreEdit:
    """The first sample's score with other verdicts and other values."""
    score = copy.deepcopy(log.samples[0].scores["rubric_judge"])
    verdicts = {**score.metadata["verdicts"], **changes}
    return ScoreEdit(
        value={**score.value, **values}, metadata={**score.metadata, "verdicts": verdicts}
    )


def test_verdict_and_value_edited_together_move_every_figure(rubric_log):
    assert metrics(rubric_log)["regular"] == pytest.approx(5 / 6)
    first = next(iter(rubric_log.samples[0].scores["rubric_judge"].metadata["verdicts"]))
    # the criterion of weight 3, the only one of its dimension, is not met after all
    edit = edited(rubric_log, {first: "no"}, score=2 / 6, dim_identifying=0.0)
    edit_score(rubric_log, rubric_log.samples[0].id, "rubric_judge", edit)
    assert metrics(rubric_log)["regular"] == pytest.approx(2 / 6)
    assert metrics(rubric_log)["identifying"] == 0


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({}, {"score": 0.5}),  # a value that no verdict gives
        ({0: "no"}, {}),  # verdicts without the value that they give
        ({0: "no"}, {"score": 2 / 6}),  # the dimension is forgotten
    ],
)
def test_half_an_edit_is_refused_with_what_the_other_half_gives(rubric_log, changes, values):
    ids = list(rubric_log.samples[0].scores["rubric_judge"].metadata["verdicts"])
    edit = edited(rubric_log, {ids[i]: v for i, v in changes.items()}, **values)
    sample = rubric_log.samples[0].id
    with pytest.raises(SuiteError, match="does not follow from the verdicts") as caught:
        edit_score(rubric_log, sample, "rubric_judge", edit)
    assert str(sample) in str(caught.value) and "\n" not in str(caught.value)


def test_a_score_edited_to_nan_leaves_every_figure(rubric_log):
    sample = rubric_log.samples[0]
    nothing = {key: math.nan for key in sample.scores["rubric_judge"].value}
    edit_score(rubric_log, sample.id, "rubric_judge", ScoreEdit(value=nothing))
    found = metrics(rubric_log)
    assert (found["scored"], found["unscored"]) == (0, 1)
    assert math.isnan(found["regular"]) and math.isnan(found["identifying"])


def test_words_can_be_edited_freely(rubric_log):
    edit = ScoreEdit(explanation="Read twice.")
    edit_score(rubric_log, rubric_log.samples[0].id, "rubric_judge", edit)
    assert metrics(rubric_log)["regular"] == pytest.approx(5 / 6)


def chain_edit(log: EvalLog, value: float | None, flip: bool) -> ScoreEdit:
    """An edit of the first rollout: its value, and the option chosen at its first scored step."""
    sample = log.samples[0]
    score = copy.deepcopy(sample.scores["lexicographic"])
    steps = score.metadata["steps"]
    if flip:
        place = next(i for i, s in enumerate(steps) if "u" in s)
        options = sample.metadata["chain"]["steps"][place]["options"]
        other = [o["option_id"] for o in options if o["option_id"] != steps[place]["chosen"]]
        steps[place] |= {"chosen": other[0], "u": 1 - steps[place]["u"]}
    values = score.value if value is None else {**score.value, "score": value}
    return ScoreEdit(value=values, metadata=score.metadata)


@pytest.fixture
def chain_log() -> EvalLog:
    return run(corda(chains=1, shuffles=1, conditions="unconditioned"), mock(first_shown), None)


def test_an_edited_choice_moves_every_figure_of_corda(chain_log):
    before = chain_figures(chain_log)
    (sample,) = chain_log.samples
    steps = sample.scores["lexicographic"].metadata["steps"]
    us = [s["u"] for s in steps if "u" in s]
    after = [1 - us[0], *us[1:]]
    edit = chain_edit(chain_log, sum(after) / len(after), flip=True)
    edit_score(chain_log, sample.id, "lexicographic", edit)
    assert metrics(chain_log, "lexicographic")["uncond_lms"] == pytest.approx(
        sum(after) / len(after)
    )
    assert before["unconditioned.lms"] == pytest.approx(sum(us) / len(us))


@pytest.mark.parametrize(("value", "flip"), [(0.123, False), (None, True)])
def test_half_an_edit_of_a_chain_is_refused(chain_log, value, flip):
    edit = chain_edit(chain_log, value, flip)
    with pytest.raises(SuiteError, match="does not follow from the steps"):
        edit_score(chain_log, chain_log.samples[0].id, "lexicographic", edit)
