"""Reading which option a reply chooses (CORDA section 3.6); never by the first letter that fits."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Literal

Reading = Literal["answered", "abstained", "unparsed"]

_ABSTAIN = "NONE"
_ANSWER = re.compile(r"(?<![^\W_])answer[\s*_`]*[:=]", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text\{)?\s*([^{}]+?)\s*\}", re.IGNORECASE)
_MARKUP = "*_`\"'“”‘’[](){}<>«»"
# What may follow a label: the end, closing marks, punctuation; an apostrophe if no word goes on.
_END = r"(?=$|\s*[*_`\"“”\[\](){}<>«»/]|\s*['’‘](?!\w)|\s*[.,;:!—–]|\s+-\s)"
# Two different answers are none, unless the model says that the later one replaces the earlier.
_RETRACTED = re.compile(
    r"\b(?:on (?:further )?reflection|on second thoughts?|correction|i change my (?:mind|answer)|"
    r"scratch that|revis(?:e|ed|ing) (?:my )?answer|let me (?:correct|revise))\b",
    re.IGNORECASE,
)


def read_answer(text: str, options: Mapping[str, str]) -> tuple[Reading, str]:
    """What a reply says, and the label it chooses.

    Args:
        text: The reply without its reasoning.
        options: Option text by label, as shown.

    Returns:
        (`answered`, label), (`abstained`, "") or (`unparsed`, "").
    """
    text = _visible(text)
    found = set(_marked(text, options))
    if not found:
        found = {_whole(said, options) for said in _BOXED.findall(text) or [text]} - {""}
    if len(found) != 1:
        return "unparsed", ""
    label = found.pop()
    return ("abstained", "") if label == _ABSTAIN else ("answered", label)


def _marked(text: str, options: Mapping[str, str]) -> list[str]:
    """Labels after `ANSWER:`, with the earlier ones gone where the text retracts them."""
    marks = list(_ANSWER.finditer(text))
    found: list[str] = []
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        said = text[mark.end() : after.start() if after else len(text)]
        line = said.lstrip().split("\n")[0]
        # an option's text may itself begin with a label
        label = _whole(said, options) or _whole(line, options) or _label(line, options)
        if label:
            found.append(label)
        if after and _RETRACTED.search(said):
            found.clear()
    return found


def _label(line: str, options: Mapping[str, str]) -> str:
    """The label that a line names: alone, bracketed, as "Option Q", or before a reason."""
    line = line.strip().strip(_MARKUP).strip()
    labels = (*options, _ABSTAIN)
    for label in labels:
        start = rf"(?:option\s+)?[\[(\"'`*]*{re.escape(label)}{_END}"
        if match := re.match(start, line, re.IGNORECASE):
            return "" if _lists_others(line[match.end() :], label, labels) else label
    return ""


def _lists_others(rest: str, label: str, labels: tuple[str, ...]) -> bool:
    """Whether nothing but further labels follows: a reason may name some, a list is no choice."""
    words = set(re.findall(r"\w+", rest.casefold())) - {"and", "or", "option", label.casefold()}
    return bool(words) and words <= {name.casefold() for name in labels}


def _whole(said: str, options: Mapping[str, str]) -> str:
    """The label if the text is exactly a label or exactly one option's text."""
    plain = _plain(said)
    for label in (*options, _ABSTAIN):
        if plain == label.casefold():
            return label
    same = [label for label, text in options.items() if _plain(text) == plain]
    return same[0] if len(same) == 1 else ""


def _plain(text: str) -> str:
    return " ".join(_visible(text).casefold().split()).strip(_MARKUP + " .!").strip()


def _visible(text: str) -> str:
    normal = unicodedata.normalize("NFKC", text)
    return "".join(c for c in normal if unicodedata.category(c) != "Cf")
