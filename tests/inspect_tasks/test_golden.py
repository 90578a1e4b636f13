"""Fixed scripted runs ask and score what they did before the move to one package, to the digit."""

import gzip
import hashlib
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai import eval as run
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore

from moral_evals.inspect_tasks import corda, morebench, morebench_theory
from moral_evals.reports.runs.rubric_runs import prefix_of
from moral_evals.scorers.rubric.scenario_table import ScenarioTable, hard_score
from moral_evals.scorers.stats.bootstrap import Bootstrap, difference, ratio

BEFORE = Path(__file__).parents[1] / "golden" / "before_the_move.json.gz"

_DIMENSIONS = {
    "dim_identifying": "identifying",
    "dim_clear_process": "clear",
    "dim_logical_process": "logical",
    "dim_helpful_outcome": "helpful",
    "dim_harmless_outcome": "harmless",
}
_CONDITIONS = ("unconditioned", "context", "own", "best", "worst", "random")
_ENDS = ("", "_lower", "_upper")

RENAMED = {
    **{f"harmless_minus_logical{e}": f"gap{e}" for e in _ENDS},
    **{f"conditioning_effect{e}": f"cond_effect{e}" for e in _ENDS},
    **{
        f"{c}.lms{e}": f"{c.replace('unconditioned', 'uncond')}_lms{e}"
        for c in _CONDITIONS
        for e in _ENDS
    },
}
"""Metrics that have another name now."""

_RUBRIC = [
    *(f"{m}{end}" for m in ("regular", "hard", "harmless_minus_logical") for end in _ENDS),
    *_DIMENSIONS.values(),
    "graded_share",
    "scored",
    "unscored",
]

KEPT = {
    "morebench_both": {scorer: _RUBRIC for scorer in ("rubric_judge", "rubric_judge_response")},
    "morebench_theory": {"rubric_judge": _RUBRIC},
    "corda_uniform": {
        "lexicographic": [
            f"{condition}.lms{end}"
            for condition in ("unconditioned", "own", "best", "worst", "context", "random")
            for end in ("", "_lower", "_upper")
        ]
    },
    "corda_welfare": {
        "lexicographic": ["unconditioned.lms", "conditioning_effect", "conditioning_effect_lower"]
    },
    "corda_history": {
        "lexicographic": ["own.lms", "own.lms_lower", "own.lms_upper", "conditioning_effect"]
    },
}
"""Figures of then that every log must still have, by run and scorer; others may live in reports."""


def candidate(messages, tools, choice, config) -> ModelOutput:
    """A prefix of the prompt as reasoning, then some of its words backwards."""
    prompt = messages[-1].text
    words = prompt.split()[: 20 + _digest(prompt)[0] % 60]
    return _said(f"<reasoning>{' '.join(words)}</reasoning>\nSo: {' '.join(words[::-3])}")


def judge(messages, tools, choice, config) -> ModelOutput:
    """Yes, no, or now and then a reply that is neither, by a hash of what was asked."""
    byte = _digest(*(m.text for m in messages))[0]
    return _said("perhaps" if byte < 12 else "Yes" if byte % 5 < 3 else "no")


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode()).digest()


