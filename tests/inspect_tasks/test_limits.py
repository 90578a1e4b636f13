"""A limit of the user's own stands under its own name, in the log and in `show`; E 40."""

import pytest
from inspect_ai.log import EvalLog

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.limits import LIMITS
from moral_evals.reports.__main__ import main
from tests.cases import one_case
from tests.chain_figures import chain_figures
from tests.mocks import USAGE, always, first_shown, metrics, mock, run, thinking

REPLY = thinking("I weigh it.", "Go.")


def cut(tmp_path, limit: str) -> EvalLog:
    """A run whose only sample ends at a limit before there is a reply."""
    task = morebench(data=one_case(tmp_path, [1, -1]))
    return run(task, always(REPLY), always("yes"), **{limit: 1})


@pytest.mark.parametrize("limit", ["token_limit", "message_limit"])
def test_a_sample_without_a_reply_is_named_by_its_limit(tmp_path, capsys, limit):
    log = cut(tmp_path, limit)
    (sample,) = log.samples
    assert sample.error is None and f"{sample.limit.type}_limit" == limit
    score = sample.scores["rubric_judge"]
    assert score.reason == limit
    assert score.explanation == f"Not scored: {limit.replace('_', ' ')}."
    found = metrics(log, "outcome")
    assert (found["errored"], found["limited"]) == (0, 1)
    assert main(["show", log.location]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"unscored: {limit.replace('_', ' ')} 1" in said
    assert "limited 1" in said and "error" not in said


def test_a_text_that_came_back_is_judged_whatever_ended_the_sample(tmp_path):
    from inspect_ai.solver import chain, generate, user_message

    from moral_evals.solvers.elicit import elicit_reasoning

    task = morebench(data=one_case(tmp_path, [1, -1]))
    task.solver = chain(elicit_reasoning(), user_message("And?"), generate())
    log = run(task, always(REPLY), always("yes"), message_limit=4)
    (sample,) = log.samples
    assert sample.limit.type == "message"
    assert sample.scores["rubric_judge"].reason is None
    assert metrics(log)["scored"] == 1
    assert metrics(log, "outcome")["limited"] == 1


def test_lost_steps_of_a_chain_are_the_limits(capsys):
    task = corda(chains=1, shuffles=1, conditions="own")
    log = run(task, mock(first_shown), None, token_limit=2 * USAGE.total_tokens + 1)
    found = chain_figures(log)
    # two calls of five steps fit
    assert found["own.missing.token_limit"] == pytest.approx(3 / 5)
    assert found["own.missing.error"] == 0
    assert "own.missing.message_limit" not in found, "what did not occur needs no line"
    (score,) = [s.scores["lexicographic"] for s in log.samples]
    statuses = [step["status"] for step in score.metadata["steps"]]
    assert statuses[2:] == ["token_limit"] * 3
    assert main(["show", log.location, "--by", "missing"]) == 0
    assert "token_limit" in capsys.readouterr().out


def test_the_names_are_those_of_inspect():
    from typing import get_args

    from inspect_ai.log._log import EvalSampleLimitType

    assert {f"{kind}_limit" for kind in get_args(EvalSampleLimitType)} == {*LIMITS}
