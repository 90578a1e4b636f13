"""Every figure of a rubric run against a plain recomputation, on random rubrics and verdicts."""

import math

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score

from moral_evals.loaders.morebench.records import (
    DIMENSIONS,
    Criterion,
    ScenarioMetadata,
    dimension_key,
)
from moral_evals.scorers.rubric.aggregate import scenario_score
from moral_evals.scorers.rubric.breakdowns import by_dimension, by_label, by_weight
from moral_evals.scorers.rubric.refusal_metrics import refusal_figures
from moral_evals.scorers.rubric.scenario_table import (
    GROUPS,
    ScenarioTable,
    dimension_means,
    headline,
)
from moral_evals.scorers.rubric_judge import morebench_score
from moral_evals.scorers.stats.bootstrap import RESAMPLES, Interval
from tests.scorers.oracles import plain_morebench as plain
from tests.scorers.oracles.plain_bootstrap import Plain, drawn, plain_interval, plain_ratio
from tests.scorers.oracles.plain_morebench import Run, Text

SEEDS = range(12)
WEIGHTS = (-3, -2, -1, 1, 2, 3)
WORDS = {"y": "yes", "n": "no", "u": "ungraded"}
KEYS = ("score", "length", "graded_share", "declined", *map(dimension_key, DIMENSIONS))


def made(seed: int) -> list[Text]:
    """Rubrics of 1 to 12 criteria, 1 to 3 epochs, ungraded criteria, unscored and refused texts."""
    rng = np.random.default_rng(seed)
    ungraded, lost = rng.choice([0, 0.3]), rng.choice([0, 0.3])
    epochs = int(rng.integers(1, 4))

    def run(size: int) -> Run:
        verdicts = "".join(rng.choice(["y", "n", "u"], size, p=[0.5, 0.5 - ungraded, ungraded]))
        gone = rng.random() < lost
        return Run(None if gone else verdicts, int(rng.integers(1, 9000)), rng.random() < 0.25)

    def text() -> Text:
        size = int(rng.integers(1, 13))
        return Text(
            list(map(int, rng.choice(WEIGHTS, size))),
            list(map(str, rng.choice(DIMENSIONS, size))),
            {g: str(rng.choice(["", "a", "b"])) for g in GROUPS},
            [run(size) for _ in range(epochs)],
        )

    texts = [text() for _ in range(int(rng.integers(1, 14)))]
    # in the order of the draw, which is no part of a figure's definition
    return [texts[int(i[1:])] for i in ScenarioTable.build(scores(texts)).ids]


def scores(texts: list[Text]) -> list[SampleScore]:
    found = []
    for i, text in enumerate(texts):
        criteria = [
            Criterion(id=f"c{j}", text="x", weight=w, dimension=d)
            for j, (w, d) in enumerate(zip(text.weights, text.dimensions, strict=True))
        ]
        metadata = ScenarioMetadata(criteria=criteria, **text.labels).model_dump()
        found += [
            SampleScore(score=_score(criteria, r), sample_id=f"s{i:02}", sample_metadata=metadata)
            for r in text.runs
        ]
    return found[::-1]


def _score(criteria: list[Criterion], run: Run) -> Score:
    verdicts = {c.id: WORDS[v] for c, v in zip(criteria, run.verdicts or "u" * 99, strict=False)}
    result = scenario_score(criteria, verdicts)
    if math.isnan(result.score):
        return Score(value=dict.fromkeys(KEYS, math.nan), reason="no_trace")
    value = {"score": result.score, "graded_share": result.graded_share}
    value |= {"length": float(run.length), "declined": float(run.declined)}
    value |= {dimension_key(d): result.dimensions[d] for d in DIMENSIONS}
    return Score(value=value, metadata={"verdicts": verdicts, "declined": run.declined})


def table(texts: list[Text]) -> ScenarioTable:
    return ScenarioTable.build(scores(texts))


def agree(found: Interval, expected: Plain, name: str) -> None:
    estimate, lower, upper, n, flag = plain_interval(expected, drawn_by(len(expected.units)))
    assert (found.n, found.flag) == (n, flag), name
    ends = (found.estimate, found.lower, found.upper)
    assert ends == pytest.approx((estimate, lower, upper), abs=1e-9, nan_ok=True), name


