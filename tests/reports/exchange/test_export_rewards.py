"""Scored replies as a training set: rows, pairs, card."""

import argparse
import hashlib
import json
import math

import pytest
import yaml
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log

from datasets import load_dataset
from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.reports.exchange import export_rewards as module
from moral_evals.reports.exchange.export_rewards import export_rewards
from moral_evals.reports.exchange.import_upstream import import_upstream
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, mock, output, run, thinking
from tests.upstream_files import generation, judgement, read, write

CRITERIA = [
    {"id": "a", "text": "Names both.", "weight": 3, "dimension": "identifying"},
    {"id": "b", "text": "Says why.", "weight": 1, "dimension": "logical process"},
    {"id": "c", "text": "Scolds.", "weight": -1, "dimension": "identifying"},
]


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def data(tmp_path, *ids: str) -> str:
    path = tmp_path / "two.jsonl"
    rows = [
        {"schema_version": "dilemma-1", "id": i, "dilemma": f"What of {i}?", "role": "ai_agent"}
        for i in ids
    ]
    write(path, [r | {"criteria": CRITERIA} for r in rows])
    return str(path)


def said(messages) -> str:
    """The judge reads the verdicts on a, b, c out of the trace, e.g. `trace yes no hmm`."""
    words = messages[-1].text.partition("trace ")[2].split()[:3]
    place = [c["text"] for c in CRITERIA].index(messages[-1].text.strip().splitlines()[-1])
    return words[place]


def judged(tmp_path, *traces: str, ids=("one",), **options):
    replies = iter([t if not isinstance(t, str) else thinking(t, f"So {t}.") for t in traces])
    task = morebench(data=data(tmp_path, *ids), judge_cache=False, judge_attempts=1)
    candidate = mock(lambda m: next(replies))
    return run(task, candidate, mock(said), max_samples=1, **options)


def rows_of(folder):
    return read(folder / "rewards.jsonl")


# --- rows -------------------------------------------------------------------------------------


def test_a_row_holds_prompt_texts_score_and_verdicts(tmp_path):
    log = judged(tmp_path, "trace yes no no", system_message="Be brief.")
    export_rewards([log.location], tmp_path / "set")
    (row,) = rows_of(tmp_path / "set")
    assert (row["id"], row["epoch"], row["role"], row["benchmark"]) == (
        "one", 1, "ai_agent", "morebench",
    )  # fmt: skip
    assert [m["role"] for m in row["prompt"]] == ["system", "system", "user"]
    assert row["prompt"][0]["content"] == "Be brief."
    assert row["prompt"][-1]["content"] == "What of one?"
    assert row["prompt_as_sent"]
    assert (row["trace"], row["trace_kind"]) == ("trace yes no no", "raw")
    assert row["response"] == "So trace yes no no."
    assert row["score"] == pytest.approx(4 / 5)
    assert row["length"] == 15
    assert row["score_per_1000_characters"] == pytest.approx(0.8 * 1000 / 15)
    assert row["dimensions"]["dim_identifying"] == 1
    assert row["dimensions"]["dim_logical_process"] == 0
    assert row["dimensions"]["dim_other"] is None
    assert [(v["criterion_id"], v["verdict"], v["fulfilled"]) for v in row["verdicts"]] == [
        ("a", "yes", True), ("b", "no", False), ("c", "no", True),
    ]  # fmt: skip
    assert (row["model"], row["judge"], row["judged"]) == (
        "mockllm/model", "mockllm/model", "trace",
    )  # fmt: skip
    facts = log.samples[0].scores["rubric_judge"].metadata
    assert row["judge_prompt_sha256"] == facts["prompt_sha256"]
    assert row["log_id"] == log.eval.eval_id


def test_an_ungraded_criterion_is_neither_met_nor_missed(tmp_path):
    log = judged(tmp_path, "trace yes hmm no")
    export_rewards([log.location], tmp_path / "set")
    (row,) = rows_of(tmp_path / "set")
    assert row["verdicts"][1] | {"criterion": ""} == {
        "criterion_id": "b", "criterion": "", "weight": 1.0, "dimension": "logical process",
        "verdict": "ungraded", "fulfilled": None,
    }  # fmt: skip
    assert row["graded_share"] == pytest.approx(4 / 5)
    assert row["score"] == 1


def test_unscored_replies_are_left_out_and_counted(tmp_path, capsys):
    log = judged(tmp_path, "trace yes no no", output("No trace."), output(""), "trace a b c",
                 ids=("one", "two"), epochs=2)  # fmt: skip
    done = export_rewards([log.location], tmp_path / "set")
    assert len(rows_of(tmp_path / "set")) == 1
    assert dict(done.sources[0].left_out) == {"no_trace": 1, "no_response": 1, "grader_failed": 1}
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert "1 grader failed, 1 no response, 1 no trace" in card


