"""Asking the judges: every criterion, of every judge, all at once."""

import random
import time
from collections.abc import Iterable, Iterator, Sequence

import anyio
from inspect_ai.model import ChatMessage

from moral_evals.loaders.faults import told
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.loaders.own_prompts import YesNoWords
from moral_evals.loaders.service import address, arguments
from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.judging.call import Answer, Judge
from moral_evals.scorers.judging.models import judge_models, judge_names
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.panel import Ballot, Judgement, combine
from moral_evals.scorers.judging.prompt import (
    judge_messages,
    judge_prompt,
    judge_prompt_sha256,
    own_words,
    rubric_messages,
)
from moral_evals.scorers.judging.rubric_reply import read_verdicts
from moral_evals.scorers.judging.unread import warn_if_all_unread
from moral_evals.scorers.judging.verdict import NO_OWN_WORDS, is_bare, read_verdict
from moral_evals.scorers.judging.verdict_store import StoredReply
from moral_evals.scorers.rubric.aggregate import Verdict
from moral_evals.scorers.rubric.record import Source
from moral_evals.scorers.rubric.repair import Earlier


class JudgeError(RuntimeError):
    """Judge calls failed for good, after all retries: there is no verdict to count."""


async def judge(
    criteria: Sequence[Criterion],
    judged: str,
    options: JudgeOptions | None = None,
    since: float | None = None,
    earlier: Iterable[Earlier] = (),
) -> Judgement:
    """Have every judge in role `grader` decide every criterion, concurrently.

    A failed call stops neither the other criteria nor the other judges: their verdicts are paid
    for, and cached.

    Args:
        criteria: What to check.
        judged: The text to judge, not empty.
        options: How.
        since: When the scorer of this run was made, by `time.monotonic`; None means now. Judging
            that stopped for good after it stays stopped.
        earlier: Judgings of the same text in the log. Of the first with the same judges,
            settings and wording, only what it lacks is asked; of one that lacks nothing, if
            replies are kept at all.
    """
    options = options or JudgeOptions()
    since = time.monotonic() if since is None else since
    judge_prompt(options)  # read here: a task group would hide what is wrong with a checkout
    ask = _by_rubric if options.judge_mode == "rubric" else _by_criterion
    seats = _seats(options, since)
    facts = options.facts() | {"prompt_sha256": judge_prompt_sha256(options)}
    described = [s.ballot.seat() for s in seats]
    alike = next((e for e in earlier if e.record.judged_alike(facts, described)), None)
    # the log serves as the cache does, which a mock or `judge_cache=false` goes without
    if alike and (alike.record.incomplete or all(s.cache for s in seats)):
        for i, (seat, given) in enumerate(zip(seats, alike.record.given(), strict=True)):
            seat.given = given
            if alike.replaced:
                seat.ballot.usage.update(alike.record.paid(i))
    async with anyio.create_task_group() as group:
        for seat in seats:
            group.start_soon(ask, seat, criteria, judged, options)
    for seat in seats:
        warn_if_all_unread(seat.ballot, len(criteria), since)
    return combine([seat.ballot for seat in seats], [c.id for c in criteria])


def _seats(options: JudgeOptions, since: float) -> list[Judge]:
    models = judge_models(options.judges)
    seats = []
    for name, model in zip(judge_names(models), models, strict=True):
        for vote in range(1, options.votes + 1):
            cache = VerdictCache.of(model, name, vote) if options.judge_cache else None
            ballot = Ballot(
                name,
                vote,
                # headers hold keys
                settings=arguments(model.config.model_dump(exclude_none=True)),
                model_args=arguments(model.model_args),
                base_url=address(model.api.base_url),
            )
            seats.append(Judge(model, options.judge_attempts, cache, ballot, since))
    return seats


