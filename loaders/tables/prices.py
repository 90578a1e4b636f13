"""Price files: what a million tokens cost, in the format of Inspect's --model-cost-config."""

from pathlib import Path
from typing import Any

from inspect_ai.model import ModelCost
from pydantic import ValidationError

from moral_evals.loaders.errors import DataError, SuiteError, field_name, validation_problem
from moral_evals.loaders.formats import read_yaml
from moral_evals.loaders.values import json_number, short

_FIELDS = "input, output, input_cache_write, input_cache_read (money for a million tokens)"


def read_prices(path: str) -> dict[str, ModelCost]:
    """Prices by model name, from a YAML or JSON file.

    Raises SuiteError if the file cannot be read, DataError for a model without usable prices.
    """
    file = Path(path).name
    found = read_yaml(Path(path))
    if not isinstance(found, dict) or not found:
        raise DataError(f"{file}: must map model names to {_FIELDS}.")
    if wrong := next((name for name in found if not isinstance(name, str)), None):
        raise DataError.at(file, short(wrong), "model", "is not text; allowed: text, in quotes")
    return {model: _price(file, model, entry) for model, entry in found.items()}


def price_of(prices: dict[str, ModelCost], model: str, path: str) -> ModelCost:
    """The price of a model. Raises SuiteError naming the models in the file."""
    if model not in prices:
        raise SuiteError(f"{path}: no price for {model}. The file has: {', '.join(prices)}.")
    return prices[model]


def _price(file: str, model: str, entry: Any) -> ModelCost:
    if not isinstance(entry, dict):
        raise DataError.at(file, model, "prices", f"must have {_FIELDS}")
    for field, value in entry.items():
        if field not in ModelCost.model_fields:
            raise DataError.at(file, model, short(field), f"no such field; needed are {_FIELDS}")
        try:
            if json_number(value) < 0:
                raise ValueError(f"{value}")
        except ValueError as error:
            problem = f"{error} is no price; needed are {_FIELDS}"
            raise DataError.at(file, model, field, problem) from error
    try:
        return ModelCost.model_validate(entry)
    except ValidationError as error:
        place, problem = validation_problem(error)
        raise DataError.at(
            file, model, field_name(place), f"{problem}; needed are {_FIELDS}"
        ) from error
