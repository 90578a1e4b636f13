"""The judge's prompt: the judged text first, so that it is shared by all calls, one criterion last."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ContentText

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
        return hashlib.sha256(f"{self.system}\0{self.question}".encode()).hexdigest()[:16]


@cache
def suite_prompt() -> JudgePrompt:
    """The project's own wording, from `scorers/prompts/`."""
    read = [
        (_PROMPTS / f"judge_{n}.md").read_text(encoding="utf-8") for n in ("system", "question")
    ]
    return JudgePrompt("suite", read[0].strip(), read[1].strip())


def judge_messages(
    prompt: JudgePrompt, judged: str, criteria: list[str]
) -> list[list[ChatMessage]]:
    """One conversation for each criterion; the shared parts are the same objects in all of them."""
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


def fenced(text: str) -> str:
    """The text between two marker lines whose code the text itself does not contain."""
    code, salt = "", 0
    while not code or code in text:
        code = hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()[:12]
        salt += 1
    return f"=== text {code} begins ===\n{text}\n=== text {code} ends ==="
