"""Does a reply decline the dilemma? An optional question to the judge, beside the stop reason."""

from dataclasses import replace

from moral_evals.loaders.morebench.records import Criterion
from moral_evals.loaders.reply import Reply
from moral_evals.scorers.judging.judge import JudgeError, judge
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.panel import Judgement
from moral_evals.scorers.judging.prompt import declined_statement

_ID = "declined"


async def ask_declines(
    reply: Reply, options: JudgeOptions, since: float | None = None
) -> Judgement:
    """The judges' word on whether a reply declines; read it with `declined`.

    The response is what they read, since that is what a user would see; the trace stands in for
    a missing one. Asked like a criterion, in a call of its own.

    Raises JudgeError if the call fails for good.
    """
    statement = Criterion(id=_ID, text=declined_statement(), weight=-1, dimension="other")
    result = await judge(
        [statement],
        reply.response or reply.trace,
        replace(options, judge_mode="criterion"),
        since,
    )
    if result.failures:
        raise JudgeError(f"judge {result.judge} on refusal: {result.failures[_ID]}")
    return result


def declined(result: Judgement) -> bool | None:
    """Whether the reply declines; None if the judges gave no verdict."""
    return {"yes": True, "no": False}.get(result.verdicts[_ID])
