"""One upstream scenario as a sample of a log, and its judgements as a rubric score."""

import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from inspect_ai.log import EvalSample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score

from moral_evals.loaders.reply import read_reply
from moral_evals.loaders.upstream.rows import JudgementRow
from moral_evals.loaders.upstream.scenarios import UpstreamScenario
from moral_evals.scorers.judging.options import JudgeOptions
from moral_evals.scorers.judging.panel import Ballot, Judgement, combine
from moral_evals.scorers.judging.verdict import is_bare, read_verdict
from moral_evals.scorers.rubric.judged_text import JudgedPart, judged_text
from moral_evals.scorers.rubric.record import RubricRecord
from moral_evals.scorers.rubric.score import scored, unscored

ImportedTrace = Literal["raw", "summary"]


@dataclass(frozen=True)
class UpstreamReading:
    """How upstream's rows are read where the rows themselves do not say it.

    Attributes:
        judged: Which text the judgements are about.
        judge: The judge's name.
        model: The candidate's name in the log, which Inspect must be able to resolve.
        trace_kind: Whether upstream's traces are raw reasoning or a provider's summaries.
    """

    judged: JudgedPart
    judge: str
    model: str
    trace_kind: ImportedTrace


def imported_sample(scenario: UpstreamScenario, reading: UpstreamReading) -> EvalSample:
    """The sample without scores."""
    dilemma = scenario.generation.dilemma if scenario.generation else ""
    output = _output(scenario, reading)
    asked: list[ChatMessage] = [ChatMessageUser(content=dilemma)] if dilemma else []
    usage = {reading.model: output.usage} if output.usage else {}
    judge = _judge_usage(scenario)
    return EvalSample(
        id=scenario.id,
        epoch=scenario.epoch,
        input=dilemma,
        target="",
        messages=[*asked, output.choices[0].message],
        output=output,
        metadata=scenario.metadata(),
        model_usage=usage,
        role_usage={
            "grader": ModelUsage(
                input_tokens=judge["input_tokens"],
                output_tokens=judge["output_tokens"],
                total_tokens=judge["input_tokens"] + judge["output_tokens"],
            )
        },
        uuid=uuid.uuid4().hex,
    )


def imported_score(
    scenario: UpstreamScenario, sample: EvalSample, reading: UpstreamReading
) -> Score:
    """The score of upstream's judgements, read by this suite's rule.

    A text is scored if it is not blank, exactly as upstream judged it.
    """
    reply = read_reply(sample.output)
    judgement = _judgement(scenario, reading.judge)
    record = RubricRecord(
        judged=reading.judged,
        trace_kind=reply.trace_kind,
        **JudgeOptions(protocol="upstream").facts(),
        judge=judgement.judge,
        judges=[b.seat() for b in judgement.ballots],
        judge_usage=judgement.usage,
        imported=True,
    )
    if not scenario.rows:
        problem = "The judgement file has nothing on this reply."
        return unscored("not_judged", reply.trace or reply.response, record, problem)
    text = scenario.rows[0].response or ""
    if not text.strip():
        reason = judged_text(reply, reading.judged).reason
        return unscored(reason, reply.response or reply.trace, record)
    return scored(scenario.criteria, text, judgement, record)


def unread(row: JudgementRow) -> str:
    """Why a judge's reply gives no verdict, in the words of a live run; empty if it gives one."""
    if row.judgement is None or not row.judgement.strip():
        return "judge_empty"
    return "" if read_verdict(row.judgement) else "judge_unclear"


def _judgement(scenario: UpstreamScenario, judge: str) -> Judgement:
    ballot = Ballot(judge, usage=_judge_usage(scenario))
    for row, criterion in zip(scenario.rows, scenario.row_criteria, strict=True):
        if not criterion:  # of weight 0
            continue
        reply = row.judgement or ""
        verdict = read_verdict(reply)
        if verdict is None:
            ballot.verdicts[criterion] = "ungraded"
            ballot.ungraded[criterion] = unread(row)
            continue
        ballot.verdicts[criterion] = verdict
        if not is_bare(reply):
            ballot.words[criterion] = reply
    names = [c.id for c in scenario.criteria]
    ballot.ungraded |= {c: "not_judged" for c in names if c not in ballot.verdicts}
    return combine([ballot], names)


def _judge_usage(scenario: UpstreamScenario) -> Counter[str]:
    return Counter(
        calls=len(scenario.rows),
        input_tokens=sum(r.judge_input_tokens or 0 for r in scenario.rows),
        output_tokens=sum(r.judge_output_tokens or 0 for r in scenario.rows),
    )


def _output(scenario: UpstreamScenario, reading: UpstreamReading) -> ModelOutput:
    trace, response = reply_texts(scenario, reading.judged)
    content: list[Content] = []
    if trace.strip():
        summary = reading.trace_kind == "summary"
        block = ContentReasoning(reasoning="", summary=trace) if summary else None
        content.append(block or ContentReasoning(reasoning=trace))
    content.append(ContentText(text=response))
    model = scenario.labels.model
    message = ChatMessageAssistant(content=content, model=model, source="generate")
    choice = ChatCompletionChoice(message=message, stop_reason="stop")
    return ModelOutput(model=model, choices=[choice], usage=_usage(scenario))


def reply_texts(scenario: UpstreamScenario, judged: JudgedPart) -> tuple[str, str]:
    """Trace and response; without a generation file only the judged one of them is known."""
    if scenario.generation:
        return scenario.generation.thinking_trace or "", scenario.generation.model_resp or ""
    text = scenario.rows[0].response or ""
    return (text, "") if judged == "trace" else ("", text)


def _usage(scenario: UpstreamScenario) -> ModelUsage | None:
    row = scenario.labels
    if row.input_tokens is None or row.output_tokens is None:
        return None
    return ModelUsage(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        total_tokens=row.input_tokens + row.output_tokens,
        reasoning_tokens=row.reasoning_tokens,
    )
