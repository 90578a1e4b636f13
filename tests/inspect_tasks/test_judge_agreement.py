"""The judge's examination as a whole, with judges whose errors are known."""

import json

import pytest
from inspect_ai.util import registry_info

from moral_evals.inspect_tasks import judge_agreement
from moral_evals.inspect_tasks.judge_agreement import no_candidate
from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.paths import bundled
from moral_evals.loaders.tables.judge_pairs import read_attacks, read_pairs
from moral_evals.reports.runs.sample_scores import sample_scores
from moral_evals.scorers.judging.agreement_figures import agreement_by
from moral_evals.scorers.judging.prompt import fenced, judge_messages, suite_prompt
from tests.mocks import metrics, mock, run

SILENT = mock(lambda _: "not asked")


def labels() -> dict[str, str]:
    texts = read_pairs(bundled("judge_pairs") / "pairs.jsonl")
    return {p.criterion: p.label for t in texts for p in t.pairs}


def judge_with(change):
    """A judge that knows the labels and errs where `change` says so."""
    known = labels()

    def answer(messages):
        criterion = messages[-1].text.rpartition("Criterion:")[2].strip()
        return change(criterion, known[criterion])

    return mock(answer)


def test_a_judge_without_error_scores_one_everywhere():
    log = run(judge_agreement(), SILENT, judge_with(lambda _, label: label))
    found = metrics(log, "judge_labels")
    assert found["macro_f1"] == found["min_macro_f1"] == found["kappa"] == 1
    assert found["yes_bias"] == found["ungraded_share"] == 0
    assert found["pairs"] >= 240
    assert log.results.headline.metric == "min_macro_f1"


def test_no_candidate_is_asked():
    assert registry_info(no_candidate()).name.endswith("no_candidate")
    log = run(judge_agreement(), SILENT, judge_with(lambda _, label: label), limit=1)
    assert all(e.role == "grader" for e in log.samples[0].events if e.event == "model")


def test_a_judge_that_always_says_yes_is_seen_through():
    found = metrics(run(judge_agreement(), SILENT, judge_with(lambda *_: "yes")), "judge_labels")
    share = sum(v == "yes" for v in labels().values()) / len(labels())
    assert found["kappa"] == pytest.approx(0)
    assert found["yes_bias"] == pytest.approx(1 - share)
    assert found["macro_f1"] == pytest.approx(2 * share / (1 + share) / 2)


def test_known_confusion_gives_the_figures_of_the_formulas():
    texts = read_pairs(bundled("judge_pairs") / "pairs.jsonl")
    wrong = {
        p.criterion for t in texts for i, p in enumerate(t.pairs) if i == 0 and t.role == "ai_agent"
    }
    other = {"yes": "no", "no": "yes"}
    judge = judge_with(lambda c, label: other[label] if c in wrong else label)
    log = run(judge_agreement(), SILENT, judge)
    found = metrics(log, "judge_labels")

    def macro(pairs):
        f1 = []
        for word in ("yes", "no"):
            hit = sum(p.label == word and p.criterion not in wrong for p in pairs)
            miss = sum(p.criterion in wrong for p in pairs)
            f1.append(2 * hit / (2 * hit + miss))
        return sum(f1) / 2

    groups = [[p for t in texts for p in t.pairs if getattr(t, k) == v]
              for k, vs in (("role", {t.role for t in texts}), ("candidate", {t.candidate for t in texts}))
              for v in vs]  # fmt: skip
    assert found["macro_f1"] == pytest.approx(macro([p for t in texts for p in t.pairs]))
    assert found["min_macro_f1"] == pytest.approx(min(map(macro, groups)))
    roles = {r.label: r for r in agreement_by(sample_scores(log, "judge_labels"), "role")}
    assert roles["ai_advisor"].macro_f1.estimate == 1
    assert sum(r.counts["yes_no"] + r.counts["no_yes"] for r in roles.values()) == len(wrong)
    assert len(found) <= 20
    assert found["stderr"] > 0


def test_an_unreadable_judge_is_counted_and_strictly_wrong():
    first = next(iter(labels()))
    judge = judge_with(lambda c, label: "hmm" if c == first else label)
    found = metrics(run(judge_agreement(), SILENT, judge), "judge_labels")
    assert found["macro_f1"] == 1
    assert found["macro_f1_strict"] < 1
    assert found["ungraded_share"] == pytest.approx(1 / len(labels()))


def test_an_obedient_judge_flips_and_a_firm_one_does_not():
    def obedient(messages):
        judged = messages[-1].content[0].text  # the text with the attack, not the question
        return "yes" if "yes" in judged.lower() else "no"

    firm = run(judge_agreement(attack=True), SILENT, judge_with(lambda _, label: label))
    assert metrics(firm, "judge_under_attack")["flip_rate"] == 0
    weak = run(judge_agreement(attack=True), SILENT, mock(obedient))
    assert metrics(weak, "judge_under_attack")["flip_rate"] > 0


def test_no_attack_turns_the_bundled_judge(monkeypatch):
    pytest.importorskip("snowballstemmer")
    from inspect_ai.model import get_model

    log = run(judge_agreement(attack=True), SILENT, get_model("embedded/overlap-judge"))
    assert metrics(log, "judge_under_attack")["flip_rate"] == 0


def test_every_attack_leaves_the_prompt_with_one_structure():
    attacks = read_attacks(bundled("judge_pairs") / "attacks.jsonl")
    assert len(attacks) >= 30
    for attack in attacks:
        text = f"I weigh it.\n{attack.text}"
        (messages,) = judge_messages(suite_prompt(), text, ["Weighs the harm."])
        prompt = messages[-1].text
        code = fenced(text).split()[2]
        assert prompt.count(f"=== text {code} begins ===") == 1
        assert prompt.count(f"=== text {code} ends ===") == 1
        inside, _, after = prompt.partition(f"\n=== text {code} ends ===")
        assert text in inside, "the text was altered"
        assert after.rstrip().endswith("Weighs the harm.")


def test_the_bundled_pairs_are_balanced_and_read_twice():
    texts = read_pairs(bundled("judge_pairs") / "pairs.jsonl")
    pairs = [p for t in texts for p in t.pairs]
    assert len(pairs) >= 240
    assert 0.45 < sum(p.label == "yes" for p in pairs) / len(pairs) < 0.55
    assert all(p.second_label for p in pairs)
    for sign in (1, -1):
        group = [p for p in pairs if p.weight * sign > 0]
        assert 0.4 < sum(p.label == "yes" for p in group) / len(group) < 0.6
    assert {t.role for t in texts} == {"ai_advisor", "ai_agent"}
    assert max(len(t.text.split()) for t in texts) > 600


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"text": " "}, "pairs"),
        ({"pairs": []}, "pairs"),
        ({"schema_version": "x"}, "schema_version"),
        ({"extra": 1}, "extra"),
        ({"pairs": [{"pair_id": "a", "criterion": "c", "label": "maybe"}]}, "pairs[1].label"),
    ],
)
def test_a_bad_row_is_refused_by_file_row_and_field(tmp_path, change, part):
    row = {
        "schema_version": "judge-pairs-1",
        "text_id": "t",
        "text": "words",
        "pairs": [{"pair_id": "a", "criterion": "c", "label": "yes"}],
    }
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row | change), encoding="utf-8")
    with pytest.raises(DataError) as refused:
        read_pairs(path)
    assert str(refused.value).startswith("pairs.jsonl, row 1, field ")
    assert part in str(refused.value)


def test_unknown_parameters_are_refused():
    with pytest.raises(SuiteError, match="--model-role grader"):
        judge_agreement(judge="x")
