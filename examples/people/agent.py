"""An agent as CORDA's candidate: it may take notes before it answers a step.

inspect eval moral_evals/corda --model MODEL --solver examples/people/agent.py@with_notes
"""

from inspect_ai.agent import react
from inspect_ai.solver import Solver, solver
from inspect_ai.tool import Tool, tool

from moral_evals.solvers.chain import answer_chain


@tool
def note() -> Tool:
    """A pad of its own, which nobody else reads."""

    async def execute(text: str) -> str:
        """Write a note down.

        Args:
            text: The note.
        """
        return f"Noted: {text}"

    return execute


@solver
def with_notes() -> Solver:
    """Each step is answered by the agent, from the same messages as by a model."""
    return answer_chain(agent=react(tools=[note()], submit=False))
