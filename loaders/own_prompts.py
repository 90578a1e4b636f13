"""Prompts of a user's own: one Markdown file for the candidate or the judge.

Texts are put in where the file says `{{name}}`, all in one pass: braces in a dilemma or in a judged
text are never read as placeholders. A line such as `# system` or `# user` opens a section.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from moral_evals.loaders.errors import DataError, nearest
from moral_evals.loaders.files import TABLE_LIMIT, read_bytes
from moral_evals.loaders.front_matter import Head, field_error, read_front_matter
from moral_evals.loaders.model_text import visible
from moral_evals.loaders.values import Words, short

_PLACEHOLDER = re.compile(r"\{\{[ \t]*(\w+)[ \t]*\}\}")
_SECTION = re.compile(r"^# ([a-z]+)[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[\w.-]{1,60}")


def _prompt_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{short(value)}; allowed are up to 60 letters, digits, points, hyphens, underscores"
        )
    return value


def _verdict_word(value: object) -> str:
    if isinstance(value, bool):
        raise ValueError(f"YAML reads this word as {value}; write it in quotes")
    if not isinstance(value, str) or not any(c.isalpha() for c in value):
        raise ValueError(f"{short(value)}; must be a word with a letter in it")
    return " ".join(visible(value).casefold().split())


VerdictWord = Annotated[str, BeforeValidator(_verdict_word)]


class _CandidateHead(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[Words, AfterValidator(_prompt_name)]
    placeholders: list[str]


class _JudgeHead(_CandidateHead):
    yes_words: list[VerdictWord] = Field(min_length=1)
    no_words: list[VerdictWord] = Field(min_length=1)


@dataclass(frozen=True)
class YesNoWords:
    """Words by which a judge says yes or no, beside those that every reply is read for.

    In lower case, each meaning one of the two.
    """

    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Template:
    """A text with placeholders."""

    text: str

    @property
    def names(self) -> list[str]:
        """The placeholders, as often as they occur."""
        return _PLACEHOLDER.findall(self.text)

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with every placeholder replaced, nothing in the values is read as one."""
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.text)

    def around(self, name: str, values: Mapping[str, str]) -> tuple[str, str]:
        """What stands before and after the one placeholder `name`, the others replaced."""
        parts = re.split(rf"\{{\{{[ \t]*{name}[ \t]*\}}\}}", self.text, maxsplit=1)
        before, after = (Template(p).filled(values).strip() for p in parts)
        return before, after


@dataclass(frozen=True)
class CandidatePrompt:
    """What the candidate is asked.

    Attributes:
        file: Name of the file, for messages.
        name: Given in the file.
        system: System message, may be empty.
        user: User message, which holds the dilemma.
        sha256: Hash of the file.
    """

    file: str
    name: str
    system: Template
    user: Template
    sha256: str

    def asks_for(self, placeholder: str) -> bool:
        """Whether the prompt puts in such a text."""
        return placeholder in (*self.system.names, *self.user.names)


@dataclass(frozen=True)
class OwnJudgePrompt:
    """What the judge is asked, and the words in which it replies.

    Attributes:
        file: Name of the file, for messages.
        name: Given in the file.
        system: System message, may be empty.
        criterion: Question about one criterion.
        rubric: Question about a numbered list of criteria; None if the file has none.
        words: Verdict words.
        sha256: Hash of the file.
    """

    file: str
    name: str
    system: str
    criterion: Template
    rubric: Template | None
    words: YesNoWords
    sha256: str


# by section the placeholders that it must have once, and those that it may have
_CANDIDATE = {
    "system": ((), ("role", "theory", "reasoning")),
    "user": (("dilemma",), ("role", "theory", "reasoning")),
}
_JUDGE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "system": ((), ()),
    "criterion": (("text", "criterion"), ()),
    "rubric": (("text", "criteria"), ()),
}


