"""The judge's prompts: the judged text first, so that it is shared by all calls, criteria last."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
)

from moral_evals.loaders.own_prompts import OwnJudgePrompt, Template, YesNoWords
from moral_evals.loaders.prompt_files import prompt_text, wording_sha256
from moral_evals.loaders.upstream.prompts import UpstreamPrompts
from moral_evals.scorers.judging.options import JudgeOptions

_PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class JudgePrompt:
    """Wording of the judge's task.

    Attributes:
        protocol: `suite` or `upstream`.
        system: System message; empty for none.
        question: What is asked, placed between the text and the criterion.
        sha256: Hash of the wording, for the log.
    """

    protocol: str
    system: str
    question: str

    @property
    def sha256(self) -> str:
        """Hash of the wording; any change of a prompt file changes it."""
        return wording_sha256((self.system, self.question))


@cache
def suite_prompt() -> JudgePrompt:
    """The project's own wording for one criterion a call, from `scorers/prompts/`."""
    return JudgePrompt("suite", _read("judge_system"), _read("judge_question"))


@cache
def whole_rubric_prompt() -> JudgePrompt:
    """The project's own wording for a list of criteria in one call."""
    return JudgePrompt("suite", _read("judge_rubric_system"), _read("judge_rubric_question"))


def judge_prompt(options: JudgeOptions) -> JudgePrompt | OwnJudgePrompt:
    """The wording for one criterion a call; upstream's is read from a checkout of its code."""
    if options.own_prompt:
        return options.own_prompt
    if options.protocol == "suite":
        return suite_prompt()
    return JudgePrompt("upstream", "", UpstreamPrompts.load(options.upstream_path).judge_question)


def judge_prompt_sha256(options: JudgeOptions) -> str:
    """Hash of all wording that a judging uses, for the log."""
    single = judge_prompt(options).sha256
    if options.own_prompt:
        return single  # of the whole file
    # what a whole-rubric reply leaves out is asked again alone
    return f"{whole_rubric_prompt().sha256}+{single}" if options.judge_mode == "rubric" else single


def judge_messages(
    prompt: JudgePrompt | OwnJudgePrompt, judged: str, criteria: list[str]
) -> list[list[ChatMessage]]:
    """One conversation for each criterion; the shared parts are the same objects in all of them."""
    if isinstance(prompt, OwnJudgePrompt):
        values = [{"criterion": criterion.strip()} for criterion in criteria]
        return _own_messages(prompt, prompt.criterion, judged, values)
    if prompt.protocol == "upstream":
        # upstream's layout: lead-in and text, blank line, question, blank line, lead-in and criterion
        head = f"Reasoning Response:{judged}\n\n{prompt.question}\n\nRubric Criterion:"
        return [[ChatMessageUser(content=head + criterion)] for criterion in criteria]
    system = ChatMessageSystem(content=prompt.system)
    # Own content parts keep the log small: Inspect stores each distinct part once.
    text = ContentText(text=fenced(judged))
    return [
        [
            system,
            ChatMessageUser(
                content=[text, ContentText(text=f"{prompt.question}\n{criterion.strip()}")]
            ),
        ]
        for criterion in criteria
    ]


def rubric_messages(
    judged: str, criteria: list[str], own: OwnJudgePrompt | None = None
) -> list[ChatMessage]:
    """One conversation for a numbered list of criteria, in the suite's wording or one's own."""
    # a criterion may hold line breaks, even ones that look like numbered lines
    numbered = [f"{n}. {' '.join(text.split())}" for n, text in enumerate(criteria, 1)]
    if own and own.rubric:
        (messages,) = _own_messages(own, own.rubric, judged, [{"criteria": "\n".join(numbered)}])
        return messages
    prompt = whole_rubric_prompt()
    asked = "\n".join([prompt.question, *numbered])
    return [
        ChatMessageSystem(content=prompt.system),
        ChatMessageUser(content=[ContentText(text=fenced(judged)), ContentText(text=asked)]),
    ]


def _own_messages(
    prompt: OwnJudgePrompt, asked: Template, judged: str, values: Sequence[Mapping[str, str]]
) -> list[list[ChatMessage]]:
    """One conversation for each set of values; the judged text is a part of its own, fenced."""
    system: list[ChatMessage] = [ChatMessageSystem(content=prompt.system)] if prompt.system else []
    text = ContentText(text=fenced(judged))
    conversations = []
    for each in values:
        before, after = (ContentText(text=t) for t in asked.around("text", each))
        parts: list[Content] = [p for p in (before, text, after) if p.text]
        conversations.append([*system, ChatMessageUser(content=parts)])
    return conversations


def own_words(options: JudgeOptions) -> YesNoWords:
    """Verdict words of the user's own prompt; none without one."""
    return options.own_prompt.words if options.own_prompt else YesNoWords()


def fenced(text: str) -> str:
    """The text between two marker lines whose code the text itself does not contain."""
    code, salt = "", 0
    while not code or code in text:
        code = hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()[:12]
        salt += 1
    return f"=== text {code} begins ===\n{text}\n=== text {code} ends ==="


@cache
def declined_statement() -> str:
    """The criterion by which a judge says whether a reply declines."""
    return _read("declined")


def _read(name: str) -> str:
    return prompt_text(_PROMPTS, name)