def test_trace_and_response_scores_are_rows_of_their_own(tmp_path):
    task = morebench(data=data(tmp_path, "one"), judged="both", judge_cache=False)
    log = run(task, always(thinking("It.", "So be it.")), always("yes"))
    export_rewards([log.location], tmp_path / "set")
    assert [(r["judged"], r["length"]) for r in rows_of(tmp_path / "set")] == [
        ("trace", 3), ("response", 9),
    ]  # fmt: skip
    export_rewards([log.location], tmp_path / "one", scorer="rubric_judge_response")
    assert [r["judged"] for r in rows_of(tmp_path / "one")] == ["response"]


def test_elicited_traces_keep_the_text_as_it_was_produced(tmp_path):
    log = judged(tmp_path, output("<reasoning>trace yes no no</reasoning> So."))
    export_rewards([log.location], tmp_path / "set")
    (row,) = rows_of(tmp_path / "set")
    assert (row["trace"], row["trace_kind"]) == ("trace yes no no", "elicited")
    assert row["response"] == "So."
    assert row["completion"] == "<reasoning>trace yes no no</reasoning> So."


def test_imported_runs_say_that_the_prompt_is_the_dilemma_alone(tmp_path):
    rows = [judgement(n=n) for n in range(2)]
    path, replies = (
        write(tmp_path / "j.jsonl", rows),
        write(tmp_path / "g.jsonl", [generation("t1", rows)]),
    )
    log = import_upstream(path, replies, tmp_path / "logs").path
    export_rewards([str(log)], tmp_path / "set")
    (row,) = rows_of(tmp_path / "set")
    assert row["prompt"] == [{"role": "user", "content": "What is to be done about t1?"}]
    assert not row["prompt_as_sent"]
    bare = import_upstream(path, None, tmp_path / "logs", judged="trace").path
    done = export_rewards([str(bare)], tmp_path / "bare")
    assert dict(done.sources[0].left_out) == {"prompt_not_in_log": 1}


# --- pairs ------------------------------------------------------------------------------------


def pairs_of(tmp_path, logs, **options):
    folder = tmp_path / f"pairs{hashlib.sha256(repr((logs, options)).encode()).hexdigest()[:6]}"
    export_rewards(logs, folder, pairs=True, **options)
    return read(folder / "pairs.jsonl")


def test_pairs_come_from_the_same_dilemma_with_a_margin(tmp_path):
    # 0.8, 1.0 and 0.2 for dilemma one; 1.0 for the other three times
    traces = ["trace yes no no", "trace yes yes no", "trace no no no"]
    other = ["trace yes yes no", "trace yes yes no .", "trace yes yes no !"]
    both = [t for pair in zip(traces, other, strict=True) for t in pair]
    log = judged(tmp_path, *both, ids=("one", "two"), epochs=3)
    scores = {(r["id"], r["trace"][:15]): r["score"] for r in _rows(tmp_path, log)}
    assert sorted(v for (i, _), v in scores.items() if i == "one") == [
        pytest.approx(0.2), pytest.approx(0.8), 1.0,
    ]  # fmt: skip
    found = pairs_of(tmp_path, [log.location], margin=0.2)
    assert {p["id"] for p in found} == {"one"}
    assert [(p["chosen_score"], p["rejected_score"]) for p in found] == [
        (1.0, pytest.approx(0.2)), (pytest.approx(0.8), pytest.approx(0.2)),
        (1.0, pytest.approx(0.8)),
    ]  # fmt: skip
    assert found[0]["chosen"] == [
        {
            "role": "assistant",
            "content": "So trace yes yes no.",
            "reasoning_content": "trace yes yes no",
        }
    ]
    assert found[0]["prompt"][-1] == {"role": "user", "content": "What of one?"}
    assert len(pairs_of(tmp_path, [log.location], margin=0.3)) == 2
    assert len(pairs_of(tmp_path, [log.location], margin=0.05, per_dilemma=1)) == 1
    assert pairs_of(tmp_path, [log.location], margin=0.9) == []


def _rows(tmp_path, log):
    export_rewards([log.location], tmp_path / "plain")
    return rows_of(tmp_path / "plain")


def test_an_ungraded_criterion_makes_no_preference(tmp_path):
    # the first lacks a verdict on b, which the second misses: equal on what both have
    log = judged(tmp_path, "trace yes hmm no", "trace yes no no", epochs=2)
    assert pairs_of(tmp_path, [log.location], margin=0.1) == []


