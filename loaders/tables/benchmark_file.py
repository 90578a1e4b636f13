"""The user's file of other benchmarks' scores, to correlate with ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.tables.reader import check_fields, number_of, once, read_table, text_of


@dataclass(frozen=True)
class Benchmarks:
    """Scores of models on other benchmarks.

    Attributes:
        names: The benchmarks, in the order of the file's columns.
        scores: By model and benchmark, in the benchmark's own unit; nan where not measured. A
            model's name is that of the logs, or its end after a `/`.
    """

    names: tuple[str, ...]
    scores: Mapping[str, Mapping[str, float]]


def read_benchmarks(path: Path) -> Benchmarks:
    """Read a CSV file with the column `model` and one column for each benchmark.

    An empty cell means that the model was not measured.

    Raises:
        SuiteError: If there is no such file or it is no `.csv`.
        DataError: If a row is not as it must be; names file, row, field and what is allowed.
    """
    if path.suffix.lower() != ".csv":
        raise SuiteError(f"{path}: the name must end in .csv.")
    rows = read_table(path, ("model",))
    names = tuple(name for name in rows[0][1] if name != "model")
    check_fields(path.name, rows[0][0], rows[0][1], ("model",), names)
    if not names:
        problem = "stands alone; allowed: model, then a column for each benchmark"
        raise DataError.at(path.name, "header", "model", problem)
    seen: set[str] = set()
    scores = {}
    for row, item in rows:
        model = once(path.name, row, "model", text_of(path.name, row, "model", item["model"]), seen)
        scores[model] = {name: number_of(path.name, row, name, item[name]) for name in names}
    return Benchmarks(names, scores)
