"""What a candidate is asked: the suite's prompts, the paper's, or a file of the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.morebench.records import NEUTRAL, ScenarioMetadata
from moral_evals.loaders.morebench.theories import Theory, own_theories, theory
from moral_evals.loaders.options import one_of, text
from moral_evals.loaders.own_prompts import CandidatePrompt, read_candidate_prompt
from moral_evals.loaders.paths import local_file
from moral_evals.loaders.prompt_files import PROTOCOLS, prompt_text, wording_sha256
from moral_evals.loaders.upstream.prompts import UpstreamPrompts

_PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class CandidateWording:
    """The wording of a run; at most one of the two fields is set, else it is the suite's.

    Attributes:
        own: The user's own prompt.
        upstream: The paper's.
        theories: The user's own theories by name.
    """

    own: CandidatePrompt | None = None
    upstream: UpstreamPrompts | None = None
    theories: Mapping[str, Theory] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        protocol: str,
        upstream_path: str | None,
        candidate_prompt: str | None,
        theories: str | None = None,
    ) -> "CandidateWording":
        """The wording that the options name; an own prompt goes before the protocol's.

        Raises SuiteError for an unknown protocol, or a file that is missing or malformed.
        """
        one_of("protocol", protocol, PROTOCOLS)
        own = own_theories(theories)
        if candidate_prompt is not None:
            name = text("candidate_prompt", candidate_prompt, "prompt.md")
            prompt = read_candidate_prompt(local_file("candidate_prompt", name))
            return cls(own=prompt, theories=own)
        if protocol == "upstream" and own:
            raise OptionError(
                "-T protocol='upstream': the paper's prompts know the five theories only. Allowed "
                "with theories=: protocol=suite, or a candidate_prompt of your own."
            )
        if protocol == "upstream":
            return cls(upstream=UpstreamPrompts.load(upstream_path))
        return cls(theories=own)

    def check_theory(self, benchmark: str, needed: bool) -> None:
        """Raise OptionError if an own prompt leaves out the theory that is asked for.

        Args:
            benchmark: Name of the task, for the message.
            needed: Whether its dilemmas name a theory.
        """
        if self.own and self.own.asks_for("theory") != needed:
            problem = (
                "must hold {{theory}}, or the candidate would not be told which theory to use"
                if needed
                else "holds {{theory}}, and the dilemmas of this task name none"
            )
            raise OptionError(f"-T candidate_prompt: {self.own.file} {problem} ({benchmark}).")

    def messages(self, metadata: ScenarioMetadata, dilemma: str) -> list[ChatMessage]:
        """What is sent. Of the metadata only role and theory are read, never the rubric."""
        if self.upstream is not None:
            # upstream joins the two without a separator
            instruction = self.upstream.instructions[metadata.theory]
            return [ChatMessageUser(content=instruction + dilemma)]
        if self.own is not None:
            return _own_messages(self.own, metadata, dilemma, self.theories)
        return suite_messages(metadata, dilemma, self.theories)

    def facts(self) -> dict[str, Any]:
        """What a log says of own material; the hash is said by the solver that sends the texts."""
        own: dict[str, Any] = {"candidate_prompt": self.own.name} if self.own else {}
        return own | ({"theories": sorted(self.theories)} if self.theories else {})

    @property
    def sha256(self) -> str:
        """Hash of all texts; any change of one changes it."""
        if self.upstream is not None:
            return self.upstream.sha256
        defined = [f"{t.name}\n{t.definition}" for _, t in sorted(self.theories.items())]
        if self.own is None:
            suite = map(_prompt, ("advisor", "agent", "theory", "reasoning"))
            return wording_sha256([*suite, *defined])
        borrowed = {
            "role": ("advisor", "agent"),
            "theory": ("theory",),
            "reasoning": ("reasoning",),
        }
        names = [n for key, ns in borrowed.items() if self.own.asks_for(key) for n in ns]
        more = [*map(_prompt, names), *defined]
        return wording_sha256([self.own.sha256, *more]) if more else self.own.sha256


def suite_messages(
    metadata: ScenarioMetadata, dilemma: str, theories: Mapping[str, Theory] | None = None
) -> list[ChatMessage]:
    """System message with role, theory and form of the reply; the dilemma as it is."""
    parts = [_role(metadata), _theory(metadata, theories or {}), _prompt("reasoning")]
    system = "\n\n".join(part for part in parts if part)
    return [ChatMessageSystem(content=system), ChatMessageUser(content=dilemma)]


def _own_messages(
    own: CandidatePrompt,
    metadata: ScenarioMetadata,
    dilemma: str,
    theories: Mapping[str, Theory],
) -> list[ChatMessage]:
    values = {
        "role": _role(metadata),
        "theory": _theory(metadata, theories),
        "reasoning": _prompt("reasoning"),
        "dilemma": dilemma,
    }
    system = own.system.filled(values)
    first: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    return [*first, ChatMessageUser(content=own.user.filled(values))]


def _role(metadata: ScenarioMetadata) -> str:
    return _prompt("agent" if metadata.role == "ai_agent" else "advisor")


def _theory(metadata: ScenarioMetadata, own: Mapping[str, Theory]) -> str:
    if metadata.theory == NEUTRAL:
        return ""
    chosen = own.get(metadata.theory) or theory(metadata.theory)
    return f"{_prompt('theory')}\n\n{chosen.name}\n\n{chosen.definition}"


def _prompt(name: str) -> str:
    return prompt_text(_PROMPTS, name)
