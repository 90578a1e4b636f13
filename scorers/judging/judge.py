"""Asking the judges: every criterion, of every judge, all at once."""

import random
from collections.abc import Iterator, Sequence

import anyio
from inspect_ai.model import ChatMessage

from moral_evals.loaders.errors import first_line
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.judging.call import Answer, Judge
from moral_evals.scorers.judging.models import judge_models, judge_names
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.panel import Ballot, Judgement, combine
from moral_evals.scorers.judging.prompt import judge_messages, judge_prompt, rubric_messages
from moral_evals.scorers.judging.rubric_reply import read_verdicts
from moral_evals.scorers.judging.verdict import is_bare, read_verdict
from moral_evals.scorers.rubric.aggregate import Verdict


class JudgeError(RuntimeError):
    """Judge calls failed for good, after all retries: there is no verdict to count."""


async def judge(
    criteria: Sequence[Criterion], judged: str, options: JudgeOptions | None = None
) -> Judgement:
    """Have every judge in role `grader` decide every criterion, concurrently.

    A failed call stops neither the other criteria nor the other judges: their verdicts are paid
    for, and cached.

    Args:
        criteria: What to check.
        judged: The text to judge, not empty.
        options: How.
    """
    options = options or JudgeOptions()
    models = judge_models(options.judges)
    judge_prompt(options)  # read here: a task group would hide what is wrong with a checkout
    ask = _by_rubric if options.judge_mode == "rubric" else _by_criterion
    ballots: list[Ballot] = []
    async with anyio.create_task_group() as group:
        for name, model in zip(judge_names(models), models, strict=True):
            for vote in range(1, options.votes + 1):
                cache = VerdictCache.of(model, name, vote) if options.judge_cache else None
                settings = model.config.model_dump(exclude_none=True)
                ballot = Ballot(name, vote, settings)
                ballots.append(ballot)
                seat = Judge(model, options.judge_attempts, cache, ballot)
                group.start_soon(ask, seat, criteria, judged, options)
    return combine(ballots, [c.id for c in criteria])


def asked_order(criteria: Sequence[Criterion], seed: int) -> list[Criterion]:
    """The order in which a whole rubric is shown: seeded, and the same for every judge."""
    order = list(criteria)
    # the ids make it differ from rubric to rubric, so that no rank is favoured over a run
    random.Random(f"{seed}|{'|'.join(c.id for c in criteria)}").shuffle(order)
    return order


async def _by_criterion(
    judge: Judge, criteria: Sequence[Criterion], judged: str, options: JudgeOptions
) -> None:
    texts = [c.text for c in criteria]
    conversations = judge_messages(judge_prompt(options), judged, texts)

    async def ask(criterion: Criterion, messages: list[ChatMessage]) -> None:
        ballot = judge.ballot
        try:
            answer: Answer[Verdict] = await judge.ask(messages, one_verdict)
        except Exception as error:
            ballot.failures[criterion.id] = f"{type(error).__name__}: {first_line(error)}"
            return
        if answer.value is None:
            ballot.verdicts[criterion.id] = "ungraded"
            ballot.ungraded[criterion.id] = answer.reason
            return
        ballot.verdicts[criterion.id] = answer.value
        if not is_bare(answer.reply):
            ballot.words[criterion.id] = answer.reply

    async with anyio.create_task_group() as group:
        for criterion, messages in zip(criteria, conversations, strict=True):
            group.start_soon(ask, criterion, messages)


async def _by_rubric(
    judge: Judge, criteria: Sequence[Criterion], judged: str, options: JudgeOptions
) -> None:
    async def ask(chunk: Sequence[Criterion]) -> None:
        if len(chunk) == 1:  # a list of one would be answered without a number
            await _by_criterion(judge, chunk, judged, options)
            return
        messages = rubric_messages(judged, [c.text for c in chunk])
        try:
            answer = await judge.ask(
                messages, lambda reply, cut: read_verdicts(reply, len(chunk), cut) or None
            )
        except Exception as error:
            problem = f"{type(error).__name__}: {first_line(error)}"
            judge.ballot.failures |= dict.fromkeys((c.id for c in chunk), problem)
            return
        said = answer.value or {}
        judge.ballot.verdicts |= {c.id: said[n] for n, c in enumerate(chunk, 1) if n in said}
        missing = [c for n, c in enumerate(chunk, 1) if n not in said]
        judge.ballot.asked_alone += len(missing)
        await _by_criterion(judge, missing, judged, options)

    async with anyio.create_task_group() as group:
        for chunk in chunks(asked_order(criteria, options.rubric_seed), options.rubric_chunk):
            group.start_soon(ask, chunk)


def chunks(criteria: Sequence[Criterion], most: int) -> Iterator[Sequence[Criterion]]:
    """As few runs of at most `most` criteria as it takes, of nearly equal length."""
    # even sizes: a last call for two criteria would be judged under other conditions
    calls = -(-len(criteria) // most)
    for i in range(calls):
        yield criteria[i * len(criteria) // calls : (i + 1) * len(criteria) // calls]


def one_verdict(reply: str, cut: bool) -> Verdict | None:
    """The verdict of a reply to a single question; of a cut reply only if it is bare."""
    # what was cut off might have said the opposite
    return None if cut and not is_bare(reply) else read_verdict(reply)
