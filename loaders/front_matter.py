"""Markdown with YAML front matter between `---` lines: theories and prompts of a user's own."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from moral_evals.loaders.errors import DataError, field_name, validation_problem
from moral_evals.loaders.files import TABLE_LIMIT, read_text
from moral_evals.loaders.formats import parse_yaml

Head = TypeVar("Head", bound=BaseModel)


def read_front_matter(path: Path, model: type[Head]) -> tuple[Head, str]:
    """The fields of the front matter, validated, and the text below it without blanks around it.

    Raises DataError naming file and field, SuiteError if the file cannot be read.
    """
    names = ", ".join(model.model_fields)
    text = read_text(path, TABLE_LIMIT).replace("\r\n", "\n")
    if not text.startswith("---\n"):
        raise DataError(f"{path.name}: must begin with front matter ({names}) between --- lines.")
    head, end, body = text.removeprefix("---\n").partition("\n---\n")
    if not end:
        raise DataError(f"{path.name}: the front matter ({names}) has no --- line at its end.")
    fields = parse_yaml(head, path.name)
    if not isinstance(fields, dict):
        raise DataError(f"{path.name}: the front matter must have the fields {names}.")
    if not body.strip():
        raise DataError(f"{path.name}: there is no text below the front matter.")
    try:
        return model.model_validate(fields), body.strip()
    except ValidationError as error:
        place, problem = validation_problem(error, model)
        raise field_error(path.name, field_name(place), problem) from error


def field_error(file: str, field: str, problem: str) -> DataError:
    """A refusal of such a file, which has fields but no rows."""
    return DataError(f"{file}, field {field}: {problem}.")
