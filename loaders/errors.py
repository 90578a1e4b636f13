"""Errors that a user can act on, printed by Inspect as one line without a stack trace."""

from collections.abc import Iterable

from inspect_ai._util.error import PrerequisiteError

__all__ = ["DataError", "OptionError", "PrerequisiteError", "SuiteError", "first_line", "listing"]


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


class OptionError(SuiteError):
    """A task parameter has a name, a type or a value that is not allowed."""


def listing(values: Iterable[str]) -> str:
    """Allowed values for an error message, in the order given."""
    return ", ".join(repr(v) for v in values)


def first_line(error: BaseException) -> str:
    """An error as one short line, for messages that quote it."""
    # a SuiteError or PrerequisiteError keeps its text in `message`, sometimes with rich markup
    text = str(getattr(error, "message", "") or error).strip() or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:300]