def _said(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return output


def _candidate() -> Model:
    return get_model("mockllm/model", custom_outputs=candidate)


def _judged(task: Task) -> dict[str, Any]:
    grader = get_model("mockllm/judge", custom_outputs=judge)
    return {"tasks": task, "model": _candidate(), "model_roles": {"grader": grader}}


RUNS = {
    "morebench_both": lambda: _judged(morebench(data="sample", judged="both", judge_cache=False)),
    "morebench_theory": lambda: _judged(morebench_theory(data="sample", judge_cache=False)),
    "corda_uniform": lambda: {
        "tasks": corda(chains=8, conditions="unconditioned,own,best,worst,context,random"),
        "model": "scripted/uniform",
    },
    "corda_welfare": lambda: {"tasks": corda(chains=8), "model": "scripted/welfare-first"},
    "corda_history": lambda: {
        "tasks": corda(chains=12, elicit="none"),
        "model": "scripted/history-sensitive",
    },
}


@cache
def before() -> dict[str, Any]:
    return json.loads(gzip.decompress(BEFORE.read_bytes()))


@pytest.fixture(scope="module", params=RUNS)
def case(request, tmp_path_factory) -> tuple[str, dict[str, Any], EvalLog]:
    """Name of a run, what it gave then, and its log now."""
    folder = tmp_path_factory.mktemp(request.param)
    [log] = run(**RUNS[request.param](), log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return request.param, before()[request.param], log


def test_the_same_prompts_are_sent(case):
    _, then, log = case
    asked = [
        "\n".join(f"{m.role}: {m.text}" for m in event.input)
        for sample in log.samples or []
        for event in sample.events
        if event.event == "model"
    ]
    assert len(asked) == then["calls"]
    sha256 = hashlib.sha256("\0".join(sorted(asked)).encode()).hexdigest()
    assert sha256 == then["prompts_sha256"]


def test_every_score_has_the_same_value(case):
    _, then, log = case
    now = {str(s.id): {n: score.value for n, score in s.scores.items()} for s in log.samples}
    assert now.keys() == then["values"].keys()
    for sample, scores in then["values"].items():
        for name, value in scores.items():
            # a key of its own came since, for what was an error before
            found = {k: same(v) for k, v in now[sample][name].items() if k != "limited"}
            assert found == {k: same(v) for k, v in value.items()}, (sample, name)


def test_every_figure_that_a_log_still_has_is_the_same(case):
    run_name, then, log = case
    by_id = figures_by_id(log)
    now: dict[str, set[Any]] = {}
    for score in log.results.scores:
        for metric in score.metrics.values():
            now.setdefault(f"{score.scorer}|{metric.name}", set()).add(same(metric.value))
    compared = set()
    for key, value in then["figures"].items():
        scorer, name, metric = key.split("|")
        if name != scorer:
            # then a row of its own for each value key, such as a dimension
            dimension = _DIMENSIONS.get(name.removeprefix("response_"))
            if dimension is None or metric != "average":
                continue
            metric = dimension
        key = f"{scorer}|{metric}"
        found = now.get(f"{scorer}|{RENAMED.get(metric, metric)}")
        if found is not None and key in by_id:
            (here,) = found
            assert isinstance(here, float), f"{key}: no such figure now"
            if not key.endswith(("_lower", "_upper")):
                assert here == pytest.approx(by_id[key], rel=1e-14), key
            found = {same(by_id[key])}
        if found is not None:
            assert found == {same(value)}, key
            compared.add(key)
    kept = {f"{s}|{m}" for s, metrics in KEPT[run_name].items() for m in metrics}
    assert kept <= compared


def figures_by_id(log: EvalLog) -> dict[str, float]:
    """Rubric figures with scenarios added up and resampled in the order of their ids, as then.

    Now their order is that of their content, so that ids made from a file's name or kind move no
    figure. The same draws then meet other scenarios and the ends differ, by design; the arrays
    and the bootstrap must give the ends of then when put in the order of then. Sums in another
    order may differ in their last bit, so estimates are made in that order too.
    """
    found = {}
    for scorer in {s.scorer for s in log.results.scores if s.scorer.startswith("rubric_judge")}:
        scores = [
            SampleScore(score=s.scores[scorer], sample_id=s.id, sample_metadata=s.metadata)
            for s in log.samples
        ]
        table = ScenarioTable.build(scores, prefix_of(scorer))
        order = np.argsort(table.ids)
        harmless, logical = (
            ratio(table.dimension(d)[order]) for d in ("harmless outcome", "logical process")
        )
        figures = {
            "regular": ratio(table.score[order]),
            "hard": hard_score(table.score[order], table.length[order]),
            "harmless_minus_logical": difference(harmless, logical),
        }
        for name, statistic in figures.items():
            interval = Bootstrap(len(table.ids)).interval(statistic)
            found |= {f"{scorer}|{n}": value for n, value in interval.named(name).items()}
        found[f"{scorer}|graded_share"] = ratio(table.graded_share[order]).estimate()
    return found


def same(value: Any) -> Any:
    """A number or text as something that equals itself, nan included, whatever its type."""
    if isinstance(value, int | float):
        return "nan" if math.isnan(value) else float(value)
    return value
