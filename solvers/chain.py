"""Running a rollout: every step of a chain put once, in one condition and one shuffle."""

import time
from typing import Any

import anyio
from inspect_ai.agent import Agent, run
from inspect_ai.model import CachePolicy, ChatMessage, GenerateConfig, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from moral_evals.loaders.corda.rollouts import STEPS_KEY, RolloutMetadata
from moral_evals.loaders.faults import calls_of
from moral_evals.loaders.options import flag, one_of
from moral_evals.loaders.reply import read_reply
from moral_evals.loaders.sent import note_prompts
from moral_evals.loaders.turns import read_turns
from moral_evals.solvers.answers import read_choice
from moral_evals.solvers.chain_prompt import (
    ELICITATIONS,
    chain_prompt_sha256,
    shown_texts,
    step_messages,
)
from moral_evals.solvers.kept import reply_or_error
from moral_evals.solvers.ready import check_ready


class StepError(RuntimeError):
    """A call for a step failed for good; the steps that came back are kept."""


@solver
def answer_chain(
    elicit: str = "tags",
    allow_abstain: bool = False,
    reminders: int = 1,
    agent: Agent | None = None,
) -> Solver:
    """Put the steps of a chain to the candidate, each as a conversation of its own.

    Steps of unconditioned and fixed-history rollouts run side by side; those of `own` one after
    the other, since each is told what was decided before. No reasoning of an earlier step is ever
    shown again: the record names decisions by the options' text alone. After a step without a
    readable answer the next one is told that no decision was recorded.

    Args:
        elicit: `tags` (reasoning in tags, then the answer line), `none` (the line alone) or
            `native` (the line alone; the provider's own reasoning is the trace).
        allow_abstain: Offer `NONE` as an answer.
        reminders: Times that an unreadable reply is asked for again, with a reminder of the form.
        agent: Answers each step, from the same messages, in place of the bare model; its last
            text is read, its trace is that of all its turns (docs/candidates.md).
    """
    one_of("elicit", elicit, ELICITATIONS)
    flag("allow_abstain", allow_abstain)
    since, sha256 = time.monotonic(), chain_prompt_sha256(elicit)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check_ready(state.model)
        rollout = state.metadata_as(RolloutMetadata)
        note_prompts(state.store, sha256)
        runner = _Runner(rollout, state, elicit, allow_abstain, reminders, since, agent)
        try:
            await runner.run()
        finally:
            # also when a call failed: what came back is paid for, and the log should hold it
            state.store.set(STEPS_KEY, [r for r in runner.records if r])
            state.messages = [m for talk in runner.talks for m in talk]
            if runner.outputs:
                state.output = runner.outputs[-1]
        if runner.limit:
            raise runner.limit
        if runner.failures:
            raise StepError(runner.failures[0])
        return state

    return solve


class _Runner:
    """One rollout in the making."""

    def __init__(
        self,
        rollout: RolloutMetadata,
        state: TaskState,
        elicit: str,
        allow_abstain: bool,
        reminders: int,
        since: float,
        agent: Agent | None,
    ) -> None:
        self.rollout, self.state, self.elicit, self.since = rollout, state, elicit, since
        self.allow_abstain, self.reminders, self.agent = allow_abstain, reminders, agent
        steps = len(rollout.chain.steps)
        self.records: list[dict[str, Any]] = [{} for _ in range(steps)]
        self.talks: list[list[ChatMessage]] = [[] for _ in range(steps)]
        self.outputs: list[ModelOutput] = []
        self.failures: list[str] = []
        self.limit: LimitExceededError | None = None

    async def run(self) -> None:
        indices = range(len(self.records))
        if self.rollout.condition == "own":
            for index in indices:
                await self.step(index)
                if self.failures or self.limit:
                    return  # later steps hang on this one's decision
            return
        async with anyio.create_task_group() as group:
            for index in indices:
                group.start_soon(self.step, index)

    async def step(self, index: int) -> None:
        try:
            self.records[index] = await self.ask(index)
        except LimitExceededError as limit:
            self.limit = limit  # the user's own limit ends the rollout, and is no failure
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"[:300]
            self.failures.append(f"step {self.rollout.chain.steps[index].step_id}: {problem}")

    async def ask(self, index: int) -> dict[str, Any]:
        """Ask one step, again with a reminder if the reply cannot be read, and record it."""
        status, label, reminded, reply = "unparsed", "", 0, None
        for attempt in range(1 + self.reminders):
            messages = step_messages(
                self.rollout, index, self.decisions(), self.elicit, self.allow_abstain,
                reminder=attempt > 0,
            )  # fmt: skip
            if self.agent:
                said, output = await self.call_agent(messages)
            else:
                output, problem = await self.call(messages, f"{index}.{attempt}")
                if problem:
                    self.outputs.append(output)
                    raise StepError(problem)
                said = [output.message]
            self.outputs.append(output)
            reply = read_turns(said, output, self.state.model.api)
            self.talks[index] += [*messages, *said]
            reminded = attempt
            if reply.refused:
                status = "refused"
                break
            if reply.truncated:
                status = "truncated"
                break
            status, label = read_choice(reply, shown_texts(self.rollout, index))
            if status != "unparsed":
                break
        assert reply is not None
        record = {
            "step_id": self.rollout.chain.steps[index].step_id,
            "status": status,
            "reminders": reminded,
            "trace_kind": reply.trace_kind,
            "trace_characters": len(reply.trace),
        }
        if status == "answered":
            shown = self.rollout.shown[index]
            record["chosen"] = next(o.option_id for o in shown if o.label == label)
            record["label"] = label
        return record

    async def call_agent(
        self, messages: list[ChatMessage]
    ) -> tuple[list[ChatMessage], ModelOutput]:
        """What the agent did and said after these messages, and its last output."""
        assert self.agent
        with calls_of(get_model(), self.since):
            done = await run(self.agent, messages)
        if wrong := self.wrong(done.output):
            raise StepError(wrong)
        return done.messages[len(messages) :], done.output

    def wrong(self, output: ModelOutput) -> str:
        """What makes an output no reply; empty for a reply."""
        reply = read_reply(output, self.state.model.api)
        return reply.error or ("" if output.choices else "no reply")

    async def call(self, messages: list[ChatMessage], part: str) -> tuple[ModelOutput, str]:
        """One reply, and what is wrong with it; `part` tells equal questions apart."""

        async def generate(cache: CachePolicy | None) -> ModelOutput:
            # traces are logged and never sent back
            config = GenerateConfig(reasoning_history="none")
            with calls_of(model, self.since):
                if cache is None:
                    return await model.generate(messages, config=config)
                return await model.generate(messages, config=config, cache=cache)

        model = get_model()
        return await reply_or_error(self.state, generate, self.wrong, part)

    def decisions(self) -> list[str] | None:
        """What the record block reports, by step; None for a condition without one."""
        if self.rollout.condition == "unconditioned":
            return None
        if self.rollout.condition == "own":
            return [r.get("chosen", "") for r in self.records]
        return self.rollout.history
