"""A person as a candidate: asked at the terminal, or known by name alone."""

import re
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import input_screen
from rich.console import Console
from rich.markup import escape

from moral_evals.loaders.errors import OptionError

_FORM = re.compile(r"\n?ANSWER: <one of: (.*)>\s*$")
END = "."
"""A line that holds it alone ends an answer of several lines."""


class _NoModel(ModelAPI):
    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **unknown: Any,
    ) -> None:
        """Take a name.

        Args:
            model_name: Of the person.
            base_url: Not used.
            api_key: Not used.
            config: Not used.
            unknown: Refused.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        if unknown:
            raise OptionError(f"-M {next(iter(unknown))}: this provider has no options.")


class AnswersAPI(_NoModel):
    """A name for answers from a file; asks nobody."""

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Refuse: there is nobody to ask."""
        raise OptionError(
            f"answers/{self.model_name} is a name for answers from a file. Add "
            "--solver moral_evals/answers_from_file -S file=FILE."
        )


class PersonAPI(_NoModel):
    """Shows each question at the terminal and reads the answer there."""

    def max_connections(self) -> int:
        """One question at a time."""
        return 1

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Ask with the words that a model would be sent."""
        asked = "\n\n".join(m.text for m in input if m.role in ("system", "user"))
        with input_screen(header=f"For {self.model_name}") as console:
            form = _FORM.search(asked)
            console.print(escape(_FORM.sub("", asked)))
            said = _answer(console, form[1].split(", ")) if form else _lines(console)
        output = ModelOutput.from_content(f"person/{self.model_name}", said)
        # without usage Inspect would count tokens, for which it downloads a vocabulary
        output.usage = ModelUsage()
        return output


def _answer(console: Console, allowed: list[str]) -> str:
    """One of the answers that the question allows; asked for until it is one."""
    while (said := console.input(f"\nYour choice ({', '.join(allowed)}): ").strip()) not in allowed:
        if said.upper() in allowed:
            said = said.upper()
            break
        console.print(escape(f"{said!r} is none of them."))
    return f"ANSWER: {said}"


def _lines(console: Console) -> str:
    console.print(f"\nYour reasoning, ended by a line with {END!r} alone:")
    reasoning = _until_end(console)
    console.print(f"\nYour decision, ended by a line with {END!r} alone:")
    return f"<reasoning>\n{reasoning}\n</reasoning>\n\n{_until_end(console)}"


def _until_end(console: Console) -> str:
    lines: list[str] = []
    while (line := console.input()).strip() != END:
        lines.append(line)
    return "\n".join(lines)
