"""Does a reply decline the dilemma? An optional question to the judge, beside the stop reason."""

from dataclasses import replace

from loaders.records import Criterion
from loaders.reply import Reply
from scorers.judge import JudgeError, judge
from scorers.judge_options import JudgeOptions
from scorers.judge_prompt import declined_statement


async def declines(reply: Reply, options: JudgeOptions) -> bool | None:
    """Whether the judges find that a reply declines; None if they give no verdict.

    The response is what they read, since that is what a user would see; the trace stands in for
    a missing one. Asked like a criterion, in a call of its own.

    Raises JudgeError if the call fails for good.
    """
    statement = Criterion(id="declined", text=declined_statement(), weight=-1, dimension="other")
    result = await judge(
        [statement], reply.response or reply.trace, replace(options, judge_mode="criterion")
    )
    if result.failures:
        raise JudgeError(f"judge {result.judge} on refusal: {result.failures['declined']}")
    return {"yes": True, "no": False}.get(result.verdicts["declined"])
