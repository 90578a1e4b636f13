"""Runs as upstream's judgement files, and the way back."""

import argparse
import json
import math
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log

from moral_evals.inspect_tasks import morebench, morebench_theory
from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.reports.exchange import export_upstream as module
from moral_evals.reports.exchange.export_upstream import export_upstream
from moral_evals.reports.exchange.import_upstream import import_upstream
from moral_evals.reports.exchange.upstream_figures import upstream_score
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, metrics, mock, output, run, thinking
from tests.upstream_files import generation, judgement, read, shuffled, write

FIELDS = [
    "task_id", "criterion_id", "criterion", "response", "dilemma_source", "criterion_dimension",
    "criterion_weight", "input_tokens", "output_tokens", "reasoning_tokens", "model",
    "dilemma_type", "role_domain", "theory", "idx", "judgement", "judge_input_tokens",
    "judge_output_tokens",
]  # fmt: skip


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def candidate():
    times = iter(range(1000))
    return mock(lambda m: thinking(f"I weigh it {'and again ' * next(times)}.", "So be it."))


def by_chance(seed: int, words=("yes", "no")):
    chance = random.Random(seed)
    return mock(lambda m: chance.choice(words))


def figures(rows):
    """Upstream's overall score and mean length, by its own rule, from exported rows."""
    tasks: dict[str, list[dict]] = {}
    for row in rows:
        tasks.setdefault(row["task_id"], []).append(row)
    scores = [
        upstream_score((r["judgement"], r["criterion_weight"]) for r in rows)
        for rows in tasks.values()
    ]
    lengths = [len(rows[0]["response"]) for rows in tasks.values()]
    return math.fsum(scores) / len(scores), math.fsum(lengths) / len(lengths)


# --- from a live run --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "script"),
    [(morebench, "calculate_morebench.py"), (morebench_theory, "calculate_morebench_theory.py")],
)
def test_a_run_gives_the_same_figures_by_upstreams_rule(tmp_path, task, script):
    log = run(task(data="sample", judge_cache=False), candidate(), by_chance(1), limit=5)
    done = export_upstream(log.location, tmp_path / "j.jsonl")
    rows = read(tmp_path / "j.jsonl")
    assert rows == done.rows
    assert list(rows[0]) == FIELDS
    assert {r["judgement"] for r in rows} == {"yes", "no"}
    assert [r["idx"] for r in rows] == list(range(len(rows)))
    assert all(isinstance(r["criterion_weight"], int) for r in rows)
    regular, length = figures(rows)
    assert metrics(log)["regular"] == pytest.approx(regular, abs=1e-12)
    assert metrics(log)["hard"] == pytest.approx(regular * 1000 / length, abs=1e-9)
    assert done.script == script


@pytest.mark.parametrize("judged", ["trace", "response"])
@pytest.mark.parametrize("epochs", [1, 2])
def test_out_and_in_again_is_the_same_score(tmp_path, judged, epochs):
    task = morebench(data="sample", judged=judged, judge_cache=False)
    log = run(task, candidate(), by_chance(2), limit=3, epochs=epochs)
    out, replies = tmp_path / "j.jsonl", tmp_path / "g.jsonl"
    export_upstream(log.location, out, generations=replies)
    back = import_upstream(out, replies, tmp_path / "back")
    assert back.log.eval.metadata["judged"] == judged
    assert {(s.id, s.epoch) for s in back.log.samples} == {(s.id, s.epoch) for s in log.samples}
    # every figure and every interval
    assert metrics(back.log) == pytest.approx(metrics(log), nan_ok=True, abs=1e-15)
    once = {(s.id, s.epoch): s.scores["rubric_judge"].metadata["verdicts"] for s in log.samples}
    again = {
        (s.id, s.epoch): s.scores["rubric_judge"].metadata["verdicts"] for s in back.log.samples
    }
    assert once == again
    export_upstream(back.path, tmp_path / "j2.jsonl", generations=tmp_path / "g2.jsonl")
    assert (tmp_path / "j2.jsonl").read_bytes() == out.read_bytes()
    assert (tmp_path / "g2.jsonl").read_bytes() == replies.read_bytes()


