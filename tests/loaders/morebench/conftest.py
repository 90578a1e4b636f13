"""What the tests of upstream's CSV share."""

import csv
from pathlib import Path

import pytest

from moral_evals.loaders.morebench.csv_rows import UnknownColumns, read_csv
from moral_evals.loaders.morebench.records import Scenario
from tests.loaders.morebench.rows import HEADER


@pytest.fixture
def read(tmp_path: Path):
    """Write rows to a CSV file and read them back."""

    def write_and_read(
        *rows: dict[str, str],
        name: str = "morebench_public.csv",
        header: tuple[str, ...] = HEADER,
        unknown: UnknownColumns = "refuse",
    ) -> list[Scenario]:
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, header, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return read_csv(path, unknown)

    return write_and_read
