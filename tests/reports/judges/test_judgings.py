"""`moral-reports judgings`: every figure against one worked out from the two judges' rules."""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, EvalScore, read_eval_log, write_eval_log
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Score

from benchmarks.stub_server import _JUDGED, unit
from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import DIMENSIONS, Criterion, ScenarioMetadata
from moral_evals.reports.__main__ import main
from moral_evals.reports.form.document import Report
from moral_evals.reports.judges.compare_judgings import compare_judgings, last_two
from moral_evals.reports.judges.judgings import judgings
from moral_evals.reports.runs.conditions import rubric_conditions
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import mock, output, run, thinking

SCENARIOS, EPOCHS = 4, 2


def first_rule(criterion: str, text: str) -> str:
    said = "yes" if unit("first", criterion, text) < 0.6 else "no"
    return "ungraded" if unit("blank", criterion, text) < 0.05 else said


def second_rule(criterion: str, text: str) -> str:
    said = {"yes": "no", "no": "yes"}[first_rule(criterion, text).replace("ungraded", "no")]
    said = said if unit("flip", criterion, text) < 0.3 else first_rule(criterion, text)
    return "ungraded" if unit("lost", criterion, text) < 0.05 or "(2)" in text else said


def judge(rule: Any, name: str = "model") -> Model:
    def reply(messages: Any, *_: Any) -> Any:
        text = _JUDGED.search(messages[-1].text).group(2)
        if rule is second_rule and "(4)" in text:
            raise RuntimeError("the second judge is down")
        criterion = messages[-1].text.rpartition("Criterion:")[2].strip()
        return output(rule(criterion, text).replace("ungraded", "perhaps"))

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def again(log: EvalLog, rule: Any, action: Any = "append", name: str = "model", **args) -> EvalLog:
    roles = {"grader": [judge(rule, name)]}
    return score(log, rubric_judge(**args), action=action, model_roles=roles, display="none")


def report_on(*paths: str) -> Report:
    return compare_judgings(*last_two(judgings(paths)))


def table(report: Report, name: str) -> dict[str, list[Any]]:
    """Cells by label; an interval by its estimate."""
    (found,) = [t for t in report.tables if t.name == name]
    return {str(r[0]): [getattr(c, "estimate", c) for c in r[1:]] for r in found.rows}


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> EvalLog:
    """A run with two judgings: a third reply without a trace, a fourth that judge 2 fails on."""
    folder = tmp_path_factory.mktemp("logs")
    count = iter(range(100))

    def reply(_: Any) -> Any:
        n = next(count)
        if n == 3:
            return output("No trace at all.")
        return thinking(f"Reply ({n}) weighs it. " * (20 + n), "So be it.")

    task = morebench(data="sample")
    options = {"limit": SCENARIOS, "epochs": EPOCHS, "max_samples": 1, "log_dir": str(folder)}
    log = run(task, mock(reply), judge(first_rule), **options)
    write_eval_log(log, str(folder / "first.eval"))
    both = again(log, second_rule)
    both.location = str(folder / "both.eval")
    write_eval_log(both, both.location)
    return both


def pairs(log: EvalLog) -> list[tuple[str, Criterion, str, str]]:
    """Scenario, criterion and both verdicts of every reply with two judgings, by the rules."""
    found = []
    for sample in log.samples:
        content = sample.output.message.content
        text = content[0].reasoning.strip() if isinstance(content, list) else "(4)"
        if "(4)" not in text:
            for c in sample.metadata_as(ScenarioMetadata).criteria:
                rules = (first_rule(c.text.strip(), text), second_rule(c.text.strip(), text))
                found.append((f"{sample.id}/{sample.epoch}", c, *rules))
    return found


def weighted(rows: list[Any], side: int) -> float:
    known = [r for r in rows if r[side] != "ungraded"]
    won = sum(abs(r[1].weight) for r in known if (r[side] == "yes") == (r[1].weight > 0))
    return won / sum(abs(r[1].weight) for r in known) if known else math.nan


