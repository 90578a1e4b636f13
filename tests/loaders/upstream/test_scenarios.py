"""Bringing upstream's rows together by dilemma."""

import pytest

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.loaders.upstream.rows import read_generations, read_judgements
from moral_evals.loaders.upstream.scenarios import KEPT, KeptRows, scenarios
from tests.upstream_files import generation, judgement, shuffled, write


def grouped(tmp_path, rows, generations=None, ids="task_id"):
    judged = read_judgements(write(tmp_path / "j.jsonl", rows))
    replies = None
    if generations is not None:
        replies = read_generations(write(tmp_path / "g.jsonl", generations))
    return scenarios("j.jsonl", judged, replies, ids)


ONE = [judgement("t1", n, response="First.") for n in range(3)]
TWO = [judgement("t2", n, response="Second.") for n in range(2)]


def test_rows_of_a_task_come_together_whatever_their_order(tmp_path):
    found = grouped(tmp_path, shuffled(ONE + TWO))
    assert {s.id: len(s.criteria) for s in found} == {"t1": 3, "t2": 2}
    assert {s.id: s.rows[0].response for s in found} == {"t1": "First.", "t2": "Second."}


def test_rows_without_a_task_id_come_together_by_the_judged_text(tmp_path):
    rows = [r | {"task_id": None} for r in ONE] + [judgement(None, 9, response="Second.")]
    found = grouped(tmp_path, shuffled(rows))
    assert sorted(len(s.rows) for s in found) == [1, 3]
    assert len({s.id for s in found}) == 2


def test_rows_without_a_task_id_and_text_need_the_generations(tmp_path):
    rows = [judgement(None, n, response="") for n in range(2)]
    with pytest.raises(DataError, match="row 1, field task_id"):
        grouped(tmp_path, rows)
    (found,) = grouped(tmp_path, rows, [generation(None, rows)])
    assert len(found.rows) == 2


def test_the_generations_give_dilemma_context_and_the_rubrics_order(tmp_path):
    (found,) = grouped(tmp_path, ONE[::-1], [generation("t1", ONE)])
    assert [c.id for c in found.criteria] == ["t1-c0", "t1-c1", "t1-c2"]
    assert found.row_criteria == ("t1-c2", "t1-c1", "t1-c0")
    metadata = ScenarioMetadata.model_validate(found.metadata())
    assert (metadata.context, metadata.source_group) == ("Sports", "daily_dilemmas")
    assert found.generation.dilemma == "What is to be done about t1?"


def test_samples_can_be_named_as_in_live_runs(tmp_path):
    (found,) = grouped(tmp_path, ONE, [generation("t1", ONE)], ids="dilemma")
    assert found.id.startswith("public-neutral-")
    again = grouped(tmp_path, ONE, [generation("t1", ONE)])
    assert again[0].id == "t1"


def test_a_criterion_without_judgement_and_a_reply_without_any_are_kept(tmp_path):
    found = grouped(tmp_path, ONE[:2], [generation("t1", ONE), generation("t2", TWO)])
    assert [(s.id, len(s.rows), len(s.criteria)) for s in found] == [("t1", 2, 3), ("t2", 0, 2)]


def test_epochs_of_an_exported_run_are_epochs_again(tmp_path):
    rows = [
        judgement(f"t1#{e}", 0, response=f"Try {e}.", criterion_id="c", epoch=e) for e in (1, 2)
    ]
    found = grouped(tmp_path, rows)
    assert [(s.id, s.epoch) for s in found] == [("t1", 1), ("t1", 2)]


def test_an_id_that_a_rubric_holds_twice_counts_twice(tmp_path):
    rows = [judgement("t1", n, criterion_id="same") for n in range(2)]
    (found,) = grouped(tmp_path, rows)
    assert [c.id for c in found.criteria] == ["same", "same-2"]
    (matched,) = grouped(tmp_path, rows[::-1], [generation("t1", rows)])
    assert matched.row_criteria == ("same-2", "same")


def test_a_criterion_of_weight_0_is_kept_and_counts_for_nothing(tmp_path):
    (found,) = grouped(tmp_path, [judgement(n=0, weight=0), judgement(n=1)])
    assert found.row_criteria == ("", "t1-c1")
    assert len(found.criteria) == 1
    with pytest.raises(DataError, match="criterion_weight: is 0 in all"):
        grouped(tmp_path, [judgement(weight=0)])


def test_what_a_sample_keeps_gives_the_rows_back(tmp_path):
    for found in grouped(tmp_path, shuffled(ONE + TWO)):
        kept = KeptRows.model_validate(found.metadata()[KEPT])
        back = [{**r.fields, "response": kept.response} for r in kept.rows]
        assert back == [r for r in shuffled(ONE + TWO) if r["task_id"] == found.id]


@pytest.mark.parametrize(
    ("rows", "generations", "parts"),
    [
        ([*ONE, judgement("t1", 0, response="First.")], None, ["row 4", "criterion_id", "row 1"]),
        ([*ONE, judgement("t1", 5, response="Other.")], None, ["row 4", "response", "row 1"]),
        ([*ONE, judgement("t2", model="b/c")], None, ["row 4", "model", "'maker/thinker'"]),
        (ONE + TWO, [generation("t1", ONE)], ["row 4", "criterion_id", "no row of the generation"]),
        (ONE, [generation(None, ONE), generation(None, ONE)], ["row 1", "fits rows 1, 2"]),
        (
            [*ONE[:2], ONE[2] | {"criterion_weight": 3}],
            [generation("t1", ONE)],
            ["row 3", "text or weight is not in"],
        ),
    ],
)
def test_rows_that_contradict_each_other_are_refused(tmp_path, rows, generations, parts):
    with pytest.raises(DataError) as refused:
        grouped(tmp_path, rows, generations)
    for part in ("j.jsonl", *parts):
        assert part in str(refused.value)
