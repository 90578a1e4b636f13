"""The judge-agreement metric: a run's verdicts against the labels, with intervals over texts."""

import math
from collections.abc import Callable, Mapping, Sequence

from inspect_ai.scorer import Metric, SampleScore, metric

from moral_evals.loaders.tables.judge_pairs import LabelledText
from moral_evals.scorers.rubric.record import JudgingRecord
from moral_evals.scorers.stats import agreement
from moral_evals.scorers.stats.agreement import JudgedPair
from moral_evals.scorers.stats.bootstrap import SEED, Array, Bootstrap, Statistic

_HEADLINE: dict[str, Callable[[Array], Statistic]] = {
    "macro_f1": agreement.macro_f1,
    "kappa": agreement.kappa,
    "accuracy": agreement.accuracy,
    "yes_bias": agreement.yes_bias,
    "base_rate": agreement.base_rate,
}


@metric(scores="unreduced")
def judge_agreement_figures(seed: int = SEED) -> Metric:
    """Macro-F1, its minimum over categories, kappa, yes-bias and confusion counts.

    `min_macro_f1` is taken over candidates and roles, as the paper chose its judge. Ungraded
    pairs are left out of these and counted by `ungraded_share`; `macro_f1_strict` takes each of
    them as wrong. `ceiling_*` compares the two readers where there are two.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        texts = sorted(_texts(scores), key=lambda pair: pair[0].text_id)
        n = len(texts)
        ask = Bootstrap(n, seed=seed).interval
        out: dict[str, float] = {}

        def add(name: str, statistic: Statistic) -> None:
            out.update(ask(statistic).named(name))

        pairs = judged_pairs(texts, lambda text, pair: "")
        table = agreement.counts(pairs, n)
        add("macro_f1", agreement.macro_f1(table))
        categories = _categories(texts, n)
        if categories:
            add("min_macro_f1", agreement.minimum_macro_f1(list(categories.values())))
        for name, figure in _HEADLINE.items():
            if name != "macro_f1":
                add(name, figure(table))
        add("macro_f1_strict", agreement.macro_f1(agreement.counts(_strict(pairs), n)))
        second = _second_readers(texts)
        if second:
            ceiling = agreement.counts(second, n)
            add("ceiling_macro_f1", agreement.macro_f1(ceiling))
            add("ceiling_kappa", agreement.kappa(ceiling))
        ungraded = sum(p.verdict == "ungraded" for p in pairs)
        out["ungraded_share"] = ungraded / len(pairs) if pairs else math.nan
        out["pairs"] = float(len(pairs))
        out |= {f"macro_f1.{k}": agreement.macro_f1(t).estimate() for k, t in categories.items()}
        return out | _confusion(texts, n)

    return compute


def judged_pairs(
    texts: Sequence[tuple[LabelledText, Mapping[str, str]]],
    group: Callable[[LabelledText, int], str],
) -> list[JudgedPair]:
    """All pairs with their verdicts; `group` names a pair's group from its text and place."""
    return [
        JudgedPair(unit, pair.label, verdicts.get(pair.pair_id, "ungraded"), group(text, i))
        for unit, (text, verdicts) in enumerate(texts)
        for i, pair in enumerate(text.pairs)
    ]


def _texts(scores: Sequence[SampleScore]) -> list[tuple[LabelledText, Mapping[str, str]]]:
    found: list[tuple[LabelledText, Mapping[str, str]]] = []
    for score in scores:
        text = score.sample_metadata_as(LabelledText)
        if text is not None:
            found.append((text, JudgingRecord.of(score.score).verdicts))
    return found


def _categories(
    texts: Sequence[tuple[LabelledText, Mapping[str, str]]], n: int
) -> dict[str, Array]:
    tables: dict[str, Array] = {}
    for kind in ("candidate", "role"):
        pairs = judged_pairs(texts, lambda text, i, kind=kind: getattr(text, kind))  # type: ignore[misc]
        for label in sorted({p.group for p in pairs} - {""}):
            inside = [p for p in pairs if p.group == label]
            tables[f"{kind}.{label}"] = agreement.counts(inside, n)
    return tables


def _confusion(texts: Sequence[tuple[LabelledText, Mapping[str, str]]], n: int) -> dict[str, float]:
    """Counts of (label, verdict) by dimension, sign of weight and kind, and each one's macro-F1."""
    groupings: dict[str, Callable[[LabelledText, int], str]] = {
        "dimension": lambda text, i: text.pairs[i].dimension,
        "sign": lambda text, i: "positive" if text.pairs[i].weight > 0 else "negative",
        "kind": lambda text, i: text.pairs[i].kind,
    }
    out: dict[str, float] = {}
    for name, group in groupings.items():
        pairs = judged_pairs(texts, group)
        for label in sorted({p.group for p in pairs} - {""}):
            table = agreement.counts([p for p in pairs if p.group == label], n)
            key = f"{name}.{label.replace(' ', '_')}"
            sums = dict(zip(agreement.COUNTS, table.sum(axis=0), strict=True))
            out |= {f"{key}.{cell}": float(count) for cell, count in sums.items()}
            out[f"{key}.accuracy"] = agreement.accuracy(table).estimate()
    return out


def _strict(pairs: Sequence[JudgedPair]) -> list[JudgedPair]:
    wrong = {"yes": "no", "no": "yes"}
    return [
        JudgedPair(p.unit, p.label, wrong[p.label] if p.verdict == "ungraded" else p.verdict)
        for p in pairs
    ]


def _second_readers(texts: Sequence[tuple[LabelledText, Mapping[str, str]]]) -> list[JudgedPair]:
    return [
        JudgedPair(unit, pair.label, pair.second_label)
        for unit, (text, _) in enumerate(texts)
        for pair in text.pairs
        if pair.second_label is not None
    ]
