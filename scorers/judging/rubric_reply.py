"""Reading one reply that gives a verdict on every criterion of a numbered list.

JSON in any of its usual shapes, or lines. What is missing, unclear or contradictory has no
verdict and is asked again alone; a reply whose numbers do not fit the list is not read at all,
since a shifted count would give each criterion its neighbour's verdict.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from moral_evals.loaders.model_text import json_values
from moral_evals.loaders.own_prompts import YesNoWords
from moral_evals.scorers.judging.verdict import (
    NO_OWN_WORDS,
    YesNo,
    plain_reply,
    read_verdict,
    verdict_field,
)

_NUMBER_KEYS = ("n", "number", "nr", "id", "index", "criterion", "criterion_number", "#")
_LINE = re.compile(
    r"^[\s>|*_`#\-•\[(]*(?:criterion|item|no\.?)?\s*#?\s*(\d{1,4})[\s*_`\])]*(?:[.:)|=]|-|–|—|\s)+(.+)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(\d{1,4})\W{0,3}[:=.)–—]")
_DEEPEST = 20
_MOST = 2000

Numbered = tuple[Any, YesNo | None]


def read_verdicts(
    reply: str, count: int, cut: bool = False, own: YesNoWords = NO_OWN_WORDS
) -> dict[int, YesNo]:
    """Verdicts by number from 1 to `count`, as far as the reply gives them clearly.

    Args:
        reply: The judge's reply.
        count: Length of the list that the judge was shown.
        cut: The reply ended at a token limit, so its last line is not to be trusted.
        own: Verdict words of the judge's prompt.
    """
    text = plain_reply(reply)
    found = list(_from_json(text, count, own))
    found = found or list(islice(_from_lines(text, cut, own), _MOST + 1))
    if len(found) > _MOST:
        return {}  # a loop
    numbers = [number for number, _ in found]
    if not all(isinstance(n, int) and 1 <= n <= count for n in numbers):
        return {}
    said: dict[int, set[YesNo | None]] = {}
    for number, verdict in found:
        said.setdefault(number, set()).add(verdict)
    return {
        number: verdict
        for number, verdicts in sorted(said.items())
        if len(verdicts) == 1 and (verdict := next(iter(verdicts))) is not None
    }


def _from_json(text: str, count: int, own: YesNoWords) -> Iterator[Numbered]:
    # what comes before a cut is read entry by entry
    for _, _, value in json_values(text, "{["):
        yield from _entries(value, count, own)


def _entries(value: Any, count: int, own: YesNoWords, depth: int = 0) -> Iterator[Numbered]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        yield from _listed(value, count, own, depth)
    elif isinstance(value, dict):
        fields = {str(k).casefold().strip(): v for k, v in value.items()}
        numbers = (_as_number(fields.get(k)) for k in _NUMBER_KEYS)
        # 0 is a number too: it gives away a list that is counted from 0
        number = next((n for n in numbers if n is not None), None)
        if number is not None:
            yield number, verdict_field(fields, own)
        elif fields and all(_as_number(key) is not None for key in fields):
            for key, verdict in fields.items():
                yield _as_number(key), _verdict(verdict, own)
        else:
            for inner in fields.values():
                yield from _entries(inner, count, own, depth + 1)


def _listed(values: list[Any], count: int, own: YesNoWords, depth: int) -> Iterator[Numbered]:
    if values and all(isinstance(v, str | bool) for v in values):
        # without numbers only a complete list says which verdict is whose
        if len(values) == count and count > 1:
            yield from enumerate((_verdict(v, own) for v in values), 1)
        return
    for value in values:
        yield from _entries(value, count, own, depth + 1)


@cache
def _pair(own: YesNoWords) -> re.Pattern[str]:
    """One of several verdicts in a line: "1: yes, 2: no"."""
    mine = sorted(map(re.escape, own.yes | own.no), key=len, reverse=True)
    words = "|".join([*mine, "yes|no|not met|met|true|false"])
    return re.compile(
        rf"(?<![\w.])(\d{{1,4}})\s*[:=.)]\s*\W?({words})\b(?=\W*(?:$|[,;|]|\d))", re.IGNORECASE
    )


def _from_lines(text: str, cut: bool, own: YesNoWords) -> Iterator[Numbered]:
    for raw in text.splitlines()[: -1 if cut else None]:
        line = " ".join(raw.split())
        pairs = _pair(own).findall(line)
        if len(pairs) > 1:
            yield from ((int(n), read_verdict(word, own)) for n, word in pairs)
        elif match := _LINE.match(line):
            number = int(match.group(1))
            # a table row may repeat the criterion before the verdict
            cells = match.group(2).split("|")
            verdicts = {v for c in cells if (v := read_verdict(_before_another(number, c), own))}
            if verdicts:
                yield number, verdicts.pop() if len(verdicts) == 1 else None


def _before_another(number: int, text: str) -> str:
    """The text up to another number of the list: "unclear, 2: yes" says nothing of 1."""
    others = (m.start() for m in _NUMBERED.finditer(text) if int(m.group(1)) != number)
    return text[: next(others, len(text))]


def _verdict(value: Any, own: YesNoWords) -> YesNo | None:
    return verdict_field(value if isinstance(value, dict) else {"verdict": value}, own)


def _as_number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    match = re.fullmatch(r"\D{0,12}(\d{1,4})\D{0,3}", value) if isinstance(value, str) else None
    return int(match.group(1)) if match else None
