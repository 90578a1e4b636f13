"""Errors that a user can act on, printed by Inspect as one line without a stack trace."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from inspect_ai._util.error import PrerequisiteError
from pydantic import BaseModel, ValidationError

__all__ = [
    "DataError",
    "OptionError",
    "PrerequisiteError",
    "SuiteError",
    "field_name",
    "first_line",
    "listing",
    "nearest",
    "printable",
    "validation_problem",
]


class SuiteError(PrerequisiteError):
    """Something outside the code is wrong: an option, a file, a key, a missing package."""

    def __init__(self, message: str) -> None:
        """Keep the message both for Inspect's display and for `str(error)`."""
        super().__init__(message)
        self.args = (message,)

    def __str__(self) -> str:
        """The message, which Inspect's own class leaves out."""
        return str(self.args[0])


class DataError(SuiteError):
    """A file holds something that the schema does not allow; names file, row and field."""

    @classmethod
    def at(cls, file: str, row: int | str, field: str, problem: str) -> "DataError":
        """Build the message in the one form that all loaders use."""
        return cls(f"{file}, row {row}, field {field}: {problem}")

    @classmethod
    def of(
        cls,
        file: str,
        row: int | str,
        error: ValidationError,
        *,
        model: type[BaseModel] | None = None,
        prefix: Sequence[int | str] = (),
        names: Mapping[str, str] | None = None,
    ) -> "DataError":
        """What pydantic refused, as `at` says it: the one translation that all loaders use.

        Args:
            file: Name of the file.
            row: Row of the record.
            error: What pydantic raised.
            model: The validated class, to name the fields that are allowed.
            prefix: Place of the record within the row.
            names: Names of fields in the file, where they differ from the record's.
        """
        place, problem = validation_problem(error, model)
        place = tuple((names or {}).get(p, p) if isinstance(p, str) else p for p in place)
        return cls.at(file, row, field_name((*prefix, *place)), problem)


class OptionError(SuiteError):
    """A task parameter has a name, a type or a value that is not allowed."""


def listing(values: Iterable[str]) -> str:
    """Allowed values for an error message, in the order given."""
    return ", ".join(repr(v) for v in values)


def nearest(name: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` with the known name that is most like a wrong one; empty if none is."""
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def first_line(error: BaseException) -> str:
    """An error as one short line, for messages that quote it."""
    # a SuiteError or PrerequisiteError keeps its text in `message`, sometimes with rich markup
    text = str(getattr(error, "message", "") or error).strip() or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:300]


def field_name(path: Sequence[int | str]) -> str:
    """A place in a record, as messages name it: `criteria[2].weight`, lists counted from 1."""
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return printable(name or "(all)")


def printable(text: str) -> str:
    """A name for a message: on one line, not too long, half characters replaced."""
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean if len(clean) <= 120 else clean[:117] + "..."


# pydantic's word for a fault, and ours; all others keep pydantic's sentence
_PROBLEMS = {
    "missing": "is missing",
    "string_type": "must be text (a string)",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}


def validation_problem(
    error: ValidationError, model: type[BaseModel] | None = None
) -> tuple[tuple[int | str, ...], str]:
    """The first fault that pydantic found: the place in the record, lists from 1, and the problem.

    Args:
        error: What pydantic raised.
        model: The validated class, to name the fields that are allowed.
    """
    first = error.errors(include_url=False)[0]
    place = tuple(p + 1 if isinstance(p, int) else p for p in first["loc"] if p != "[key]")
    if first["type"] == "extra_forbidden":
        return place, f"is not in the schema; allowed: {', '.join(_fields_at(model, first['loc']))}"
    if first["type"] in ("too_short", "list_too_short"):
        least = first["ctx"]["min_length"]
        return place, f"must be a list of at least {least}"
    problem = _PROBLEMS.get(first["type"], first["msg"].removeprefix("Value error, "))
    return place, problem


def _fields_at(model: type[BaseModel] | None, loc: tuple[int | str, ...]) -> Iterable[str]:
    """The fields of the record that holds the last part of a place."""
    for part in loc[:-1]:
        if model is not None and isinstance(part, str) and part in model.model_fields:
            model = _record_in(model.model_fields[part].annotation)
    return model.model_fields if model else ()


def _record_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in get_args(annotation) if (m := _record_in(a))), None)
