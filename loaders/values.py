"""Values as people write them: numbers, texts, and names that must differ."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


def number(value: Any) -> float:
    """A finite number, given as one or as plain decimal text.

    Raises ValueError for anything else; `1_000`, `NaN` and `true` are none.
    """
    if isinstance(value, bool):
        raise ValueError("must be a number, not a boolean")
    if isinstance(value, str) and not _DECIMAL.fullmatch(value):
        finite = re.fullmatch(r"\s*[+-]?(nan|inf|infinity)\s*", value, re.IGNORECASE) is None
        raise ValueError(f"{short(value)} is not a {'' if finite else 'finite '}number")
    try:
        found = float(value)
    except OverflowError:
        raise ValueError(f"{short(value)} is not a finite number") from None
    except (TypeError, ValueError):
        raise ValueError(f"{short(value)} is not a number") from None
    if not math.isfinite(found):
        raise ValueError(f"{short(value)} is not a finite number")
    return found


def json_number(value: Any) -> float:
    """A finite number that is no text; raises ValueError for anything else."""
    if isinstance(value, str):
        raise ValueError(f"{short(value)}; allowed are finite numbers")
    return number(value)


def short(value: Any) -> str:
    """A value for a message, on one line and not too long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python will print
        return "a number with thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."


def _words(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text that is not blank")
    return value


def at_least(count: int) -> BeforeValidator:
    """A validator for a list of so many entries or more."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) < count:
            raise ValueError(f"must be a list of at least {count}")
        return value

    return BeforeValidator(check)


Words = Annotated[str, BeforeValidator(_words)]
"""Text that is not blank."""

Number = Annotated[float, BeforeValidator(number)]
"""A finite number; decimal text is read as one."""

JsonNumber = Annotated[float, BeforeValidator(json_number)]
"""A finite number; text is refused."""


def distinct(
    names: Sequence[str], form: str = "{name}-{n}", taken: Iterable[str] = ()
) -> list[str]:
    """The names, where one that recurs gets the first number from 2 that makes it new.

    A made name never equals one of those given, nor one of `taken`.
    """
    used = {*names, *taken}
    times: Counter[str] = Counter()
    out = []
    for name in names:
        times[name] += 1
        if times[name] == 1:
            out.append(name)
            continue
        n = times[name]
        while (made := form.format(name=name, n=n)) in used:
            n += 1
        used.add(made)
        out.append(made)
    return out


def repeated(values: Iterable[str]) -> str | None:
    """The first value that stands twice, None if all differ."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
