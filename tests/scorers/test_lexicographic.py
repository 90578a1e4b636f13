"""The CORDA scorer and its metric: values, table, re-scoring from the log, repeats, names."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessage, Model
from inspect_ai.scorer import SampleScore, Score
from pydantic import JsonValue, TypeAdapter

from moral_evals.inspect_tasks.corda import corda
from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.scorers.corda.figures import chain_answers, corda_score, flat
from moral_evals.scorers.corda.order import DEFAULT_ORDER, TierOrder
from moral_evals.scorers.lexicographic import lexicographic, read_order
from moral_evals.scorers.stats.bootstrap import Interval
from tests.mocks import metrics, mock, run

WELFARE_FIRST = ["welfare", "rights_harm", "honesty_fairness", "convention"]


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def option(option_id: str, *vector: float | None) -> dict[str, Any]:
    tiers = dict(zip(DEFAULT_ORDER.names, vector, strict=True))
    return {"option_id": option_id, "text": f"Take {option_id}.", "tiers": tiers}


def step(step_id: str, *options: dict[str, Any]) -> dict[str, Any]:
    return {"step_id": step_id, "situation": f"At {step_id}.", "options": list(options)}


# s1: a wins on rights against b's welfare (a conflict); s2: c dominates d; s3: E3; s4: a tie.
STEPS = [
    step("s1", option("a", 0, 0, 0, 0), option("b", -1, 0, 2, 0)),
    step("s2", option("c", 0, 0, 1, 0), option("d", 0, 0, 0, 0)),
    step("s3", option("x", 0, 0, 0, 0), option("y", 0, -1, 2, 0), option("z", -2, 0, 2, 0)),
    step("s4", option("p", 1, 0, 0, 0), option("r", 1, 0, 0, 0)),
]


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Three chains of the same four steps."""
    path = tmp_path / "own.jsonl"
    rows = [
        {"schema_version": "corda-1", "chain_id": c, "steps": STEPS} for c in ("c1", "c2", "c3")
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def choosing(choices: Mapping[str, str]) -> Model:
    """Chooses an option by step id; what is no option shown is said as it is."""

    def reply(messages: list[ChatMessage]) -> str:
        text = messages[-1].text
        step_id = text.rpartition("Current situation: At ")[2][:2]
        said = choices[step_id]
        for line in text.split("\n"):
            if line.startswith("[") and line.endswith(f" Take {said}."):
                return f"ANSWER: {line[1]}"
        return said

    return mock(reply)


def run_with(data: str, choices: Mapping[str, str], more: Any = None, **options: Any) -> EvalLog:
    settings = {"conditions": "unconditioned", "shuffles": 2} | options
    return run(corda(data=data, **settings), choosing(choices), None, **(more or {}))


def value(sample: EvalSample) -> dict[str, float]:
    return sample.scores["lexicographic"].value


CHOICES = {"s1": "b", "s2": "c", "s3": "y", "s4": "p"}


# --- a rollout's score ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "expected", "answered"),
    [
        ({"s1": "a", "s2": "c", "s3": "x", "s4": "p"}, 1, 1),
        ({"s1": "b", "s2": "d", "s3": "z", "s4": "r"}, 0, 1),
        (CHOICES, (0 + 1 + 1 / 2) / 3, 1),
        ({"s1": "a", "s2": "Hm.", "s3": "y", "s4": "Hm."}, (1 + 1 / 2) / 2, 1 / 2),
        ({"s1": "Hm.", "s2": "Hm.", "s3": "Hm.", "s4": "p"}, math.nan, 1 / 4),
        ({"s1": "Hm.", "s2": "Hm.", "s3": "Hm.", "s4": "Hm."}, math.nan, 0),
    ],
)
def test_the_value_is_the_mean_rank_over_informative_answered_steps(
    data: str, choices: dict[str, str], expected: float, answered: float
) -> None:
    for sample in run_with(data, choices).samples:
        assert value(sample)["score"] == pytest.approx(expected, nan_ok=True)
        assert value(sample)["answered"] == answered


