"""Price files: what a million tokens cost, in the format of Inspect's --model-cost-config."""

import math
from pathlib import Path
from typing import Any

import yaml
from inspect_ai.model import ModelCost
from pydantic import ValidationError

from moral_evals.loaders.errors import DataError, SuiteError, first_line

_FIELDS = "input, output, input_cache_write, input_cache_read (money for a million tokens)"


def read_prices(path: str) -> dict[str, ModelCost]:
    """Prices by model name, from a YAML or JSON file.

    Raises SuiteError if the file is not there, DataError for a model without usable prices.
    """
    try:
        found: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SuiteError(f"{path}: no readable price file ({error.strerror}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path}: neither YAML nor JSON ({first_line(error)}).") from error
    if not isinstance(found, dict) or not found:
        raise SuiteError(f"{path}: must map model names to {_FIELDS}.")
    return {str(model): _price(path, str(model), entry) for model, entry in found.items()}


def price_of(prices: dict[str, ModelCost], model: str, path: str) -> ModelCost:
    """The price of a model. Raises SuiteError naming the models in the file."""
    if model not in prices:
        raise SuiteError(f"{path}: no price for {model}. The file has: {', '.join(prices)}.")
    return prices[model]


def _price(path: str, model: str, entry: Any) -> ModelCost:
    if not isinstance(entry, dict):
        raise DataError.at(path, model, "prices", f"must have {_FIELDS}")
    try:
        price = ModelCost.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "prices"
        raise DataError.at(path, model, field, f"{first['msg']}; needed are {_FIELDS}") from error
    for field, value in price:
        if not 0 <= value < math.inf:
            raise DataError.at(path, model, field, f"{value} is no price")
    return price
