"""A sample's verdicts as a Markdown table, which `inspect view` renders."""

from collections.abc import Mapping, Sequence

from moral_evals.loaders.morebench.records import Criterion
from moral_evals.scorers.judging.panel import Judgement
from moral_evals.scorers.markdown import row, viewer_cell
from moral_evals.scorers.rubric.aggregate import ScenarioScore, fulfilled

# a criterion is shown whole: the longest published ones have some 300 characters
_CRITERION_SHOWN = 2000


def rubric_table(criteria: Sequence[Criterion], result: Judgement, score: ScenarioScore) -> str:
    """One row a criterion: verdict, whether it earns its weight, dimension, text.

    Then the judge's words, if it had any beside its verdicts; of a panel, each judge's vote.
    """
    last = _columns_of_judges(result)
    names = ["verdict", "weight", "earned", "dimension", "criterion", *map(viewer_cell, last)]
    lines = [
        f"Score {score.score:.3f} on {score.graded_share:.0%} of the rubric's weight. "
        "A yes to a criterion of negative weight costs its weight, a no earns it.\n",
        row(names),
        row(["---", "---:", "---:", "---", "---", *["---"] * len(last)]),
    ]
    for c in criteria:
        said = [words.get(c.id, "") for words in last.values()]
        lines.append(
            row(
                [
                    *_figures(c, result),
                    viewer_cell(c.text, _CRITERION_SHOWN),
                    *map(viewer_cell, said),
                ]
            )
        )
    return "\n".join(lines)


def _columns_of_judges(result: Judgement) -> dict[str, Mapping[str, str]]:
    """By heading, what to show beside each criterion id."""
    if not result.single:
        votes = result.votes()
        return {
            _seat(b.judge, b.vote): {c: said[i] for c, said in votes.items()}
            for i, b in enumerate(result.ballots)
        }
    words = {**result.ballots[0].words, **result.ungraded}
    # an empty column would only narrow the others
    return {"judge's words": words} if words else {}


def _figures(c: Criterion, result: Judgement) -> list[str]:
    verdict = result.verdicts.get(c.id, "ungraded")
    earned = "–"
    if verdict != "ungraded":
        earned = f"{abs(c.weight):g}" if fulfilled(c.weight, verdict) else "0"
    return [verdict, f"{c.weight:+g}", earned, c.dimension]


def _seat(judge: str, vote: int) -> str:
    return judge if vote == 1 else f"{judge}, vote {vote}"