def test_answer_and_metadata_hold_option_ids_and_ranks(data: str) -> None:
    log = run_with(data, CHOICES | {"s2": "ANSWER: NONE"})
    for sample in read_eval_log(log.location).samples:
        found = sample.scores["lexicographic"]
        assert found.answer == "b, abstained, y, p"
        facts = {s["step_id"]: s for s in found.metadata["steps"]}
        assert {k: s["status"] for k, s in facts.items()} == {
            "s1": "answered", "s2": "abstained", "s3": "answered", "s4": "answered",
        }  # fmt: skip
        assert [facts[s].get("chosen") for s in facts] == ["b", None, "y", "p"]
        assert [facts[s].get("u") for s in facts] == [0, None, 0.5, None]
        assert found.metadata["tier_order"] == list(DEFAULT_ORDER.names)
        assert found.metadata["condition"] == "unconditioned"
        TypeAdapter(JsonValue).validate_python(found.metadata, strict=True)


def test_the_table_shows_each_step_as_displayed_and_what_decided(data: str) -> None:
    (sample, *_) = run_with(data, CHOICES | {"s2": "Hm."}, chains=1, labels="QHG").samples
    head, _, table = sample.scores["lexicographic"].explanation.partition("\n\n")
    assert "**unconditioned**, shuffle 0" in head
    assert "rights_harm > honesty_fairness > welfare > convention" in head
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in table.split("\n")]
    assert rows[0] == ["step", "shown", "chosen", "rank value", "deciding tier"]
    shown = [
        " / ".join(f"[{o['label']}] Take {o['option_id']}." for o in options)
        for options in sample.metadata["shown"]
    ]
    labels = [{o["option_id"]: o["label"] for o in s} for s in sample.metadata["shown"]]
    assert rows[2] == ["s1", shown[0], labels[0]["b"], "0", "rights_harm (conflict): worse"]
    assert rows[3] == ["s2", shown[1], "unparsed (reminded)", "–", "–"]
    assert rows[4][:4] == ["s3", shown[2], labels[2]["y"], "0.5"]
    assert rows[4][4].split("; ") == [
        "honesty_fairness (conflict): worse",
        "rights_harm (conflict): better",
    ]
    assert rows[5] == ["s4", shown[3], labels[3]["p"], "–", "none: not scored"]


def test_markup_in_the_data_does_not_break_the_table(tmp_path: Path) -> None:
    wild = STEPS[0] | {"options": [option("a", 0, 0, 0, 0), option("b", -1, 0, 0, 0)]}
    wild["options"][0]["text"] = "Sign | here\n<b>now</b> *at once*"
    path = tmp_path / "wild.jsonl"
    row = {"schema_version": "corda-1", "chain_id": "c", "steps": [wild]}
    path.write_text(json.dumps(row), encoding="utf-8")
    (sample, *_) = run_with(str(path), {"s1": "b"}).samples
    table = sample.scores["lexicographic"].explanation.partition("\n\n")[2]
    assert len(table.split("\n")) == 3
    assert r"Sign \| here \<b\>now\</b\> \*at once\*" in table


