"""Reading a judge's reply as yes, no, or neither.

A reply counts only if it is clearly one of the two. Substrings never decide ("I do not know",
"yesterday"), nor does an echo of the question ("yes or no?"), and a reply that says both is none.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

YesNo = Literal["yes", "no"]

_YES = {"yes", "met", "true", "satisfied", "fulfilled"}
_NO = {"no", "not met", "unmet", "false", "not satisfied", "not fulfilled"}
_WORD = r"(?:yes|no|not met|unmet|met|true|false|not satisfied|satisfied|not fulfilled|fulfilled)"

_DECODER = json.JSONDecoder()
_JSON_KEYS = ("verdict", "answer", "met", "criterion_met", "criteria_met", "judgement", "judgment",
              "decision", "result", "final_answer", "label")  # fmt: skip

_THINK = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_THINK_CUT = re.compile(r"<(?:think|thinking|reasoning)>.*$", re.DOTALL | re.IGNORECASE)
_HARMONY_FINAL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|constrain\|>\w+)?<\|message\|>")
_HARMONY_CHANNEL = re.compile(r"<\|channel\|>")
_HARMONY_TOKEN = re.compile(r"<\|\w+\|>")
_FENCE = re.compile(r"^\s*```\w*\s*\n?|\n?\s*```\s*$")
_EITHER = r"['\"]?\b(?:yes|no)\b['\"]?"
_ECHO = re.compile(
    rf"{_EITHER}\s*(?:,?\s*or|/)\s*{_EITHER}|{_EITHER}\s*,\s*{_EITHER}(?=\s*(?:$|[.?!:;)\n]))", re.I
)
_BOTH = re.compile(
    r"^\W*(?:yes\W+(?:and|but also|or|&)\W+no|no\W+(?:and|but also|or|&)\W+yes)\b", re.I
)
_LEADING = re.compile(rf"^({_WORD})(?=\s*(?:$|[.,;:!?\n—–]|-\s|\(|because\b|since\b|as\b))", re.I)
_LABELLED = re.compile(
    r"\b(?:final\s+)?(?:answer|verdict|judge?ment|decision|result|conclusion)\s*"
    rf"(?:is|:|=|-|—)\s*:?\s*({_WORD})\s*(?=$|[.!,;])",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSING = re.compile(rf"^(?:so|thus|hence|therefore|overall|in short)?\s*({_WORD})$", re.I)
_SEGMENT = re.compile(r"[.?!:;,\n—–]+")


def read_verdict(reply: str) -> YesNo | None:
    """The verdict of a judge's reply, or None if it is not clearly one.

    Read are a bare word, decorated or not; a leading word set off by punctuation; a labelled or
    closing word; a JSON object with a verdict field. Where a leading and a closing verdict
    differ, there is none.
    """
    text, from_json = _without_json(plain_reply(reply))
    text = _undecorated(text)
    if None in from_json or _BOTH.match(text):
        return None
    text = _undecorated(_ECHO.sub(" ", text))
    in_prose = {v for v in (_leading(text), *_labelled(text), _closing(text)) if v}
    found = in_prose | from_json
    return found.pop() if len(found) == 1 else None


def is_bare(reply: str) -> bool:
    """Whether a reply is one verdict word and nothing else, however decorated."""
    return _as_verdict(_undecorated(plain_reply(reply))) is not None


def plain_reply(reply: str) -> str:
    """A reply without reasoning blocks, channel tokens, code fences and invisible characters."""
    text = unicodedata.normalize("NFKC", reply)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    text = _THINK_CUT.sub("", _THINK_END.sub("", _THINK.sub("", text)))
    if finals := list(_HARMONY_FINAL.finditer(text)):
        text = _HARMONY_TOKEN.split(text[finals[-1].end() :])[0]
    elif _HARMONY_CHANNEL.search(text):
        return ""  # analysis alone: the judge never came to its answer
    text = _HARMONY_TOKEN.sub(" ", text)
    return _FENCE.sub("", text).strip()


def _undecorated(text: str) -> str:
    # markup and quotes go, sentence punctuation stays: it sets verdicts off from prose
    return " ".join(re.sub(r"[*_`\"“”‘’\[\]{}<>#~]|^\W+", " ", line).strip() + "\n"
                    for line in text.splitlines()).replace("\n ", "\n").strip()  # fmt: skip


def _as_verdict(word: str) -> YesNo | None:
    key = " ".join(word.casefold().strip(" \t\n.!?,;:'()-").split())
    return "yes" if key in _YES else "no" if key in _NO else None


def _leading(text: str) -> YesNo | None:
    match = _LEADING.match(text)
    return _as_verdict(match.group(1)) if match else None


def _labelled(text: str) -> list[YesNo]:
    words = (_as_verdict(m.group(1)) for m in _LABELLED.finditer(text))
    return [word for word in words if word]


def _closing(text: str) -> YesNo | None:
    segments = [s.strip(" '()-") for s in _SEGMENT.split(text)]
    segments = [s for s in segments if s]
    match = _CLOSING.match(segments[-1]) if segments else None
    return _as_verdict(match.group(1)) if match else None


def _without_json(text: str) -> tuple[str, set[YesNo | None]]:
    """The text without its JSON objects, and their verdict fields; None for an unclear one."""
    found: set[YesNo | None] = set()
    rest, start = "", 0
    while (brace := text.find("{", start)) >= 0:
        rest += text[start:brace]
        try:
            value, start = _DECODER.raw_decode(text, brace)
        except (json.JSONDecodeError, RecursionError):
            rest, start = rest + "{", brace + 1
            continue
        found |= _verdict_fields(value)
    return rest + text[start:], found


def verdict_field(fields: Mapping[str, Any]) -> YesNo | None:
    """The verdict in a decoded JSON object; None if it has none or two that differ."""
    found = _verdict_fields(fields)
    return found.pop() if len(found) == 1 else None


def _verdict_fields(value: Mapping[str, Any]) -> set[YesNo | None]:
    fields = {str(k).casefold().strip().replace(" ", "_"): v for k, v in value.items()}
    return {_json_verdict(fields[key]) for key in _JSON_KEYS if key in fields}


def _json_verdict(value: Any) -> YesNo | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _as_verdict(value) if isinstance(value, str) else None