def regulars(log: EvalLog) -> np.ndarray:
    """Both judgings' score of each scenario, over the replies with a number in both."""
    rows, by_scenario = pairs(log), {}
    for key in dict.fromkeys(r[0] for r in rows):
        own = [r for r in rows if r[0] == key]
        both = weighted(own, 2), weighted(own, 3)
        if all(map(math.isfinite, both)):
            by_scenario.setdefault(key.partition("/")[0], []).append(both)
    return np.array([np.mean(v, axis=0) for v in by_scenario.values()])


def test_agreement_is_that_of_the_rules_in_every_group(judged):
    found = table(report_on(judged.location), "agreement")
    groups = {"all criteria": lambda c: True, "positive weight": lambda c: c.weight > 0}
    groups |= {"negative weight": lambda c: c.weight < 0}
    groups |= {d: lambda c, d=d: c.dimension == d for d in DIMENSIONS}
    rows = pairs(judged)
    assert set(found) == {g for g, keep in groups.items() if any(keep(r[1]) for r in rows)}
    assert len(found) >= 7
    for group, (same, kappa, gap, n) in found.items():
        kept = [r[2:] for r in rows if groups[group](r[1]) and "ungraded" not in r[2:]]
        yes = [sum(r[side] == "yes" for r in kept) / len(kept) for side in (0, 1)]
        want = sum(a == b for a, b in kept) / len(kept)
        chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
        assert n == len(kept)
        assert same == pytest.approx(want, abs=1e-12)
        expected = (want - chance) / (1 - chance) if chance < 1 else math.nan
        assert kappa == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert gap == pytest.approx(yes[1] - yes[0], abs=1e-12)


def test_flips_count_every_pair_of_verdicts(judged):
    seen, words = Counter(r[2:] for r in pairs(judged)), ("yes", "no", "ungraded")
    assert min(seen[a, b] for a in words[:2] for b in words) > 0
    want = {f"first: {a}": [seen[a, b] for b in words] for a in words}
    assert table(report_on(judged.location), "flips") == want


def test_scores_and_their_drift_are_those_of_the_formulas(judged):
    report, want = report_on(judged.location), regulars(judged)
    sides, gaps = table(report, "judgings"), want[:, 1] - want[:, 0]
    assert [sides[s][3] for s in ("first", "second")] == pytest.approx(want.mean(axis=0))
    drift = [gaps.mean(), np.abs(gaps).mean(), np.abs(gaps).max()]
    assert [v for (v,) in table(report, "score_changes").values()] == pytest.approx(drift)
    (interval,) = [r[1] for t in report.tables for r in t.rows if r[0].startswith("Regular")]
    assert interval.n == len(want) == SCENARIOS
    assert math.isnan(interval.lower) and math.isnan(interval.upper), "ends from four scenarios"


def test_replies_without_a_score_are_counted_apart(judged):
    sides = table(report_on(judged.location), "judgings")
    # no trace in one; then also the one that judge 2 fails on and the one it has no word on
    assert [sides[s][4:] for s in ("first", "second")] == [[7, 1], [5, 3]]
    assert any("1 replies scored once only, 0 whose" in n for n in report_on(judged.location).notes)


def test_calls_are_those_that_the_judges_were_asked(judged):
    rows, found = pairs(judged), table(report_on(judged.location), "calls")
    down = next(s for s in judged.samples if s.scores["rubric_judge1"].reason == "grader_failed"
                and "down" in s.scores["rubric_judge1"].explanation)  # fmt: skip
    texts = [c.text for c in down.metadata_as(ScenarioMetadata).criteria]
    lost = [first_rule(t.strip(), down.scores["rubric_judge"].answer) for t in texts]
    first = sum(1 + 2 * (v == "ungraded") for v in [*(r[2] for r in rows), *lost])
    second = sum(1 + 2 * (r[3] == "ungraded") for r in rows)
    assert found["calls"] == [first, second, pytest.approx(1 - second / first)]
    assert found["output tokens"][:2] == [5 * first, 5 * second]


