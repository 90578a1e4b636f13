"""A sample's verdicts as a Markdown table, which `inspect view` renders."""

from collections.abc import Sequence

from loaders.records import Criterion
from scorers.aggregate import ScenarioScore, fulfilled
from scorers.markdown import cell, row
from scorers.panel import Judgement

# a criterion is shown whole: the longest published ones have some 300 characters
_CRITERION_SHOWN = 2000


def rubric_table(criteria: Sequence[Criterion], result: Judgement, score: ScenarioScore) -> str:
    """One row a criterion: verdict, whether it earns its weight, dimension, text, judge's words.

    A panel has a column for each judge in place of the words.
    """
    names = [_seat(b.judge, b.vote) for b in result.ballots]
    votes = result.votes()
    last = ["judge's words"] if result.single else [cell(n) for n in names]
    lines = [
        f"Score {score.score:.3f} on {score.graded_share:.0%} of the rubric's weight. "
        "A yes to a criterion of negative weight costs its weight, a no earns it.\n",
        row(["verdict", "weight", "earned", "dimension", "criterion", *last]),
        row(["---", "---:", "---:", "---", "---", *["---"] * len(last)]),
    ]
    for c in criteria:
        said = [_words(result, c.id)] if result.single else list(votes[c.id])
        lines.append(row([*_figures(c, result), cell(c.text, _CRITERION_SHOWN), *map(cell, said)]))
    return "\n".join(lines)


def _figures(c: Criterion, result: Judgement) -> list[str]:
    verdict = result.verdicts.get(c.id, "ungraded")
    earned = "–"
    if verdict != "ungraded":
        earned = f"{abs(c.weight):g}" if fulfilled(c.weight, verdict) else "0"
    return [verdict, f"{c.weight:+g}", earned, c.dimension]


def _words(result: Judgement, criterion: str) -> str:
    return result.ungraded.get(criterion) or result.ballots[0].words.get(criterion, "")


def _seat(judge: str, vote: int) -> str:
    return judge if vote == 1 else f"{judge}, vote {vote}"
