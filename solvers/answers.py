"""Reading which option a reply chooses (CORDA section 3.6); never by the first letter that fits.

An answer is a line of a known form, not a word. Lines that differ are no answer unless the text
takes the earlier one back, and a line that names a second label is none unless it speaks against
that one: a wrong pick is worse than a lost one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from moral_evals.loaders.model_text import LONGEST, json_values, single_blanks, visible
from moral_evals.loaders.reply import Reply
from moral_evals.solvers.answer_line import NOTHING, Pick, pick_of, plain, whole
from moral_evals.solvers.answer_sentences import last_words
from moral_evals.solvers.answer_words import ANSWER, CHOSEN, CLOSING, HEADING, LATER

Reading = Literal["answered", "abstained", "unparsed"]

_KEYS = {"answer", "final_answer", "finalanswer", "choice", "final_choice", "option", "label",
         "selected", "selection", "selected_option", "chosen_option", "decision"}  # fmt: skip
_TAG = re.compile(
    r"^([*_`> ]{0,6})<(final_?answer|answer|choice)>(.{0,200}?)(?:</\2>|$)",
    re.IGNORECASE | re.MULTILINE,
)
_TAG_BREAK = re.compile(
    r"(<(?:final_?answer|answer|choice)>)\n|\n(</(?:final_?answer|answer|choice)>)", re.I
)
_FENCE = re.compile(r"^`{3,}\w{0,20}$", re.MULTILINE)
_BOXED_LINE = re.compile(r"^[$\\(\[ *_]{0,6}\\(?:boxed|fbox)\b[^\n]{0,80}$")
_BOXED = re.compile(r"\\(?:boxed|fbox)\b([^\n]{0,60})")
_MARK = re.compile(r"(?<![^\W_])answer[ *_`]{0,4}[:=]", re.IGNORECASE)
# Two different answers are none, unless the model says that the later one replaces the earlier.
_RETRACTED = re.compile(
    r"\b(?:on (?:further )?reflection|on second thoughts?|correction|i (?:have )?changed? my "
    r"(?:mind|answer)|scratch that|strike that|revis(?:e|ed|ing) (?:my )?answer|let me "
    r"(?:correct|revise|reconsider|change)|i take (?:that|it) back|i was wrong)\b|"
    r"(?:^|[.!?…] )\W*(?:(?:no|oh|hmm|but)\W+)?(?:wait|hold on|actually,)(?!\w)",
    re.IGNORECASE | re.MULTILINE,
)


def read_answer(text: str, options: Mapping[str, str]) -> tuple[Reading, str]:
    """What a reply says, and the label it chooses.

    Args:
        text: The reply without its reasoning.
        options: Option text by label, as shown.

    Returns:
        (`answered`, label), (`abstained`, "") or (`unparsed`, "").
    """
    text = single_blanks(visible(text))
    if len(text) > LONGEST:
        return "unparsed", ""
    exact = whole(_FENCE.sub("", text), options)
    statements = list(_statements(_dressed(text), options))
    if not statements:
        return _reading(exact or last_words(text, options))
    return _reading(exact or _settled(statements, options))


def read_choice(reply: Reply, options: Mapping[str, str]) -> tuple[Reading, str]:
    """What a whole reply chooses, whose reasoning may lack its closing tag.

    An answer inside such reasoning counts if the reply was complete and its last line has the
    form that was asked for.
    """
    # the tags that the prompt asks for may also be closed after the answer line
    inside = reply.unclosed or (reply.trace if reply.trace_kind == "elicited" else "")
    if reply.response or not inside or reply.stop_reason != "stop":
        return read_answer(reply.response, options)
    last = single_blanks(visible(inside))[-LONGEST:].rpartition("\n")[2]
    return read_answer(last, options) if ANSWER.match(last) else ("unparsed", "")


@dataclass(frozen=True)
class _Statement:
    """An answer line: the label it gives, "" if none, and the text up to the next one."""

    pick: Pick
    then: str


def _reading(label: str) -> tuple[Reading, str]:
    if not label:
        return "unparsed", ""
    return ("abstained", "") if label == "NONE" else ("answered", label)


def _settled(statements: list[_Statement], options: Mapping[str, str]) -> str:
    """The one label that all statements give, from the last retraction on; "" if there is none."""
    found: set[str] = set()
    for statement in statements:
        if statement.pick.label:
            found.add(statement.pick.label)
        if statement is not statements[-1] and _RETRACTED.search(statement.then):
            found.clear()
    if not statements or len(found) != 1 or not statements[-1].pick.label:
        return ""
    label, then = found.pop(), statements[-1].then
    return "" if _RETRACTED.search(then) or _goes_on(then, label, options) else label


def _goes_on(text: str, label: str, options: Mapping[str, str]) -> bool:
    """Whether what follows an answer line gives another answer."""
    lines = [line for line in text.split("\n") if line]
    if any(pick_of(line[m.end() :], options).label not in ("", label)
           for line in lines for m in _MARK.finditer(line)):  # fmt: skip
        return True
    if any(whole(line, options) not in ("", label) for line in lines[:20]):
        return True
    return bool(lines and LATER.match(lines[0]) and pick_of(f"{label}, {lines[0]}", options).spoilt)


def _dressed(text: str) -> str:
    """The text with answers in tags put on lines of the common form."""
    text = _TAG_BREAK.sub(lambda m: m[1] or m[2], _FENCE.sub("", text))
    return _TAG.sub(r"\1ANSWER: \3\n", text)


def _statements(text: str, options: Mapping[str, str]) -> Iterator[_Statement]:
    """The answer lines of a text in order."""
    spans = list(_json_answers(text)) or []
    lines = _numbered_lines(text)
    found: list[tuple[int, int, str]] = list(spans)
    for i, (start, line) in enumerate(lines):
        if any(a <= start < b for a, b, _ in spans):
            continue
        if said := _said(line, options, last=i == len(lines) - 1):
            found += _split_marks(start, start + len(line) - len(said), said)
        elif HEADING.fullmatch(line) and i + 1 < len(lines):
            after, following = lines[i + 1]
            if not ANSWER.match(following):
                found.append((start, after + len(following), following))
        elif _BOXED_LINE.match(line):
            found.append((start, start + len(line), line))
    found.sort()
    boxed = [] if found else [m for m in _BOXED.finditer(text)]
    if boxed and CLOSING.match(lines[-1][1]) and _BOXED.search(lines[-1][1]):
        found = [(m.start(), m.end(), m[0]) for m in boxed]
    for n, (_, end, said) in enumerate(found):
        then = text[end : found[n + 1][0] if n + 1 < len(found) else len(text)]
        yield _Statement(pick_of(said, options), f"{said}\n" * (n + 1 < len(found)) + then)


def _said(line: str, options: Mapping[str, str], last: bool) -> str:
    """What an answer line says after its opening words; "" for any other line."""
    if taken_back := _RETRACTED.match(line):  # "On reflection, ANSWER: Q"
        line = line[taken_back.end() :].lstrip(" ,:—–-")
    if match := ANSWER.match(line):
        return line[match.end() :].strip()
    if last and (match := CLOSING.match(line) or CHOSEN.match(line)):
        said = line[match.end() :].strip()
        return "" if pick_of(said, options) == NOTHING else said
    return ""


def _split_marks(start: int, at: int, said: str) -> Iterator[tuple[int, int, str]]:
    """One line may hold the form twice: "ANSWER: Q ... ANSWER: H"."""
    begin = 0
    for mark in _MARK.finditer(said):
        yield start, at + mark.start(), said[begin : mark.start()]
        start, begin = at + mark.start(), mark.end()
    yield start, at + len(said), said[begin:]


def _json_answers(text: str) -> Iterator[tuple[int, int, str]]:
    for start, end, value in json_values(text):
        begins_line = not text[text.rfind("\n", 0, start) + 1 : start].strip(" `*>")
        said = _named(value)
        if begins_line and said:
            texts = {v if isinstance(v, str) else "" for v in said}
            yield start, end, texts.pop() if len(texts) == 1 else ""


def _named(value: dict[str, object]) -> list[object]:
    """The values under the names for an answer, of an inner object its own."""
    fields = {plain(str(k)).replace(" ", "_"): v for k, v in value.items()}
    said = [v for k, v in fields.items() if k in _KEYS]
    return [w for v in said for w in (_named(v)[:1] if isinstance(v, dict) else [v])]


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, with their places."""
    lines, at = [], 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((at, line))
        at += len(line) + 1
    return lines