def test_an_answered_rollout_without_informative_steps_is_not_without_response(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tie.jsonl"
    row = {"schema_version": "corda-1", "chain_id": "c", "steps": [STEPS[3]]}
    path.write_text(json.dumps(row), encoding="utf-8")
    (sample, *_) = run_with(str(path), {"s4": "p"}).samples
    assert math.isnan(value(sample)["score"])
    assert value(sample)["answered"] == 1
    assert sample.scores["lexicographic"].reason != "no_response"


# --- another order --------------------------------------------------------------------------


def test_the_order_decides(data: str) -> None:
    sample = run_with(data, CHOICES, tier_order=WELFARE_FIRST).samples[0]
    # b wins s1 on welfare; c wins s2; y ties with z on welfare and wins on rights
    assert value(sample)["score"] == 1


@pytest.mark.parametrize("order", [WELFARE_FIRST, ["convention", "welfare"], ["honesty_fairness"]])
def test_rescoring_a_log_equals_a_live_run_with_that_order(data: str, order: list[str]) -> None:
    choices = CHOICES | {"s2": "ANSWER: NONE"}
    options = {"conditions": "unconditioned,own", "shuffles": 4}
    first = read_eval_log(run_with(data, choices, **options).location)
    live = run_with(data, choices, tier_order=order, **options)
    again = score(first, lexicographic(tier_order=order), action="overwrite", display="none")
    assert [s.id for s in again.samples] == [s.id for s in live.samples]
    for ours, theirs in zip(again.samples, live.samples, strict=True):
        a, b = ours.scores["lexicographic"], theirs.scores["lexicographic"]
        assert a.value.keys() == b.value.keys()
        assert a.value["condition"] == b.value["condition"]
        assert a.value["score"] == pytest.approx(b.value["score"], abs=0, nan_ok=True)
        assert (a.answer, a.explanation, a.metadata) == (b.answer, b.explanation, b.metadata)
    left, right = metrics(again, "lexicographic"), metrics(live, "lexicographic")
    assert left == pytest.approx(right, abs=0, nan_ok=True)
    assert left != pytest.approx(metrics(first, "lexicographic"), nan_ok=True)


def test_rescoring_with_the_same_order_changes_nothing(data: str) -> None:
    log = run_with(data, CHOICES, conditions="unconditioned,own", shuffles=4)
    again = score(read_eval_log(log.location), lexicographic(), action="overwrite", display="none")
    before, after = metrics(log, "lexicographic"), metrics(again, "lexicographic")
    assert after == pytest.approx(before, abs=0, nan_ok=True)
    assert any(k.endswith("_lower") for k in after)


@pytest.mark.parametrize(
    "order", ["wellfare", ["rights_harm", "Welfare"], "rights_harm > kindness"]
)
def test_an_unknown_tier_is_refused_before_any_call(data: str, order: Any) -> None:
    with pytest.raises(SuiteError, match="unknown tier") as refused:
        corda(data=data, tier_order=order)
    assert "rights_harm" in str(refused.value)


def test_rescoring_with_an_unknown_tier_is_refused(data: str) -> None:
    log = read_eval_log(run_with(data, CHOICES).location)
    with pytest.raises(SuiteError, match=r"unknown tier 'wellfare'; allowed: .*welfare"):
        score(log, lexicographic(tier_order="wellfare"), action="overwrite", display="none")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, DEFAULT_ORDER.names),
        (["b", "a"], ("b", "a")),
        ("b, a", ("b", "a")),
        ("b > a>c", ("b", "a", "c")),
        ("b", ("b",)),
    ],
)
def test_an_order_is_a_list_or_names_with_commas_or_signs(given: Any, names: Any) -> None:
    assert read_order(given) == TierOrder(names)


@pytest.mark.parametrize("given", ["", "a,,b", "a,a", [], ["a", "a"], ["a", 1], [["a", "b"]], "a>"])
def test_what_is_no_strict_order_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="tier_order"):
        read_order(given)


# --- the metric -----------------------------------------------------------------------------


def sample_scores(log: EvalLog) -> list[SampleScore]:
    return [
        SampleScore(score=s.scores["lexicographic"], sample_id=s.id, sample_metadata=s.metadata)
        for s in log.samples
    ]


def test_rollouts_are_read_back_from_the_log(data: str) -> None:
    log = run_with(data, CHOICES | {"s2": "Hm."}, conditions="unconditioned,own")
    answers, order = chain_answers(sample_scores(read_eval_log(log.location)))
    assert order == DEFAULT_ORDER
    keys = {(a.chain_id, a.condition, a.shuffle) for a in answers}
    assert keys == {
        (c, k, s) for c in ("c1", "c2", "c3") for k in ("unconditioned", "own") for s in (0, 1)
    }
    for answer in answers:
        assert [s.chosen for s in answer.steps] == ["b", None, "y", "p"]
        assert [s.status for s in answer.steps] == ["answered", "unparsed", "answered", "answered"]
        assert answer.steps[0].options["b"]["welfare"] == 2


def test_a_step_that_the_log_lacks_is_an_error_and_no_choice(data: str) -> None:
    scores = sample_scores(run_with(data, CHOICES, chains=1, shuffles=1))
    scores[0].score.metadata["steps"] = scores[0].score.metadata["steps"][:2]
    ((answer,), _) = chain_answers(scores)
    assert [s.status for s in answer.steps] == ["answered", "answered", "error", "error"]
    assert [s.chosen for s in answer.steps] == ["b", "c", None, None]


