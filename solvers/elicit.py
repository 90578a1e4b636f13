"""Ask the candidate to reason a dilemma through before it decides."""

import time
from pathlib import Path

from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from moral_evals.loaders.faults import calls_of
from moral_evals.loaders.morebench.records import NEUTRAL, ScenarioMetadata
from moral_evals.loaders.morebench.theories import theory
from moral_evals.loaders.options import one_of
from moral_evals.loaders.prompt_files import PROTOCOLS, prompt_text, wording_sha256
from moral_evals.loaders.sent import note_prompts
from moral_evals.loaders.upstream.prompts import UpstreamPrompts
from moral_evals.solvers.kept import reply_or_error
from moral_evals.solvers.ready import check_ready

_PROMPTS = Path(__file__).parent / "prompts"


class CandidateError(RuntimeError):
    """The provider sent an error text, or nothing, in place of a reply."""


@solver
def elicit_reasoning(protocol: str = "suite", upstream_path: str | None = None) -> Solver:
    """Prompt for a full reasoning trace, then the decision.

    Texts are put one after the other, never formatted: a dilemma may contain braces, and the
    sample's metadata, which holds the rubric, must not reach the candidate.

    Args:
        protocol: `suite` (this project's prompts) or `upstream` (the paper's, read at run time).
        upstream_path: Checkout of the upstream repository; None fetches its prompts once.
    """
    one_of("protocol", protocol, PROTOCOLS)
    upstream = UpstreamPrompts.load(upstream_path) if protocol == "upstream" else None
    sha256 = candidate_prompt_sha256(protocol, upstream_path)
    since = time.monotonic()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check_ready(state.model)
        metadata = state.metadata_as(ScenarioMetadata)
        dilemma = state.input_text
        if upstream is not None:
            # upstream joins the two without a separator
            text = upstream.instructions[metadata.theory] + dilemma
            state.messages = [ChatMessageUser(content=text)]
        else:
            state.messages = suite_messages(metadata, dilemma)
        asked = list(state.messages)
        note_prompts(state.store, sha256)

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


def suite_messages(metadata: ScenarioMetadata, dilemma: str) -> list[ChatMessage]:
    """System message with role, theory and form of the reply; the dilemma as it is."""
    parts = [_prompt("agent" if metadata.role == "ai_agent" else "advisor")]
    if metadata.theory != NEUTRAL:
        chosen = theory(metadata.theory)
        parts += [_prompt("theory"), f"{chosen.name}\n\n{chosen.definition}"]
    parts.append(_prompt("reasoning"))
    return [ChatMessageSystem(content="\n\n".join(parts)), ChatMessageUser(content=dilemma)]


def candidate_prompt_sha256(protocol: str, upstream_path: str | None = None) -> str:
    """Hash of a protocol's candidate prompts, for the log."""
    if protocol == "upstream":
        return UpstreamPrompts.load(upstream_path).sha256
    texts = [_prompt(n) for n in ("advisor", "agent", "theory", "reasoning")]
    return wording_sha256(texts)


def _prompt(name: str) -> str:
    return prompt_text(_PROMPTS, name)
