"""The judge-agreement metric: a run's verdicts against the labels, with intervals over texts."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from inspect_ai.scorer import Metric, SampleScore, metric

from moral_evals.loaders.tables.judge_pairs import LabelledText
from moral_evals.scorers.rubric.panel_metrics import panel_alpha
from moral_evals.scorers.rubric.record import JudgingRecord
from moral_evals.scorers.stats import agreement
from moral_evals.scorers.stats.agreement import JudgedPair
from moral_evals.scorers.stats.bootstrap import SEED, Array, Bootstrap, Interval, Statistic

JudgedText = tuple[LabelledText, Mapping[str, str]]
"""A text with the verdicts on its pairs, by pair id."""

AgreementFigures = dict[str, Interval | float]

_WITH_INTERVAL = ("macro_f1", "min_macro_f1", "kappa", "yes_bias")
_ALONE = (
    "accuracy", "macro_f1_strict", "ceiling_macro_f1", "ceiling_kappa", "ungraded_share", "pairs",
)  # fmt: skip

GROUPINGS: dict[str, Callable[[LabelledText, int], str]] = {
    "candidate": lambda text, i: text.candidate,
    "role": lambda text, i: text.role,
    "dimension": lambda text, i: text.pairs[i].dimension,
    "sign": lambda text, i: "positive" if text.pairs[i].weight > 0 else "negative",
    "kind": lambda text, i: text.pairs[i].kind,
}
"""By name of a breakdown the label of a text's pair; empty if it has none."""
_CATEGORIES = ("candidate", "role")


@metric(scores="unreduced")
def judge_agreement_figures(seed: int = SEED) -> Metric:
    """The chief figures of `agreement_figures`, and `alpha` for a panel.

    `stderr` is the bootstrap's, of the headline: `min_macro_f1`, or `macro_f1` without categories.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        found = agreement_figures(scores, seed)
        out: dict[str, float] = {}
        for name in _WITH_INTERVAL:
            figure = found.get(name)
            out |= figure.named(name) if isinstance(figure, Interval) else {}
        for name in _ALONE:
            if name in found:
                figure = found[name]
                out[name] = figure.estimate if isinstance(figure, Interval) else float(figure)
        texts = _texts(scores)
        out["stderr"] = Bootstrap(len(texts), seed=seed).stderr(_headline(texts))
        alpha = panel_alpha(scores)
        return out if alpha is None else out | {"alpha": alpha}

    return compute


def agreement_figures(scores: Sequence[SampleScore], seed: int = SEED) -> AgreementFigures:
    """Macro-F1, its minimum over categories, kappa, yes-bias, base rate, counts.

    `min_macro_f1` is taken over candidates and roles, as the paper chose its judge. Ungraded
    pairs are left out of these and counted by `ungraded_share`; `macro_f1_strict` takes each of
    them as wrong. `ceiling_*` compares the two readers where there are two.
    """
    texts = _texts(scores)
    n = len(texts)
    pairs = judged_pairs(texts, lambda text, i: "")
    table = agreement.counts(pairs, n)
    chief: dict[str, Statistic] = {"macro_f1": agreement.macro_f1(table)}
    if categories := _categories(texts):
        chief["min_macro_f1"] = agreement.minimum_macro_f1(categories)
    chief["kappa"] = agreement.kappa(table)
    chief["accuracy"] = agreement.accuracy(table)
    chief["yes_bias"] = agreement.yes_bias(table)
    chief["base_rate"] = agreement.base_rate(table)
    chief["macro_f1_strict"] = agreement.macro_f1(agreement.counts(_strict(pairs), n))
    if second := _second_readers(texts):
        ceiling = agreement.counts(second, n)
        chief["ceiling_macro_f1"] = agreement.macro_f1(ceiling)
        chief["ceiling_kappa"] = agreement.kappa(ceiling)
    ask = Bootstrap(n, seed=seed).interval
    out: AgreementFigures = {name: ask(statistic) for name, statistic in chief.items()}
    ungraded = sum(p.verdict == "ungraded" for p in pairs)
    out["ungraded_share"] = ungraded / len(pairs) if pairs else math.nan
    out["pairs"] = len(pairs)
    return out


@dataclass(frozen=True)
class AgreementRow:
    """One label of a breakdown.

    Attributes:
        macro_f1: With its interval over all texts.
        accuracy: Likewise.
        counts: Pairs by (label, verdict), named as in `agreement.COUNTS`.
    """

    label: str
    macro_f1: Interval
    accuracy: Interval
    counts: dict[str, int]


def agreement_by(
    scores: Sequence[SampleScore], group: str, seed: int = SEED
) -> Iterator[AgreementRow]:
    """Agreement within each label of a grouping of `GROUPINGS`."""
    texts = _texts(scores)
    ask = Bootstrap(len(texts), seed=seed).interval
    for label, table in _tables(texts, group).items():
        sums = zip(agreement.COUNTS, table.sum(axis=0), strict=True)
        counts = {name: int(count) for name, count in sums}
        yield AgreementRow(
            label, ask(agreement.macro_f1(table)), ask(agreement.accuracy(table)), counts
        )


def judged_pairs(
    texts: Sequence[JudgedText],
    group: Callable[[LabelledText, int], str],
) -> list[JudgedPair]:
    """All pairs with their verdicts; `group` names a pair's group from its text and place."""
    return [
        JudgedPair(unit, pair.label, verdicts.get(pair.pair_id, "ungraded"), group(text, i))
        for unit, (text, verdicts) in enumerate(texts)
        for i, pair in enumerate(text.pairs)
    ]


def _texts(scores: Sequence[SampleScore]) -> list[JudgedText]:
    found = []
    for score in scores:
        text = score.sample_metadata_as(LabelledText)
        if text is not None:
            found.append((text, JudgingRecord.of(score.score).verdicts))
    return sorted(found, key=lambda pair: pair[0].text_id)


def _headline(texts: Sequence[JudgedText]) -> Statistic:
    if categories := _categories(texts):
        return agreement.minimum_macro_f1(categories)
    return agreement.macro_f1(agreement.counts(judged_pairs(texts, lambda text, i: ""), len(texts)))


def _categories(texts: Sequence[JudgedText]) -> list[Array]:
    return [t for group in _CATEGORIES for t in _tables(texts, group).values()]


def _tables(texts: Sequence[JudgedText], group: str) -> dict[str, Array]:
    """By label of a grouping its counts, shape (texts, 4)."""
    pairs = judged_pairs(texts, GROUPINGS[group])
    labels = sorted({p.group for p in pairs} - {""})
    return {
        label: agreement.counts([p for p in pairs if p.group == label], len(texts))
        for label in labels
    }


def _strict(pairs: Sequence[JudgedPair]) -> list[JudgedPair]:
    wrong = {"yes": "no", "no": "yes"}
    return [
        JudgedPair(p.unit, p.label, wrong[p.label] if p.verdict == "ungraded" else p.verdict)
        for p in pairs
    ]


def _second_readers(texts: Sequence[JudgedText]) -> list[JudgedPair]:
    return [
        JudgedPair(unit, pair.label, pair.second_label)
        for unit, (text, _) in enumerate(texts)
        for pair in text.pairs
        if pair.second_label is not None
    ]
