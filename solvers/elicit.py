"""Ask the candidate to reason a dilemma through before it decides."""

import time

from inspect_ai.model import CachePolicy, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from moral_evals.loaders.faults import calls_of
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.loaders.sent import note_prompts
from moral_evals.solvers.kept import reply_or_error
from moral_evals.solvers.ready import check_ready
from moral_evals.solvers.wording import CandidateWording


class CandidateError(RuntimeError):
    """The provider sent an error text, or nothing, in place of a reply."""


@solver
def elicit_reasoning(
    protocol: str = "suite",
    upstream_path: str | None = None,
    candidate_prompt: str | None = None,
    theories: str | None = None,
) -> Solver:
    """Prompt for a full reasoning trace, then the decision.

    Texts are put one after the other, never formatted: a dilemma may contain braces, and the
    sample's metadata, which holds the rubric, must not reach the candidate.

    Args:
        protocol: `suite` (this project's prompts) or `upstream` (the paper's, read at run time).
        upstream_path: Checkout of the upstream repository; None fetches its prompts once.
        candidate_prompt: File of a prompt of the user's own, in place of the protocol's.
        theories: Folder of the user's own theories.
    """
    wording = CandidateWording.of(protocol, upstream_path, candidate_prompt, theories)
    since = time.monotonic()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check_ready(state.model)
        metadata = state.metadata_as(ScenarioMetadata)
        state.messages = wording.messages(metadata, state.input_text)
        asked = list(state.messages)
        note_prompts(state.store, wording.sha256, wording.own.name if wording.own else "")

        async def call(cache: CachePolicy | None) -> ModelOutput:
            nonlocal state
            state.messages = list(asked)
            with calls_of(get_model(), since):
                state = await (generate(state, cache=cache) if cache else generate(state))
            return state.output

        _, problem = await reply_or_error(state, call, _problem)
        if problem:
            raise CandidateError(f"no reply from {state.model}: {problem[:300]}")
        return state

    return solve


def _problem(output: ModelOutput) -> str:
    if output.error or (output.choices and output.stop_reason == "unknown"):
        return output.error or output.completion or "an empty reply"
    return ""
