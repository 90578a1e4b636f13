"""Answers that a reply without an answer line gives in its last words."""

import re
from collections.abc import Mapping

from moral_evals.solvers.answer_line import ABSTAIN, pick_of, whole

_ABSTAINS = re.compile(r"\W*i (?:choose to |must |will |have to )?abstain\W*", re.IGNORECASE)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_ORDINAL = re.compile(
    r"\W*(?:answer: ?)?(?:the )?(first|second|third|fourth|last) (?:option|choice|one|alternative)\W*",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\W{0,4}(\w{1,20})[)\]*.,:;]{0,3} ?[,;:—–-]? ?(?:because|since|as|weil|car|porque)\b", re.I
)
_SO = re.compile(r"(?:(?:^|[.!?;,:] |— ?)(?:so |then )?(\w{1,20}) it is|, so (\w{1,20}))\W*$")
_SENTENCE_END = re.compile(r"[.!?…。)\"'”’*]$")


def last_words(text: str, options: Mapping[str, str]) -> str:
    """The label that the last line gives by itself, or ""; nothing else may speak for another."""
    lines = text.split("\n")
    last = lines[-1]
    if _ABSTAINS.fullmatch(last):
        return ABSTAIN
    if len(lines) == 1:
        if ordinal := _ORDINAL.fullmatch(last):
            at = _ORDINALS[ordinal[1].lower()]
            return list(options)[at] if at < len(options) else ""
        if (reason := _REASON.match(last)) and reason[1] in options:
            return pick_of(last, options).label
        if picked := _labelled_text(last, options):
            return picked
    if (so := _SO.search(last[-200:])) and (label := so[1] or so[2]) in options:
        return label
    # a label alone after a finished sentence; not after "The worse of the two:"
    if (
        len(lines) > 1
        and _SENTENCE_END.search(lines[-2])
        and not any(pick_of(line, options).label for line in lines[:-1])
    ):
        return "" if whole(last, options) == ABSTAIN or len(last) > 30 else whole(last, options)
    return ""


def _labelled_text(line: str, options: Mapping[str, str]) -> str:
    """The label of a line that is "[K] the option's text", "K: ..." or "Option K"."""
    found = pick_of(line, options).label
    if not found or found == ABSTAIN:
        return ""
    after = re.sub(rf"^\W*(?:option |choice )?\W*{re.escape(found)}", "", line, count=1, flags=re.I)
    if not re.search(r"\w", after):
        return found
    return found if whole(after.lstrip(" )]}*_`.:;,-–—"), options) == found else ""
