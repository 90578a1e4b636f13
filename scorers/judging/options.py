"""How texts are judged: the options that tasks and scorers share, under the same names."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.options import flag, one_of, text, texts, whole
from moral_evals.loaders.own_prompts import OwnJudgePrompt, read_judge_prompt
from moral_evals.loaders.paths import local_file
from moral_evals.loaders.prompt_files import PROTOCOLS

ROLE = "grader"
MODES = ("criterion", "rubric")
TRANSPORT = frozenset({
    "adaptive_connections", "attempt_timeout", "batch", "cache", "cache_prompt",
    "fail_on_refusal", "max_connections", "max_retries", "stream_idle_timeout", "timeout",
})  # fmt: skip
"""Settings of a model that change how a reply is fetched, never what it says."""
WHOLE_RUBRIC = 50
"""Criteria a call in mode `rubric` unless asked otherwise: any published rubric in one call."""


@dataclass(frozen=True)
class JudgeOptions:
    """Options of a judging. Raises OptionError, naming what is allowed, for one that is unusable.

    Attributes:
        protocol: Wording, `suite` or `upstream` (the paper's).
        upstream_path: Checkout of the upstream repository; None fetches its prompts once.
        judge_mode: `criterion` makes one call a criterion, as the paper does; `rubric` asks for
            all verdicts in one call, which is cheaper and another protocol.
        rubric_chunk: Criteria a call at most in mode `rubric`.
        rubric_seed: Seed of the criteria's order in mode `rubric`.
        votes: Times that each judge is asked afresh about each criterion.
        judge_attempts: Replies asked for at most until one can be read.
        judge_cache: Keep readable replies on disk, so that none is paid for twice.
        judges: Roles or models that judge; several make a panel, and so does a role with several
            models.
        judge_prompt: File of a judge prompt of the user's own, in place of the protocol's.
    """

    protocol: str = "suite"
    upstream_path: str | None = None
    judge_mode: str = "criterion"
    rubric_chunk: int = WHOLE_RUBRIC
    rubric_seed: int = 0
    votes: int = 1
    judge_attempts: int = 3
    judge_cache: bool = True
    judges: str | list[str] = ROLE
    judge_prompt: str | None = None

    def __post_init__(self) -> None:
        """Check every option."""
        one_of("protocol", self.protocol, PROTOCOLS)
        one_of("judge_mode", self.judge_mode, MODES)
        whole("rubric_chunk", self.rubric_chunk, 2, 500)
        whole("rubric_seed", self.rubric_seed, 0, 2**63)
        whole("votes", self.votes, 1, 25)
        whole("judge_attempts", self.judge_attempts, 1, 20)
        flag("judge_cache", self.judge_cache)
        names = texts("judges", self.judges, ROLE)
        if len(set(names)) < len(names):
            raise OptionError(f"-T judges={self.judges!r}: a judge is named twice.")
        if self.upstream_path is not None:
            text("upstream_path", self.upstream_path, "path/to/checkout")
        if self.judge_prompt is not None:
            self._check_own_prompt()
        elif self.judge_mode == "rubric" and self.protocol == "upstream":
            raise OptionError(
                "-T judge_mode='rubric': the paper's protocol asks criterion by criterion. "
                "Allowed: judge_mode=criterion, or protocol=suite."
            )

    @cached_property
    def own_prompt(self) -> OwnJudgePrompt | None:
        """The user's own judge prompt, read once: a later edit of the file has no effect."""
        if self.judge_prompt is None:
            return None
        return read_judge_prompt(local_file("judge_prompt", self.judge_prompt))

    def _check_own_prompt(self) -> None:
        text("judge_prompt", self.judge_prompt, "prompt.md")
        own = self.own_prompt
        if own and self.judge_mode == "rubric" and own.rubric is None:
            raise OptionError(
                f"-T judge_mode='rubric': {own.file} has no section `# rubric`, which holds the "
                "question about a list of criteria. Allowed: judge_mode=criterion."
            )

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "JudgeOptions":
        """The options among a task's or a scorer's arguments, each under its own name."""
        return cls(**{f.name: arguments[f.name] for f in fields(cls) if f.name in arguments})

    def facts(self) -> dict[str, Any]:
        """What a log must say of them: all that can change a verdict."""
        facts: dict[str, Any] = {"protocol": self.protocol, "judge_mode": self.judge_mode}
        if self.judge_mode == "rubric":
            facts |= {"rubric_chunk": self.rubric_chunk, "rubric_seed": self.rubric_seed}
        if self.own_prompt:
            facts["judge_prompt"] = self.own_prompt.name
        # `votes` itself names the votes in a score
        return facts | ({"judge_votes": self.votes} if self.votes > 1 else {})
