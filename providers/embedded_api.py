"""The `embedded` provider's ModelAPI."""

import logging
from typing import Any, Protocol

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import warn_once

from moral_evals.loaders.errors import OptionError, listing
from moral_evals.providers.overlap import OverlapJudge
from moral_evals.providers.smollm import SmolLM2

logger = logging.getLogger(__name__)

NOTE = "demonstration only: scores from this model say nothing about moral reasoning"


class Backend(Protocol):
    """What an embedded model has to offer."""

    async def reply(self, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """Answer a conversation."""


_BACKENDS: dict[str, type[Backend]] = {"smollm2-135m": SmolLM2, "overlap-judge": OverlapJudge}


class EmbeddedAPI(ModelAPI):
    """Models `embedded/smollm2-135m` and `embedded/overlap-judge`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        """Choose the backend; SuiteError in one line if its packages are absent."""
        super().__init__(model_name, base_url, api_key, [], config)
        if model_args:
            raise OptionError(f"embedded models take no -M arguments, got {listing(model_args)}.")
        if model_name not in _BACKENDS:
            raise OptionError(f"embedded/{model_name}: allowed are {listing(_BACKENDS)}.")
        self._backend = _BACKENDS[model_name]()
        warn_once(logger, f"embedded/{model_name} is for {NOTE}.")

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Let the backend answer, and mark the output as a demonstration."""
        output = await self._backend.reply(input, config)
        output.model = f"embedded/{self.model_name}"
        output.metadata = {**(output.metadata or {}), "note": NOTE}
        return output

    def max_connections(self) -> int:
        """The backends answer one call at a time."""
        return 1

    def connection_key(self) -> str:
        """Each embedded model queues for itself."""
        return f"embedded/{self.model_name}"
