"""What a run that has not been made will ask of whom: what is likely, and the most.

The most: every question is asked as often as a run may ask it, and every reply has full length. A
judge that thinks to its limit, or must be asked again, can cost many times what is likely.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model_info

from moral_evals.reports.judges.candidate_calls import candidate_calls, most_candidate_calls
from moral_evals.scorers.judging.models import judge_max_tokens
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.plan import Calls, most_calls, planned_calls

# Sizes that earlier runs of reasoning models had; a reader should put in those of their own.
TRACE_CHARS, RESPONSE_CHARS, JUDGE_TOKENS = 6_000, 2_500, 250
CHARS_PER_TOKEN = 4.0


@dataclass(frozen=True)
class Assumed:
    """What models will write.

    Attributes:
        trace: Characters of a thinking trace.
        response: Characters of a response.
        judge_tokens: Tokens that a judge writes in a call, its reasoning included.
        chars_per_token: For all texts.
    """

    trace: int = TRACE_CHARS
    response: int = RESPONSE_CHARS
    judge_tokens: int = JUDGE_TOKENS
    chars_per_token: float = CHARS_PER_TOKEN

    def shown(self, judged: bool) -> str:
        """The assumptions in words; those on judges only if there are any."""
        replies = f"{self.trace:,} characters a trace, {self.response:,} a response, "
        judge = f"{self.judge_tokens} tokens a judge call, " if judged else ""
        return f"{replies}{judge}{self.chars_per_token:g} characters a token"


@dataclass(frozen=True)
class Limits:
    """Tokens that a model may write in a call, where a run sets them; None leaves it as it is.

    Attributes:
        candidate: As `--max-tokens` of a run.
        judge: As `max_tokens` of the judge's role.
    """

    candidate: int | None = None
    judge: int | None = None


@dataclass(frozen=True)
class Most:
    """The most that a part can come to; nan where nothing bounds it.

    Attributes:
        calls: Number of calls.
        chars_in: Characters sent.
        tokens_a_call: Tokens that come back in a call, reasoning included.
    """

    calls: int
    chars_in: float
    tokens_a_call: float


@dataclass(frozen=True)
class Part:
    """The candidate's part in a run, or that of one judge.

    Attributes:
        role: `candidate` or `judge`.
        model: Name of the model.
        likely: Calls if each is answered at once, with replies of the size assumed.
        most: The most that it can come to.
    """

    role: str
    model: str
    likely: Calls
    most: Most

    def times(self, n: int) -> "Part":
        """The same n times over."""
        most = replace(self.most, calls=self.most.calls * n, chars_in=self.most.chars_in * n)
        return replace(self, likely=self.likely.times(n), most=most)


@dataclass(frozen=True)
class RunPlan:
    """A task with what is assumed of a run of it.

    Attributes:
        task: A task of the suite.
        samples: Those that are run.
        assumed: What models will write.
        limits: What they may write, where a run sets it.
        arguments: The task's parameters, for what it does not tell: attempts, checkout, own prompt.
    """

    task: Task
    samples: Sequence[Sample]
    assumed: Assumed
    limits: Limits
    arguments: Mapping[str, Any]

    def parts(self, model: str, judges: Sequence[str]) -> Iterator[Part]:
        """The candidate's part if any, and that of each judge."""
        if self._fact("benchmark") != "judge_agreement":
            yield self._candidate(model)
        if self._fact("judge_mode"):
            yield from (self._judge(judge, model) for judge in judges)

    def _candidate(self, model: str) -> Part:
        written = self.assumed.response
        if self._fact("elicit") != "none":
            written += self.assumed.trace
        most = most_candidate_calls(self.task, self.samples)
        return Part(
            "candidate",
            model or "candidate",
            candidate_calls(self.task, self.samples, written),
            Most(most.calls, most.chars_in, tokens_a_call(model, self.limits.candidate)),
        )

    def _judge(self, judge: str, model: str) -> Part:
        options, assumed = self._options(), self.assumed
        asks = bool(self._fact("ask_refusal"))
        parts = {"response": [assumed.response], "both": [assumed.trace, assumed.response]}
        sizes = parts.get(str(self._fact("judged")), [assumed.trace])
        likely = planned_calls(
            self.samples,
            sizes,
            options,
            assumed.judge_tokens * assumed.chars_per_token,
            (assumed.response or assumed.trace) if asks else None,
        )
        # the judged text is a reply, or the two parts of one: the second is then empty
        reply = tokens_a_call(model, self.limits.candidate) * assumed.chars_per_token
        size = int(reply) if math.isfinite(reply) else 0
        whole = [size, *(0 for _ in sizes[1:])]
        most = most_calls(self.samples, whole, options, size if asks else None)
        known = math.isfinite(reply) or self._fact("benchmark") == "judge_agreement"
        limit = tokens_a_call(judge, self.limits.judge or judge_max_tokens(judge))
        return Part(
            "judge", judge, likely, Most(most.calls, most.chars_in if known else math.nan, limit)
        )

    def _fact(self, name: str) -> Any:
        return (self.task.metadata or {}).get(name)

    def _options(self) -> JudgeOptions:
        # the task tells an own prompt's name, not its file
        names = {f.name for f in fields(JudgeOptions)} - {"judge_prompt"}
        told = {k: v for k, v in (self.task.metadata or {}).items() if k in names}
        told["votes"] = int(self._fact("judge_votes") or 1)
        return JudgeOptions.of(told | dict(self.arguments))


def tokens_a_call(model: str, limit: int | None) -> float:
    """The limit, or without one what the model can write as far as Inspect knows it, else nan."""
    if limit:
        return limit
    info = get_model_info(model) if model else None
    return (info and (info.output_tokens or info.context_length)) or math.nan