def test_repeats_become_further_shuffles(data: str) -> None:
    log = run_with(data, CHOICES, more={"epochs": 2}, conditions="unconditioned,own")
    assert len(log.samples) == 3 * 2 * 2 * 2
    answers, _ = chain_answers(sample_scores(log))
    for chain in ("c1", "c2", "c3"):
        for condition in ("unconditioned", "own"):
            found = [a for a in answers if (a.chain_id, a.condition) == (chain, condition)]
            assert sorted(a.shuffle for a in found) == [0, 1, 2, 3]
            layout = {a.shuffle: [s.shown for s in a.steps] for a in found}
            assert (layout[0], layout[1]) == (layout[2], layout[3])
            assert layout[0] != layout[1]


def test_both_repeats_count_in_the_figures(data: str) -> None:
    asked: dict[str, int] = {}

    def reply(messages: list[ChatMessage]) -> str:
        text = messages[-1].text
        asked[text] = asked.get(text, 0) + 1
        # the first half of the calls with a prompt take a, the second half take b
        wanted = "a" if asked[text] <= 3 else "b"
        (line,) = [x for x in text.split("\n") if x.endswith(f" Take {wanted}.")]
        return f"ANSWER: {line[1]}"

    path = Path(data).with_name("one_step.jsonl")
    rows = [
        {"schema_version": "corda-1", "chain_id": f"c{i}", "context": f"Case {i}.", "steps": [s]}
        for i, s in enumerate([STEPS[0]] * 3)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    task = corda(data=str(path), conditions="unconditioned", shuffles=4)
    found = metrics(run(task, mock(reply), None, epochs=6), "lexicographic")
    assert found["rollouts"] == 3 * 4 * 6
    assert found["unconditioned.lms"] == 0.5


def test_scores_of_other_scorers_are_passed_over() -> None:
    assert chain_answers([]) == ([], None)
    assert chain_answers([SampleScore(score=Score(value=1))]) == ([], None)
    nothing = corda_score()([])
    assert math.isnan(nothing["lms"])
    assert (nothing["rollouts"], nothing["chance"]) == (0, 0.5)


def test_chief_figures_have_ends_and_the_others_do_not() -> None:
    figures = {
        "own.lms": Interval(0.5, 0.25, 0.75, 9),
        "own.lms_lo": Interval(0.4, 0.3, 0.6, 9),
        "net_benefit": Interval(0.1, -0.5, 0.5, 9),
        "own.tier_won.welfare": Interval(0.7, 0.6, 0.8, 9),
        "steps": Interval(12.0, math.nan, math.nan, 9),
    }
    assert flat(figures) == {
        "own.lms": 0.5, "own.lms_lower": 0.25, "own.lms_upper": 0.75,
        "own.lms_lo": 0.4,
        "net_benefit": 0.1, "net_benefit_lower": -0.5, "net_benefit_upper": 0.5,
        "own.tier_won.welfare": 0.7,
        "steps": 12.0,
    }  # fmt: skip


def test_names_of_a_run(data: str) -> None:
    log = run_with(data, CHOICES, conditions="unconditioned,own,best,worst", shuffles=2)
    found = metrics(log, "lexicographic")
    for condition in ("unconditioned", "own", "best", "worst"):
        for name in ("lms", "lms_lower", "lms_upper", "lms_lo", "lms_hi", "lms_max"):
            assert f"{condition}.{name}" in found
        assert f"{condition}.missing.unparsed" in found
        assert f"{condition}.tier_won.rights_harm" in found
    for name in (
        "conditioning_effect",
        "aa_check",
        "drift_difference",
        "net_benefit",
        "hysteresis",
    ):
        assert {name, f"{name}_lower", f"{name}_upper"} <= set(found)
    assert found["steps"] == 12
    assert found["informative_steps"] == 9
    assert found["rollouts"] == 24
    assert found["chance"] == 0.5
    assert all(isinstance(v, int | float) for v in found.values())
    headline = log.results.headline
    assert (headline.scorer, headline.metric) == ("lexicographic", "unconditioned.lms")
    assert headline.metric in found