def read_candidate_prompt(path: Path) -> CandidatePrompt:
    """A prompt for the candidate: placeholder `dilemma`; on request `role`, `theory`, `reasoning`.

    `role` and `reasoning` are the suite's own paragraphs, `theory` its paragraph on theories with
    name and definition. Nothing of a rubric can be put in.

    Raises DataError naming file and field.
    """
    head, sections, sha256 = _read(path, _CandidateHead, _CANDIDATE, "user")
    return CandidatePrompt(
        file=path.name,
        name=head.name,
        system=sections.get("system", Template("")),
        user=sections["user"],
        sha256=sha256,
    )


def read_judge_prompt(path: Path) -> OwnJudgePrompt:
    """A prompt for the judge: placeholders `text` and `criterion`, in section `rubric` `criteria`.

    Raises DataError naming file and field.
    """
    head, sections, sha256 = _read(path, _JudgeHead, _JUDGE, "criterion")
    words = YesNoWords(frozenset(head.yes_words), frozenset(head.no_words))
    if both := sorted(words.yes & words.no):
        problem = f"{both[0]!r} stands in yes_words too; a word means one of the two"
        raise field_error(path.name, "no_words", problem)
    return OwnJudgePrompt(
        file=path.name,
        name=head.name,
        system=sections["system"].text if "system" in sections else "",
        criterion=sections["criterion"],
        rubric=sections.get("rubric"),
        words=words,
        sha256=sha256,
    )


def _read(
    path: Path,
    model: type[Head],
    known: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]],
    whole: str,
) -> tuple[Head, dict[str, Template], str]:
    head, body = read_front_matter(path, model)
    sections = dict(_sections(path.name, body, tuple(known), whole))
    if whole not in sections:
        raise DataError(f"{path.name}: section `# {whole}` is missing.")
    for name, template in sections.items():
        _check_section(path.name, name, template, *known[name])
    used = {p for template in sections.values() for p in template.names}
    _check_declared(path.name, getattr(head, "placeholders"), used)  # noqa: B009
    sha256 = hashlib.sha256(read_bytes(path, TABLE_LIMIT)).hexdigest()[:16]
    return head, sections, sha256


def _sections(
    file: str, body: str, known: tuple[str, ...], whole: str
) -> Iterator[tuple[str, Template]]:
    """The sections of a body by name; one without headings is a single section."""
    first, *rest = _SECTION.split(body)
    names, texts = rest[::2], rest[1::2]
    if not names:
        yield whole, Template(body)
        return
    if first.strip():
        problem = f"text stands before it; a file with sections begins with one ({_or(known)})"
        raise field_error(file, f"# {names[0]}", problem)
    for name, text in zip(names, texts, strict=True):
        if name not in known:
            raise field_error(file, f"# {name}", f"no such section; {_or(known)}")
        if names.count(name) > 1:
            raise field_error(file, f"# {name}", "the section stands there twice")
        if not text.strip():
            raise field_error(file, f"# {name}", "the section is empty")
        yield name, Template(text.strip())


def _or(sections: tuple[str, ...]) -> str:
    return "allowed: " + ", ".join(f"`# {name}`" for name in sections)


def _check_section(
    file: str, section: str, template: Template, needed: tuple[str, ...], also: tuple[str, ...]
) -> None:
    allowed = (*needed, *also)
    for name in template.names:
        if name not in allowed:
            listed = ", ".join(f"{{{{{n}}}}}" for n in allowed) or "none"
            problem = (
                f"no such placeholder in `# {section}`{nearest(name, allowed)}; allowed: {listed}"
            )
            raise field_error(file, f"{{{{{name}}}}}", problem)
    for name in needed:
        count = template.names.count(name)
        if count != 1:
            times = "does not stand" if count == 0 else f"stands {count} times"
            problem = f"{times} in `# {section}`; must once, in two pairs of braces"
            raise field_error(file, f"{{{{{name}}}}}", problem)


def _check_declared(file: str, declared: list[str], used: set[str]) -> None:
    for name in declared:
        if name not in used:
            problem = f"{name!r} does not occur in the text{nearest(name, sorted(used))}"
            raise field_error(file, "placeholders", problem)
    for name in sorted(used - set(declared)):
        problem = f"{name!r} is missing, which the text holds"
        raise field_error(file, "placeholders", problem)
