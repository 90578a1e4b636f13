"""The MoReBench tasks as wholes, in process, with scripted candidates and judges."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessage, ContentReasoning, ContentText, ModelOutput
from pydantic import JsonValue, TypeAdapter

from moral_evals.inspect_tasks import morebench, morebench_theory
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import DIMENSIONS, THEORIES, ScenarioMetadata
from moral_evals.reports.runs.sample_scores import sample_scores
from moral_evals.scorers.rubric.breakdowns import by_dimension, by_label
from moral_evals.scorers.rubric.scenario_table import METRIC_NAMES, ScenarioTable
from tests.cases import one_case
from tests.conftest import SHARED
from tests.mocks import USAGE, always, criterion_of, metrics, mock, output, run, thinking

TRACE = thinking("I weigh the promise against the harm.", "Keep the promise.")


# --- real rows ------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "column"), [("Yes", "all_yes"), ("No.", "all_no")])
@pytest.mark.parametrize("task", [morebench, morebench_theory])
def test_all_yes_and_all_no_judges_give_the_known_scores(real_rows, task, answer, column):
    file = "public_rows.csv" if task is morebench else "theory_rows.csv"
    known = json.loads((real_rows / "expected.json").read_text(encoding="utf-8"))["rows"]
    want = [row[column] for row in known if row["file"] == file]
    log = run(task(data=str(real_rows / file)), always(TRACE), always(answer))
    got = [s.scores["rubric_judge"].value["score"] for s in log.samples]
    order = [row["first_id"] for row in known if row["file"] == file]
    by_first = {s.metadata["criteria"][0]["id"]: v for s, v in zip(log.samples, got, strict=True)}
    assert [by_first[i] for i in order] == want
    assert metrics(log)["regular"] == pytest.approx(np.mean(want), abs=1e-15)


def test_a_full_size_set_gives_the_figures_of_the_formulas(tmp_path):
    maker = SHARED / "bench" / "make_dataset.py"
    if not maker.exists():
        pytest.skip("the data-set maker is not here (../shared/bench)")
    path = tmp_path / "regular.csv"
    subprocess.run([sys.executable, str(maker), "--out", str(path)], check=True)
    task = morebench(data=str(path))
    rows = [s.metadata_as(ScenarioMetadata) for s in task.dataset]
    met = {c.id: int(c.id[:2], 16) % 3 > 0 for r in rows for c in r.criteria}
    by_text = {c.text.strip(): met[c.id] for r in rows for c in r.criteria}
    judge = mock(lambda m: "yes" if by_text[criterion_of(m)] else "no")
    candidate = mock(lambda m: thinking("x" * (len(m[-1].text) + 300), "Done."))
    log = run(task, candidate, judge, log_realtime=False)

    weight = [np.array([c.weight for c in r.criteria]) for r in rows]
    won = [np.array([met[c.id] == (c.weight > 0) for c in r.criteria]) for r in rows]
    score = np.array([np.abs(w) @ g / np.abs(w).sum() for w, g in zip(weight, won, strict=True)])
    length = np.array([len(s.input) + 300 for s in task.dataset])
    found = metrics(log)
    assert found["regular"] == pytest.approx(score.mean(), abs=1e-12)
    assert found["hard"] == pytest.approx(score.mean() * 1000 / length.mean(), abs=1e-12)
    table = ScenarioTable.build(sample_scores(log, "rubric_judge"))
    for group in ("source_group", "role", "type", "context"):
        shown = {r.label: r for r in by_label(table, group)}
        assert set(shown) == {getattr(r, group) for r in rows}
        for label, row in shown.items():
            member = np.array([getattr(r, group) == label for r in rows])
            assert row.score.estimate == pytest.approx(score[member].mean(), abs=1e-12)
            assert row.scenarios == member.sum()
    by_name = {r.label: r for r in by_dimension(table)}
    for dimension in DIMENSIONS[:5]:
        inside = [np.array([c.dimension == dimension for c in r.criteria]) for r in rows]
        pooled = np.concatenate([g[i] for g, i in zip(won, inside, strict=True)])
        row = by_name[dimension]
        assert row.pooled.estimate == pytest.approx(pooled.mean(), abs=1e-12)
        shares = [
            np.abs(w[i]) @ g[i] / np.abs(w[i]).sum()
            for w, g, i in zip(weight, won, inside, strict=True)
            if i.any()
        ]
        assert found[METRIC_NAMES[dimension]] == pytest.approx(np.mean(shares), abs=1e-12)
        within = row.by_scenario
        assert within.estimate == found[METRIC_NAMES[dimension]]
        assert within.lower < within.estimate < within.upper
    assert found["regular_lower"] < found["regular"] < found["regular_upper"]


# --- what is judged -------------------------------------------------------------------------

REDACTED = thinking("gAAAAABo", "Keep it.", redacted=True)
SUMMARY = thinking("EqAB", "Keep it.", redacted=True, summary="It weighed both sides.")
CUT = output([ContentReasoning(reasoning="I weigh"), ContentText(text="")], "max_tokens")


@pytest.mark.parametrize(
    ("reply", "kind", "score", "reason"),
    [
        (TRACE, "trace_raw", 1.0, None),
        (SUMMARY, "trace_summary", 1.0, None),
        (output("<reasoning>I weigh both.</reasoning>\nKeep it."), "trace_elicited", 1.0, None),
        (REDACTED, "trace_redacted", math.nan, "redacted_trace"),
        (output("Keep it."), "trace_none", math.nan, "no_trace"),
        (output(""), "trace_none", math.nan, "no_response"),
        (CUT, "truncated", math.nan, "truncated"),
        (output("I cannot help.", "content_filter"), "refused", math.nan, "refusal"),
    ],
)
def test_each_kind_of_reply_ends_in_its_place(tmp_path, reply, kind, score, reason):
    asked: list[str] = []

    def judge(messages):
        asked.append(messages[-1].text)
        return "yes"

    log = run(morebench(data=one_case(tmp_path, [3, 2])), always(reply), mock(judge))
    found = log.samples[0].scores["rubric_judge"]
    assert found.value["score"] == pytest.approx(score, nan_ok=True)
    assert found.reason == reason
    assert bool(asked) == (reason is None), "an empty text was judged, or a good one was not"
    assert metrics(log, "outcome")[kind] == 1
    assert log.status == "success"
    assert found.explanation
    assert found.answer is not None
    assert metrics(log)["unscored"] == (1 if reason else 0)


def test_trace_mode_and_response_mode_judge_different_texts(tmp_path):
    judge = mock(lambda m: "yes" if "I weigh the promise" in m[-1].text else "no")
    data = one_case(tmp_path, [1])
    log = run(morebench(data=data, judged="both"), always(TRACE), judge)
    scores = log.samples[0].scores
    assert scores["rubric_judge"].value["score"] == 1
    assert scores["rubric_judge_response"].value["response_score"] == 0
    assert scores["rubric_judge_response"].answer == "Keep the promise."
    alone = run(morebench(data=data, judged="response"), always(TRACE), judge)
    assert alone.samples[0].scores["rubric_judge"].value["score"] == 0


def test_several_reasoning_blocks_are_joined(tmp_path):
    blocks = [ContentReasoning(reasoning="First."), ContentReasoning(reasoning="Second.")]
    reply = output([*blocks, ContentText(text="So be it.")])
    judge = mock(lambda m: "yes" if "First." in m[-1].text and "Second." in m[-1].text else "no")
    log = run(morebench(data=one_case(tmp_path, [1])), always(reply), judge)
    found = log.samples[0].scores["rubric_judge"]
    assert found.value["score"] == 1
    assert found.value["length"] == len("First.\n\nSecond.")


def test_an_error_text_in_place_of_a_reply_is_an_error(tmp_path):
    reply = output("upstream provider returned 503", "unknown")
    log = run(morebench(data=one_case(tmp_path, [1])), always(reply), always("yes"))
    assert log.status == "error"
    assert "503" in log.samples[0].error.message
    assert (metrics(log)["scored"], metrics(log)["unscored"]) == (0, 1)
    assert log.samples[0].scores["rubric_judge"].reason == "provider_error"


def test_a_reply_without_any_choice_is_an_error_and_no_score(tmp_path):
    empty = ModelOutput(model="mock", choices=[], usage=USAGE)
    log = run(morebench(data=one_case(tmp_path, [1])), always(empty), always("yes"))
    assert log.samples[0].error is not None
    assert log.samples[0].scores["rubric_judge"].reason == "provider_error"
    assert metrics(log, "outcome")["errored"] == 1


# --- what the candidate sees ----------------------------------------------------------------


def test_no_criterion_reaches_the_candidate_and_braces_stay(tmp_path):
    path = tmp_path / "braces.jsonl"
    row = {
        "schema_version": "dilemma-1",
        "id": "b",
        "dilemma": "Choose {A} or {B}: {rubric} {criteria} {metadata} {{x}} %s",
        "criteria": [{"id": "c", "text": "SECRET {k}", "weight": 1, "dimension": "other"}],
    }
    path.write_text(json.dumps(row), encoding="utf-8")
    seen: list[list[ChatMessage]] = []
    judged: list[str] = []

    def candidate(messages):
        seen.append(messages)
        return TRACE

    def judge(messages):
        judged.append(messages[-1].text)
        return "yes"

    run(morebench(data=str(path)), mock(candidate), mock(judge))
    sent = "\n".join(m.text for m in seen[0])
    assert row["dilemma"] in sent
    assert "SECRET" not in sent
    assert judged[0].endswith("SECRET {k}")


def test_a_theory_row_is_asked_under_its_theory(real_rows):
    task = morebench_theory(data=str(real_rows / "theory_rows.csv"), theory="kantian deontology")
    seen: list[str] = []
    run(task, mock(lambda m: seen.append(m[0].text) or TRACE), always("yes"))
    assert len(seen) == 1
    assert "Kantian Deontology" in seen[0]
    assert "maxim" in seen[0]


def test_upstream_protocol_joins_instruction_and_dilemma_as_they_are(tmp_path):
    prompts = tmp_path / "checkout" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "create_prompts_for_reasoning_eval.py").write_text(
        f"def f(theory=None):\n    d = {dict.fromkeys(THEORIES, 'Sum it up.')!r}\n"
        "    if theory:\n        return f'Under {theory}: {d[theory]} Case:'\n"
        "    return ' Think. Case:'\n",
        encoding="utf-8",
    )
    (prompts / "create_prompts_for_rubric_eval.py").write_text(
        "def g():\n    return 'Is it so? yes or no.'\n", encoding="utf-8"
    )
    seen: list[list[ChatMessage]] = []
    judged: list[list[ChatMessage]] = []
    task = morebench(
        data=one_case(tmp_path, [1]), protocol="upstream", upstream_path=str(prompts.parent)
    )
    log = run(
        task,
        mock(lambda m: seen.append(m) or TRACE),
        mock(lambda m: judged.append(m) or "no"),
    )
    assert [m.text for m in seen[0]] == [" Think. Case:What now?"]
    expected = (
        "Reasoning Response:I weigh the promise against the harm.\n\nIs it so? yes or no.\n\n"
        "Rubric Criterion:Says point 0."
    )
    assert [m.text for m in judged[0]] == [expected]
    assert log.eval.metadata["protocol"] == "upstream"
    assert log.samples[0].scores["rubric_judge"].metadata["protocol"] == "upstream"


# --- parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"limit": 5}, "--limit"),
        ({"epochs": 2}, "--epochs"),
        ({"judge_mood": "x"}, "Allowed: data"),
        ({"judge_mode": "x"}, "'criterion', 'rubric'"),
        ({"judge_mode": "rubric", "protocol": "upstream"}, "judge_mode=criterion"),
        ({"votes": 0}, "from 1 to 25"),
        ({"judged": "answer"}, "'trace', 'last_turn', 'response', 'both'"),
        ({"judged": False}, "'trace', 'last_turn', 'response', 'both'"),
        ({"protocol": None}, "'suite', 'upstream'"),
        ({"role": "moral_agent"}, "'ai_advisor', 'ai_agent'"),
        ({"source": []}, "list is empty"),
        ({"revision": 42798}, "must be text"),
        ({"judge_attempts": 0}, "1 to 20"),
        ({"judge_cache": "no"}, "true and false"),
        ({"theory": "Kantian Deontology"}, "no such parameter"),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_is_allowed(options, part):
    with pytest.raises(SuiteError, match="-T") as refused:
        morebench(**{"data": "sample"} | options)
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


# --- bundled data, log and viewer -----------------------------------------------------------


def test_the_bundled_sets_are_what_their_card_says():
    rows = [s.metadata_as(ScenarioMetadata) for s in morebench(data="sample").dataset]
    assert len(rows) >= 24
    assert all(20 <= len(r.criteria) <= 28 for r in rows)
    assert {r.role for r in rows} == {"ai_advisor", "ai_agent"}
    assert {r.source_group for r in rows} == {"daily_dilemmas", "ai_risk", "expert"}
    assert {r.type for r in rows} == {"short_case", "long_case", "expert_case"}
    assert len({r.context for r in rows}) >= 12
    assert {c.weight for r in rows for c in r.criteria} == {-3, -2, -1, 1, 2, 3}
    assert {c.dimension for r in rows for c in r.criteria} >= set(DIMENSIONS[:5])
    texts = [c.text for r in rows for c in r.criteria]
    assert len(set(texts)) == len(texts)


def test_the_bundled_theory_set_has_two_dilemmas_for_each_theory():
    rows = [s.metadata_as(ScenarioMetadata) for s in morebench_theory(data="sample").dataset]
    theories = [r.theory for r in rows]
    assert sorted(set(theories)) == sorted(theories[::2]) or len(set(theories)) == 5
    assert all(theories.count(t) == 2 for t in theories)
    assert all(20 <= len(r.criteria) <= 28 for r in rows)


def test_metadata_is_plain_json_without_nulls_in_lists(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [3, -2])), always(TRACE), always("yes"))
    sample = read_eval_log(log.location).samples[0]
    for score in sample.scores.values():
        TypeAdapter(JsonValue).validate_python(score.metadata, strict=True)
        assert "null" not in json.dumps(score.metadata)
        assert "I weigh" not in json.dumps(score.metadata), "the judged text stands in it twice"
    facts = sample.scores["rubric_judge"].metadata
    assert facts["judge"] == "mockllm/model"
    assert facts["verdicts"] == {"c0": "yes", "c1": "yes"}
    assert log.eval.task_version == "1-C"
    assert log.eval.metadata["data"]["sha256"]


def test_viewer_columns_are_keys_of_the_scores(tmp_path):
    data = one_case(tmp_path, [3, -2])
    log = run(morebench(data=data, judged="both"), always(TRACE), always("yes"))
    view = log.eval.viewer.task_samples_view
    keys = {f"score__{name}__{key}" for name, s in log.samples[0].scores.items() for key in s.value}
    columns = {c.id for c in view.columns if c.id.startswith("score__")}
    assert columns <= keys
    assert {f"score__rubric_judge__{k}" for k in ("score", "dim_identifying")} <= columns
    assert [c.id for c in view.columns[:2]] == [
        "score__rubric_judge__score",
        "score__rubric_judge_response__response_score",
    ]
    table = log.samples[0].scores["rubric_judge"].explanation
    assert "| yes | +3 | 3 | identifying | Says point 0. |" in table
    assert "| yes | -2 | 0 |" in table


def test_the_judges_scores_come_first_and_each_is_one_row(tmp_path):
    data = one_case(tmp_path, [3])
    log = run(morebench(data=data, judged="both"), always(TRACE), always("yes"))
    names = ["rubric_judge", "rubric_judge_response", "outcome"]
    assert [s.name for s in log.results.scores] == names
    assert list(log.samples[0].scores) == names


def test_headline_is_regular(tmp_path):
    log = run(morebench(data=one_case(tmp_path, [3])), always(TRACE), always("yes"))
    assert (log.results.headline.scorer, log.results.headline.metric) == (
        "rubric_judge",
        "regular",
    )


def test_half_a_surrogate_pair_costs_no_sample(tmp_path):
    said = thinking("I weigh \ud83d both.", "Go \ud83d.")
    log = run(morebench(data=one_case(tmp_path, [1])), always(said), always("yes\ud83d"))
    assert log.status == "success"
    assert log.samples and log.samples[0].scores
    assert log.samples[0].scores["rubric_judge"].value["score"] == 1
    assert log.samples[0].error is None