def test_epochs_are_tasks_of_their_own(tmp_path):
    task = morebench(data="sample", judge_cache=False)
    log = run(task, candidate(), by_chance(3), limit=2, epochs=3)
    rows = export_upstream(log.location, tmp_path / "j.jsonl").rows
    assert len({r["task_id"] for r in rows}) == 6
    assert all(r["task_id"].endswith(f"#{r['epoch']}") for r in rows)
    assert metrics(log)["regular"] == pytest.approx(figures(rows)[0], abs=1e-12)


def test_ungraded_criteria_are_left_out_or_written_as_no(tmp_path):
    task = morebench(data="sample", judge_cache=False, judge_attempts=1)
    log = run(task, candidate(), by_chance(4, ("yes", "no", "hmm")), limit=3)
    done = export_upstream(log.location, tmp_path / "j.jsonl")
    assert done.ungraded > 0
    assert metrics(log)["regular"] == pytest.approx(figures(done.rows)[0], abs=1e-12)
    as_no = export_upstream(log.location, tmp_path / "no.jsonl", ungraded="no")
    assert len(as_no.rows) == len(done.rows) + done.ungraded


def test_unscored_replies_are_left_out_and_counted(tmp_path):
    replies = iter([thinking("I weigh it.", "So."), output("So."), output("")])
    log = run(morebench(data="sample", judge_cache=False), mock(lambda m: next(replies)),
              always("yes"), limit=3, max_samples=1)  # fmt: skip
    done = export_upstream(log.location, tmp_path / "j.jsonl", generations=tmp_path / "g.jsonl")
    assert dict(done.unscored) == {"no_trace": 1, "no_response": 1}
    assert done.replies == 1
    assert len(done.generations) == 3


def test_a_log_with_two_scores_asks_which(tmp_path):
    task = morebench(data="sample", judged="both", judge_cache=False)
    log = run(task, candidate(), by_chance(5), limit=1)
    with pytest.raises(OptionError, match="'rubric_judge', 'rubric_judge_response'"):
        export_upstream(log.location, tmp_path / "j.jsonl")
    done = export_upstream(log.location, tmp_path / "j.jsonl", scorer="rubric_judge_response")
    assert {r["response"] for r in done.rows} == {"So be it."}
    with pytest.raises(OptionError, match="--scorer other: not in the log"):
        export_upstream(log.location, tmp_path / "k.jsonl", scorer="other")


def test_a_log_without_a_rubric_score_is_refused(tmp_path):
    log = run(morebench(data="sample"), candidate(), None, limit=1, score=False)
    with pytest.raises(SuiteError, match="no rubric score"):
        export_upstream(log.location, tmp_path / "j.jsonl")
    assert list(tmp_path.glob("*.jsonl")) == []


# --- round trip -------------------------------------------------------------------------------


def round_trip(folder, rows, generations=None):
    path = write(folder / "thinking_trace_judgements" / "j.jsonl", rows)
    replies = write(folder / "g.jsonl", generations) if generations else None
    log = import_upstream(path, replies, folder / "logs", judged="trace").path
    out, back = folder / "out.jsonl", folder / "g2.jsonl"
    export_upstream(log, out, generations=back if generations else None, overwrite=True)
    assert out.read_bytes() == path.read_bytes()
    if replies:
        assert read(back) == generations


def test_upstreams_file_comes_back_as_it_was(tmp_path):
    rows = [
        judgement("t1", 0, 3, "Yes, it does — \u201cso\u201d.\n"),
        judgement("t1", 1, 0, "no"),
        judgement("t1", 2, -2, None, judge_output_tokens=None),
        judgement("t1", 3, 1.0, "I do not know"),
        judgement("t2", 0, 1, "yes", "", extra={"deep": [1, 1.0, None, "é"]}, theory=None),
        judgement("t3", 0, 1, "", None, dilemma_type=math.nan, epoch=1),
        judgement("t4", 0, 1, "yes", "<think>a</think> b  "),
    ]
    round_trip(tmp_path, shuffled(rows))


