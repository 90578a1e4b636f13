"""A .csv as people really save it: what is read, and what a refusal says."""

import json
from pathlib import Path

import pytest

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.csv_rows import read_csv
from moral_evals.loaders.morebench.data import MOREBENCH, load
from moral_evals.loaders.morebench.records import Scenario

CRITERION = {"title": "Names it.", "weight": 3, "annotations": {"rubric_dimension": "other"}}
CELL = '"' + json.dumps([CRITERION]).replace('"', '""') + '"'


def read(folder: Path, text: str, encoding: str = "utf-8") -> list[Scenario]:
    path = folder / "own.csv"
    path.write_bytes(text.encode(encoding))
    return read_csv(path)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"DILEMMA,RUBRIC\r\nWhich?,{CELL}\r\n", id="Windows"),
        pytest.param(f"DILEMMA,RUBRIC\rWhich?,{CELL}\r", id="old Mac"),
        pytest.param(f"\ufeffDILEMMA,RUBRIC\nWhich?,{CELL}", id="Excel, no last line end"),
        pytest.param(f" DILEMMA , RUBRIC\u00a0\nWhich?,{CELL}\n", id="blanks in the header"),
        pytest.param(f",DILEMMA,RUBRIC\n0,Which?,{CELL}\n", id="row numbers of a table library"),
        pytest.param(f"DILEMMA,RUBRIC,\nWhich?,{CELL},\n", id="comma at the end of each line"),
        pytest.param(f"DILEMMA,RUBRIC\n,\nWhich?,{CELL}\n,\n", id="empty rows"),
        pytest.param(f'"DILEMMA","RUBRIC"\n"Which?",{CELL}\n', id="all in quotes"),
    ],
)
def test_what_programs_write_is_read(tmp_path: Path, text: str):
    (scenario,) = read(tmp_path, text)
    assert scenario.dilemma == "Which?"
    assert scenario.criteria[0].weight == 3


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(
    ("mark", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")], ids=["a", "b", "c"]
)
def test_the_separator_that_was_found_is_named(tmp_path: Path, mark: str, name: str, quote: str):
    header = mark.join(f"{quote}{column}{quote}" for column in ("ID", "DILEMMA", "RUBRIC"))
    with pytest.raises(DataError) as refused:
        read(tmp_path, f"{header}\na{mark}{quote}Which?{quote}{mark}{CELL}\n")
    assert f"separated by {name}; must be commas" in str(refused.value)
    assert "a quote that is not closed" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"DILEMMA,RUBRICS\nWhich?,{CELL}\n", "perhaps 'RUBRICS' should be RUBRIC"),
        (f"DILEMA,RUBRIC\nWhich?,{CELL}\n", "perhaps 'DILEMA' should be DILEMMA"),
        (f"dilemma,rubric\nWhich?,{CELL}\n", "written as above, in the same case"),
        (f",DILEMMA,RUBRIC,\n0,Which?,{CELL},\n", "two columns without a name"),
        (f"DILEMMA,DILEMMA,RUBRIC\na,b,{CELL}\n", "field DILEMMA: the column stands there twice"),
        (f"DILEMMA,RUBRIC\nWhich, then?,{CELL}\n", "one that holds a comma stands in quotes"),
        (f"sep=;\nDILEMMA;RUBRIC\nWhich?;{CELL}\n", "The header is 'sep=;', separated by semi"),
        ('DILEMMA,RUBRIC\n"Which?,[]\n', "a quote that is not closed"),
        ("DILEMMA,RUBRIC\nWhich?,Names it (3)\n", "row 1, field RUBRIC: neither JSON nor"),
        (f"ID,DILEMMA,RUBRIC\na,b,{CELL}\na ,c,{CELL}\n", "row 2, field ID: 'a' stands in row 1"),
        ("DILEMMA,RUBRIC\n", "has no rows"),
    ],
)
def test_a_refusal_says_what_to_mend(tmp_path: Path, text: str, said: str):
    path = tmp_path / "own.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        load(MOREBENCH, str(path))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_ids_are_text_and_keep_their_zeros(tmp_path: Path):
    found = read(tmp_path, f"ID,DILEMMA,RUBRIC\n1,Which?,{CELL}\n01,Which?,{CELL}\n")
    assert [s.id for s in found] == ["1", "01"]


def test_another_encoding_is_refused_by_line(tmp_path: Path):
    with pytest.raises(DataError, match="line 1: not UTF-8"):
        read(tmp_path, f"DILEMMA,RUBRIC\nWhich?,{CELL}\n", "utf-16")
