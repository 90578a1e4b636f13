"""Checks of task parameters, which reach a task as YAML: text may arrive as a number or a bool."""

from collections.abc import Iterable, Sequence
from typing import Any

from moral_evals.loaders.errors import OptionError, listing, nearest

# What users try as -T although it is an option of the runner.
_RUNNER_OPTIONS = {
    "limit": "--limit",
    "epochs": "--epochs",
    "model": "--model",
    "seed": "--sample-shuffle SEED (order) or --seed (generation)",
    "shuffle": "--sample-shuffle SEED",
    "grader": "--model-role grader=MODEL",
    "judge": "--model-role grader=MODEL",
    "temperature": "--temperature",
    "max_tokens": "--max-tokens",
}


def refuse_unknown(unknown: dict[str, Any], allowed: Iterable[str], flag: str = "-T") -> None:
    """Raise OptionError for any -T name that the task, or -S name that the scorer, does not have.

    For a task Inspect only warns, and the run goes on with defaults; for a scorer Python raises.
    """
    allowed = list(allowed)
    for name in unknown:
        hint = f" Use the runner's {_RUNNER_OPTIONS[name]}." if name in _RUNNER_OPTIONS else ""
        problem = f"no such parameter{nearest(name, allowed)}.{hint}"
        raise OptionError(f"{flag} {name}: {problem} Allowed: {', '.join(allowed)}.")


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """The value, if it is one of the allowed texts."""
    if isinstance(value, str) and value in allowed:
        return value
    raise OptionError(f"-T {name}={value!r}: allowed are {listing(allowed)}.")


def text(name: str, value: Any, example: str) -> str:
    """The value, if it is text; YAML reads 0123 or 1e5 as a number unless it is quoted."""
    if isinstance(value, str) and value.strip():
        return value
    raise OptionError(
        f"-T {name}={value!r}: must be text (quote it twice on the command line, "
        f"-T {name}=\"'{example}'\")."
    )


def flag(name: str, value: Any, kind: str = "-T") -> bool:
    """The value, if it is true or false."""
    if isinstance(value, bool):
        return value
    raise OptionError(f"{kind} {name}={value!r}: allowed are true and false.")


def whole(name: str, value: Any, low: int, high: int) -> int:
    """The value, if it is a whole number from low to high."""
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise OptionError(f"-T {name}={value!r}: must be a whole number from {low} to {high}.")


def texts(name: str, value: Any, example: str) -> list[str]:
    """A non-empty list of texts from a list or a single text."""
    values = value if isinstance(value, list | tuple) else [value]
    if not values:
        raise OptionError(f"-T {name}: the list is empty; leave the parameter out for all rows.")
    return [text(name, v, example) for v in values]
