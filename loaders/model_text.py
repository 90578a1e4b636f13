"""Text as models send it, made fit for reading: broken characters, decoration, embedded JSON.

Everything here takes any text whatever, never raises, and needs time in proportion to its length.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

LONGEST = 100_000
"""Characters of a reply, blanks and thinking not counted, from which on it is a loop: not read."""

_BLANKS = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r" ?\n[\n ]*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MOST_MARKS = 30  # Unicode's own bound on marks over one letter; sorting more takes quadratic time
_MATH_COMMAND = re.compile(r"\\(?:[a-zA-Z]{1,20}\*?|[()\[\],;:! ])|[{}$]")
_OBJECT = r"\{(?=\s{0,50}[\"}])"
_LIST = r"\[(?=\s{0,50}[\"{\[\]tfn\d-])"
_OPENING = {"{": re.compile(_OBJECT), "{[": re.compile(f"{_OBJECT}|{_LIST}")}
_DECODER = json.JSONDecoder()
_TRIES = 1000
_DEEP = 20


def whole_characters(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs, which no file or request can hold."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def visible(text: str) -> str:
    """Compatibility characters as plain ones (NFKC), invisible and broken ones left out."""
    if text.isascii():
        return text
    kept, marks = [], 0
    for c in whole_characters(text):
        if c < "\x80":
            kept.append(c)
            marks = 0
        elif c != "\ufffd" and unicodedata.category(c) != "Cf":
            marks = marks + 1 if unicodedata.combining(c) else 0
            if marks <= _MOST_MARKS:
                kept.append(c)
    normal = unicodedata.normalize("NFKC", "".join(kept))
    return normal if normal.isascii() else _without_format(normal)


def single_blanks(text: str) -> str:
    """The text with one blank or one line break in place of many."""
    return _BREAKS.sub("\n", _BLANKS.sub(" ", text)).strip()


def plain_math(text: str) -> str:
    r"""The text without LaTeX: `$\boxed{\mathrm{K}}$` becomes `K` among blanks."""
    return _MATH_COMMAND.sub(" ", text)


def json_values(text: str, opening: str = "{") -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON values of a text: (start, end, value).

    Where a value is damaged or cut, those inside it are found.

    Args:
        text: Any text.
        opening: `{` for objects, `{[` for lists as well.
    """
    pattern, start = _OPENING[opening], 0
    # a text that has to be decoded again and again in vain is given up
    work, tries, deep = 4 * len(text) + 10_000, _TRIES, _DEEP
    while min(work, tries, deep) > 0 and (match := pattern.search(text, start)) is not None:
        start = match.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            work -= error.pos - start
            tries -= 1
            start += 1
        except RecursionError:
            deep -= 1
            start += 1
        except ValueError:  # a number of thousands of digits
            work -= len(text) - start
            start += 1
        else:
            yield start, end, value
            start = end


def _without_format(text: str) -> str:
    return "".join(c for c in text if c < "\x80" or unicodedata.category(c) != "Cf")