def test_two_logs_are_compared_like_two_scores_of_one(judged, tmp_path, capsys):
    old, new = judged.location.replace("both", "first"), str(tmp_path / "again.eval")
    write_eval_log(again(read_eval_log(old), second_rule, "overwrite"), new)
    assert report_on(old, new).tables == report_on(judged.location).tables
    names = "rubric_judge of first.eval and rubric_judge of again.eval"
    assert report_on(old, new).title.endswith(names)
    assert main(["judgings", old, new, "--format", "markdown"]) == 0
    assert "| positive weight |" in capsys.readouterr().out


def test_judgings_of_different_texts_are_refused(judged, tmp_path, capsys):
    other = str(tmp_path / "other.eval")
    write_eval_log(again(read_eval_log(judged.location), first_rule, judged="response"), other)
    assert main(["judgings", other]) == 1
    said = capsys.readouterr().err
    assert "judged no text in common: 7 replies have the same sample and epoch" in said
    assert len(said.splitlines()) == 1


def test_a_reply_whose_text_differs_is_left_out_and_counted(judged):
    first, second = judgings([judged.location])
    key = next(k for k in second.replies if k in first.replies)
    changed = replace(second.replies[key], text="Something else.")
    report = compare_judgings(first, replace(second, replies={**second.replies, key: changed}))
    assert any(", 1 whose judged text is not the same" in note for note in report.notes)
    whole = table(compare_judgings(first, second), "flips").values()
    part = table(report, "flips").values()
    assert sum(map(sum, whole)) - sum(map(sum, part)) == len(changed.criteria)


def test_fewer_than_two_judgings_are_refused(judged, tmp_path, capsys):
    bare = read_eval_log(judged.location)
    bare.results.scores = [s for s in bare.results.scores if s.scorer == "outcome"]
    write_eval_log(bare, str(tmp_path / "bare.eval"))
    assert main(["judgings", str(tmp_path / "bare.eval")]) == 1
    refused = capsys.readouterr().err
    assert "nothing to report. Left out: " in refused
    assert "bare.eval: no score of this suite" in refused
    assert main(["judgings", judged.location, "--scorer", "rubric_judge1"]) == 1
    assert "found: rubric_judge1 of both.eval." in capsys.readouterr().err


def test_a_judging_without_any_verdict_says_so(judged):
    first, second = judgings([judged.location])
    with pytest.raises(SuiteError, match="holds no verdicts: none of 3 replies"):
        compare_judgings(first, replace(second, replies={}))


def test_conditions_that_changed_are_named(judged, tmp_path):
    same = next(n for n in report_on(judged.location).notes if n.startswith("Changed"))
    assert same == "Changed between the two: nothing that a log records"
    path = str(tmp_path / "other.eval")
    log = read_eval_log(judged.location)
    write_eval_log(again(log, first_rule, name="strict", votes=2, judge_attempts=1), path)
    (note,) = [n for n in report_on(path).notes if n.startswith("Changed")]
    assert "judge (mockllm/model → mockllm/strict); " in note
    assert "judge mode (criterion → criterion, 2 votes)" in note
    assert "judge prompts" not in note


def test_a_judge_is_the_same_where_a_summary_left_its_settings_out(judged):
    seats = [{"model": m, "settings": {"temperature": 1.0, "timeout": 9}} for m in ("a/x", "b/y")]
    both = {"judged": "trace", "judge": "a/x + b/y"}
    known = Score(value=1, metadata={**both, "judges": seats})
    left_out = Score(value=1, metadata={**both, "judges": "Key removed (> 1k)"})
    entry = EvalScore(name="rubric_judge", scorer="rubric_judge")
    found = [rubric_conditions(judged, entry, s).judge for s in ([known, left_out], [left_out])]
    assert found == ["a/x (temperature=1.0) + b/y (temperature=1.0)", "a/x + b/y"]


def test_a_judging_agrees_with_itself(judged):
    first, _ = judgings([judged.location])
    report = compare_judgings(first, first)
    assert table(report, "agreement")["all criteria"][:3] == [1, 1, 0]
    assert [v for (v,) in table(report, "score_changes").values()] == [0, 0, 0]
    assert all(saved == 0 for _, _, saved in table(report, "calls").values())