def asked_order(criteria: Sequence[Criterion], seed: int) -> list[Criterion]:
    """The order in which a whole rubric is shown: seeded, and the same for every judge."""
    order = list(criteria)
    # the ids make it differ from rubric to rubric, so that no rank is favoured over a run
    random.Random(f"{seed}|{'|'.join(c.id for c in criteria)}").shuffle(order)
    return order


async def _by_criterion(
    judge: Judge,
    criteria: Sequence[Criterion],
    judged: str,
    options: JudgeOptions,
    source: Source = "criterion",
) -> None:
    texts = [c.text for c in criteria]
    conversations = judge_messages(judge_prompt(options), judged, texts)
    own = own_words(options)

    def read(reply: str, cut: bool) -> Verdict | None:
        return one_verdict(reply, cut, own)

    async def ask(
        criterion: Criterion, messages: list[ChatMessage], key: str, stored: StoredReply | None
    ) -> None:
        ballot = judge.ballot
        if stored is None and (given := judge.given.get(criterion.id)):
            ballot.take(criterion.id, given)
            return
        try:
            answer: Answer[Verdict] = await judge.ask(messages, read, key, stored)
        except Exception as error:
            ballot.failures[criterion.id] = told(error)
            return
        ballot.sources[criterion.id] = "cache" if answer.cached else source
        if answer.value is None:
            ballot.verdicts[criterion.id] = "ungraded"
            ballot.ungraded[criterion.id] = answer.reason
            ballot.unread[criterion.id] = answer.reply
            return
        ballot.verdicts[criterion.id] = answer.value
        if not is_bare(answer.reply, own):
            ballot.words[criterion.id] = answer.reply

    async with anyio.create_task_group() as group:
        known = judge.look_up(conversations)
        for criterion, messages, (key, stored) in zip(criteria, conversations, known, strict=True):
            group.start_soon(ask, criterion, messages, key, stored)


async def _by_rubric(
    judge: Judge, criteria: Sequence[Criterion], judged: str, options: JudgeOptions
) -> None:
    own = own_words(options)

    async def ask(chunk: Sequence[Criterion]) -> None:
        given = [c for c in chunk if c.id in judge.given]
        if len(chunk) == 1 or given:  # a list of one would be answered without a number
            await _by_criterion(judge, chunk, judged, options, "alone")
            return
        messages = rubric_messages(judged, [c.text for c in chunk], options.own_prompt)
        try:
            ((key, stored),) = judge.look_up([messages])
            answer = await judge.ask(
                messages,
                lambda reply, cut: read_verdicts(reply, len(chunk), cut, own) or None,
                key,
                stored,
            )
        except Exception as error:
            judge.ballot.failures |= dict.fromkeys((c.id for c in chunk), told(error))
            return
        said = answer.value or {}
        judge.ballot.verdicts |= {c.id: said[n] for n, c in enumerate(chunk, 1) if n in said}
        judge.ballot.sources |= {c.id: "rubric" for n, c in enumerate(chunk, 1) if n in said}
        missing = [c for n, c in enumerate(chunk, 1) if n not in said]
        judge.ballot.asked_alone += len(missing)
        await _by_criterion(judge, missing, judged, options, "alone")

    async with anyio.create_task_group() as group:
        for chunk in chunks(asked_order(criteria, options.rubric_seed), options.rubric_chunk):
            group.start_soon(ask, chunk)


def chunks(criteria: Sequence[Criterion], most: int) -> Iterator[Sequence[Criterion]]:
    """As few runs of at most `most` criteria as it takes, of nearly equal length."""
    # even sizes: a last call for two criteria would be judged under other conditions
    calls = -(-len(criteria) // most)
    for i in range(calls):
        yield criteria[i * len(criteria) // calls : (i + 1) * len(criteria) // calls]


def one_verdict(reply: str, cut: bool, own: YesNoWords = NO_OWN_WORDS) -> Verdict | None:
    """The verdict of a reply to a single question; of a cut reply only if it is bare."""
    # what was cut off might have said the opposite
    return None if cut and not is_bare(reply, own) else read_verdict(reply, own)