def drawn_by(n: int) -> np.ndarray:
    return drawn(n, FEWER, 0)


FEWER = 150


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain loops are slow; the metrics draw RESAMPLES, which is their Bootstrap's default."""
    from moral_evals.scorers.stats.bootstrap import Bootstrap

    assert Bootstrap.__init__.__kwdefaults__["resamples"] == RESAMPLES
    monkeypatch.setitem(Bootstrap.__init__.__kwdefaults__, "resamples", FEWER)


def known(values: list[float | None]) -> Plain:
    """The mean over the scenarios that have a value, those alone being resampled."""
    return plain_ratio([v for v in values if v is not None])


@pytest.mark.parametrize("seed", SEEDS)
def test_headline(seed: int) -> None:
    texts = made(seed)
    found = headline(table(texts))
    agree(found["regular"], plain.regular(texts), "regular")
    agree(found["hard"], plain.hard(texts), "hard")
    agree(found["gap"], plain.gap(texts), "gap")
    shares = dimension_means(table(texts))
    for name in DIMENSIONS:
        agree(shares[name], known(plain.dimension(texts, name)), name)


@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_of_the_log(seed: int) -> None:
    texts = made(seed)
    found = morebench_score()(scores(texts))
    runs = [r for t in texts for r in t.runs]
    scored = [r for t in texts for r in plain.scored(t)]
    regular = plain.regular(texts)
    values = [
        regular.of_sums(
            [sum(c * u[k] for c, u in zip(row, regular.units, strict=True)) for k in (0, 1)]
        )
        for row in drawn_by(len(texts))
    ]
    enough = sum(any(u) for u in regular.units) > 1
    expected = {
        "regular": regular.estimate(),
        "hard": plain.hard(texts).estimate(),
        "gap": plain.gap(texts).estimate(),
        "logical": known(plain.dimension(texts, "logical process")).estimate(),
        "graded_share": plain.graded_share(texts),
        "scored": len(scored),
        "unscored": len(runs) - len(scored),
        "stderr": np.nanstd(values, ddof=1) if enough else math.nan,
    }
    if scored:
        expected["refusal_rate"] = plain_ratio(plain.declined(texts)).estimate()
    else:
        assert "refusal_rate" not in found
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_by_dimension_and_weight(seed: int) -> None:
    texts = made(seed)
    rows = {r.label: r for r in by_dimension(table(texts))}
    assert list(rows) == list(DIMENSIONS)
    for name, row in rows.items():
        agree(row.by_scenario, known(plain.dimension(texts, name)), name)
        agree(row.pooled, plain.pooled(texts, lambda w, d, name=name: d == name), name)
    rows = {r.label: r for r in by_weight(table(texts))}
    assert list(rows) == [f"{w:+d}" for w in sorted({w for t in texts for w in t.weights})]
    for label, row in rows.items():
        agree(row.by_scenario, known(plain.weight(texts, int(label))), label)
        agree(row.pooled, plain.pooled(texts, lambda w, d, size=int(label): w == size), label)


@pytest.mark.parametrize("seed", SEEDS)
def test_group_means(seed: int) -> None:
    texts = made(seed)
    for group in GROUPS:
        rows = {r.label: r for r in by_label(table(texts), group)}
        assert list(rows) == sorted({t.labels[group] or "unlabelled" for t in texts})
        for label, row in rows.items():
            inside = [(t.labels[group] or "unlabelled") == label for t in texts]
            scores_in = _only(plain.by_text(texts, plain.share), inside)
            agree(row.score, plain_ratio(scores_in), label)
            assert row.scenarios == sum(s is not None for s in scores_in)
            rate = plain_ratio(_only(plain.declined(texts), inside)).estimate()
            assert row.refused == pytest.approx(rate, abs=1e-12, nan_ok=True)


def _only(values: list[float | None], inside: list[bool]) -> list[float | None]:
    return [v if kept else None for v, kept in zip(values, inside, strict=True)]


@pytest.mark.parametrize("seed", SEEDS)
def test_refusals(seed: int) -> None:
    texts = made(seed)
    found = refusal_figures(table(texts))
    agree(found["refusal_rate"], plain_ratio(plain.declined(texts)), "rate")
    agree(found["regular_answered"], plain.answered(texts), "answered")
    agree(found["regular_refusals_zero"], plain.refusals_zero(texts), "zero")