def test_runs_of_several_models_are_paired_and_other_conditions_are_not(tmp_path):
    good, bad = judged(tmp_path, "trace yes yes no"), judged(tmp_path, "trace no no yes")
    found = pairs_of(tmp_path, [good.location, bad.location])
    assert [(p["chosen_score"], p["rejected_score"]) for p in found] == [(1, 0)]
    other_prompt = judged(tmp_path, "trace no no no", system_message="Be brief.")
    assert pairs_of(tmp_path, [good.location, other_prompt.location]) == []
    summary = thinking("", "So.", summary="trace no no no")
    other_kind = judged(tmp_path, summary)
    assert pairs_of(tmp_path, [good.location, other_kind.location]) == []


def test_one_reply_judged_twice_is_no_pair(tmp_path):
    log = judged(tmp_path, "trace yes yes no")
    twice = score(read_eval_log(log.location), rubric_judge(judge_cache=False, judge_attempts=1),
                  model_roles={"grader": always("no")}, action="append", display="none")  # fmt: skip
    write_eval_log(twice, log.location)
    assert len(_rows(tmp_path, log)) == 2
    assert pairs_of(tmp_path, [log.location]) == []


@pytest.mark.parametrize("margin", [0, -1, 1.5, math.nan])
def test_a_margin_is_above_0_and_at_most_1(tmp_path, margin):
    with pytest.raises(OptionError, match="--margin"):
        export_rewards(["none.eval"], tmp_path / "set", pairs=True, margin=margin)


# --- the set as a whole -----------------------------------------------------------------------


def test_the_card_describes_the_columns_as_the_hub_reads_them(tmp_path):
    log = judged(tmp_path, "trace yes no no", "trace no no no", epochs=2)
    folder = tmp_path / "set"
    export_rewards([log.location], folder, pairs=True)
    card = (folder / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(card.split("---")[1])
    assert [c["config_name"] for c in head["configs"]] == ["rewards", "pairs"]
    for config in ("rewards", "pairs"):
        cache = str(tmp_path / "cache")
        loaded = load_dataset(str(folder), config, split="train", cache_dir=cache)
        listed = next(i for i in head["dataset_info"] if i["config_name"] == config)
        assert loaded.column_names == [f["name"] for f in listed["features"]]
        assert loaded.to_list() == read(folder / f"{config}.jsonl")
    for part in ("CC-BY-4.0", "Contamination", "Rubric hacking", "2 replies", "1 preference"):
        assert part in card
    for column in rows_of(folder)[0]:
        assert f"`{column}`" in card, f"the card does not explain {column}"


def test_nothing_is_overwritten_unasked_and_stale_pairs_go(tmp_path):
    log = judged(tmp_path, "trace yes no no", "trace no no no", epochs=2)
    folder = tmp_path / "set"
    export_rewards([log.location], folder, pairs=True)
    with pytest.raises(SuiteError, match="exists already; say --overwrite"):
        export_rewards([log.location], folder)
    export_rewards([log.location], folder, overwrite=True)
    assert sorted(p.name for p in folder.iterdir()) == ["README.md", "rewards.jsonl"]
    assert "pairs.jsonl" not in (folder / "README.md").read_text(encoding="utf-8")


def test_an_error_on_the_way_leaves_what_was_there(tmp_path):
    log = judged(tmp_path, "trace yes no no")
    folder = tmp_path / "set"
    export_rewards([log.location], folder)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    with pytest.raises(SuiteError, match="no such file"):
        export_rewards([log.location, str(tmp_path / "gone.eval")], folder, overwrite=True)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_runs_of_other_tasks_are_passed_over_and_alone_they_are_refused(tmp_path):
    log = judged(tmp_path, "trace yes no no")
    other = run(corda(chains=1), always("A"), None)
    done = export_rewards([log.location, other.location], tmp_path / "set")
    assert len(done.sources) == 1
    with pytest.raises(SuiteError, match="no rubric score in these logs"):
        export_rewards([other.location], tmp_path / "none")
    assert not (tmp_path / "none" / "README.md").exists()


def test_the_command_prints_what_was_written_and_left_out(tmp_path, capsys):
    log = judged(tmp_path, "trace yes no no", "trace no no no", output("Bare."), epochs=3)
    parser = argparse.ArgumentParser()
    module.add_command(parser.add_subparsers())
    arguments = ["export-rewards", log.location, "--out", str(tmp_path / "set"), "--pairs"]
    options = parser.parse_args(arguments)
    options.run(options)
    printed = capsys.readouterr().out
    assert "2 scored replies" in printed
    assert "1 preference pairs with a margin of at least 0.1" in printed
    assert "left out, mockllm/model: 1 no trace" in printed
    json.loads((tmp_path / "set" / "pairs.jsonl").read_text(encoding="utf-8"))