def test_generations_come_back_too(tmp_path):
    one = [judgement("t1", n, response="First.") for n in range(3)]
    two = [judgement("t2", n, response="Second.") for n in range(2)]
    replies = [generation("t2", two, idx=1, odd=None), generation("t1", one, idx=0)]
    replies[0]["RUBRIC"][0]["annotations"]["other_specify"] = "A remark."
    round_trip(tmp_path, shuffled(one[:2] + two), replies)


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def files(draw):
    rows = []
    for t in range(draw(st.integers(1, 3))):
        response = draw(st.none() | TEXT)
        for n in range(draw(st.integers(1, 3))):
            weight = draw(st.sampled_from([-3, -1, 1, 2, 2.5]))
            said = draw(st.sampled_from(["yes", "no", "I do not know", "", None]) | TEXT)
            row = judgement(f"t{t}", n, weight, said, response)
            row |= draw(st.dictionaries(TEXT.map(lambda k: f"x_{k}"), JSON, max_size=2))
            for field in draw(st.sets(st.sampled_from(["idx", "theory", "input_tokens"]))):
                del row[field]
            rows.append(row)
    return draw(st.permutations(rows))


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=files())
def test_any_file_comes_back_as_it_was(tmp_path_factory, rows):
    round_trip(tmp_path_factory.mktemp("trip"), rows)


def test_an_imported_run_judged_anew_keeps_its_other_fields(tmp_path):
    rows = shuffled([judgement(n=n, said="yes", judge_mood="calm") for n in range(3)])
    path = write(tmp_path / "j.jsonl", rows)
    log = read_eval_log(str(import_upstream(path, log_dir=tmp_path, judged="trace").path))
    again = score(log, rubric_judge(judge_cache=False), model_roles={"grader": always("no")},
                  action="append", display="none")  # fmt: skip
    write_eval_log(again, log.location)
    new = export_upstream(log.location, tmp_path / "new.jsonl", scorer="rubric_judge1").rows
    changed = {"judgement": "no", "judge_input_tokens": -1, "judge_output_tokens": -1}
    assert new == [r | changed for r in rows]
    old = export_upstream(log.location, tmp_path / "old.jsonl", scorer="rubric_judge").rows
    assert old == rows


def test_no_generation_file_can_be_made_without_the_dilemmas(tmp_path):
    path = write(tmp_path / "j.jsonl", [judgement()])
    log = import_upstream(path, log_dir=tmp_path / "logs", judged="trace").path
    with pytest.raises(SuiteError, match="the dilemmas are not in this log"):
        export_upstream(log, tmp_path / "out.jsonl", generations=tmp_path / "g.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


# --- the command ------------------------------------------------------------------------------


def test_the_command_says_what_it_wrote_and_how_to_read_it(tmp_path, capsys):
    task = morebench(data="sample", judge_cache=False, judge_attempts=1)
    log = run(task, candidate(), by_chance(6, ("yes", "hmm")), limit=2)
    out = tmp_path / "out" / "j.jsonl"
    parser = argparse.ArgumentParser()
    module.add_command(parser.add_subparsers())
    options = parser.parse_args(["export-upstream", log.location, "--out", str(out)])
    options.run(options)
    printed = capsys.readouterr().out
    rows = read(out)
    assert f"{out}: {len(rows)} judgements of 2 replies" in printed
    assert "criteria are ungraded and left out" in printed
    assert f"calculate_morebench.py -i {out} -f human -es {len(rows)}" in printed
    with pytest.raises(SuiteError, match="--overwrite"):
        options.run(options)
    options.overwrite = True
    options.run(options)
    assert json.loads(out.read_text(encoding="utf-8").splitlines()[0]) == rows[0]
    assert sorted(p.name for p in out.parent.iterdir()) == ["j.jsonl"]
