"""Files of models and of other benchmarks: what they may hold, and which place a refusal names."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.tables.benchmark_file import read_benchmarks
from moral_evals.loaders.tables.model_file import facts_of, read_models
from moral_evals.loaders.tables.reader import fitting

MODELS = "model,family,size_b,active_b,name\nqwen3-8b,Qwen3,8,,\nqwen3-30b,Qwen3,30,3,Qwen3 30B\n"


def file(tmp_path, text, name="models.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_models_of_a_csv(tmp_path):
    small, large = read_models(file(tmp_path, "\ufeff" + MODELS)).values()
    assert (small.model, small.family, small.size_b, small.name) == ("qwen3-8b", "Qwen3", 8, "")
    assert math.isnan(small.active_b)
    assert (large.size_b, large.active_b, large.name) == (30, 3, "Qwen3 30B")


@pytest.mark.parametrize("name", ["models.yaml", "models.yml", "models.json"])
def test_models_of_a_list(tmp_path, name):
    rows = [
        {"model": "a", "family": "f", "size_b": 7, "active_b": None},
        {"model": "b", "family": "f", "size_b": "0.5"},
        {"model": "c", "family": "g", "size_b": None},
    ]
    found = read_models(file(tmp_path, json.dumps(rows), name))  # JSON is YAML too
    assert [f.size_b for f in found.values()][:2] == [7, 0.5]
    assert math.isnan(found["c"].size_b)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,family\na,f\n", "models.csv: column size_b is missing"),
        ("model,family,size_b,size\na,f,7,7\n", "row 1, field size: no such field; allowed are"),
        (MODELS + "x,f,7B,,\n", "row 3, field size_b: '7B' is not a number"),
        (MODELS + "x,f,nan,,\n", "row 3, field size_b: 'nan' is not a finite number"),
        (MODELS + "x,f,0,,\n", "row 3, field size_b: 0 is no size"),
        (MODELS + "x,f,-3,,\n", "row 3, field size_b: -3 is no size"),
        (MODELS + "x,f,7,8,\n", "row 3, field active_b: 8 of 7 billions"),
        (MODELS + "x,,7,,\n", "row 3, field family: '' is not text"),
        (MODELS + "qwen3-8b,f,7,,\n", "row 3, field model: 'qwen3-8b' stands in the file twice"),
        (MODELS + "x,f,7\n", "row 3, field active_b: 3 cells for 5 columns"),
        ("model,model,size_b\n", "header, field model: the column stands there twice"),
        ("model,,size_b\n", "header, field (empty): a column without a name"),
        ("model,family,size_b\n", "models.csv: has no rows"),
        ("", "models.csv: column model, family, size_b is missing"),
        ('model,family,size_b\n"a,f,7\n', "not a CSV file"),
    ],
)
def test_what_a_csv_of_models_may_not_hold(tmp_path, text, message):
    with pytest.raises(DataError) as refused:
        read_models(file(tmp_path, text))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: a", "must be a list"),
        ("- a", "row 1, field (all): must be a mapping"),
        ("- {model: 4.1, family: f, size_b: 7}", "row 1, field model: 4.1 is not text"),
        (
            "- {model: a, family: f, size_b: true}",
            "row 1, field size_b: must be a number, not a boolean",
        ),
        ("- {model: a, family: f, size_b: .inf}", "row 1, field size_b: is not a finite number"),
        ("- {model: a, family: f, size_b: [7]}", "row 1, field size_b: [7] is not a number"),
        (f"- {{model: a, family: f, size_b: 1{'0' * 400}}}", "row 1, field size_b"),
        ("- {model: a", "not YAML"),
    ],
)
def test_what_a_yaml_of_models_may_not_hold(tmp_path, text, message):
    with pytest.raises(DataError) as refused:
        read_models(file(tmp_path, text, "models.yaml"))
    assert message in str(refused.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SuiteError, match="no such file"):
        read_models(tmp_path / "none.csv")
    with pytest.raises(SuiteError, match="must end in"):
        read_models(file(tmp_path, MODELS, "models.txt"))
    (tmp_path / "latin.csv").write_bytes(b"model,family,size_b\n\xe9,f,7\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_models(tmp_path / "latin.csv")
    with pytest.raises(DataError, match="not JSON"):
        read_models(file(tmp_path, "[", "models.json"))


def test_a_name_means_the_model_that_it_ends():
    names = ["gpt-oss-120b", "openai/gpt-oss-120b", "gpt", "120b"]
    assert fitting(names, "openrouter/openai/gpt-oss-120b") == "openai/gpt-oss-120b"
    assert fitting(names, "groq/gpt-oss-120b") == "gpt-oss-120b"
    assert fitting(names, "gpt") == "gpt"
    assert fitting(names, "mygpt") is None
    assert fitting([], "gpt") is None


@given(st.lists(st.text("ab/", min_size=1), max_size=5), st.text("ab/", min_size=1))
def test_only_whole_parts_of_a_name_fit(names, model):
    found = fitting(names, model)
    if found is None:
        assert model not in names
    else:
        assert found in names
        assert model == found or model.endswith("/" + found)


def test_facts_of_a_model_of_the_logs(tmp_path):
    models = read_models(file(tmp_path, MODELS))
    found = facts_of(models, "openrouter/qwen/qwen3-30b")
    assert found is not None and found.active_b == 3
    assert facts_of(models, "openrouter/qwen/qwen3-14b") is None


def test_benchmarks_keep_order_and_leave_blanks_unmeasured(tmp_path):
    text = "Arena,model,HLE\n1200,a, \n,b,-3.5\n,,\n"
    found = read_benchmarks(file(tmp_path, text, "b.csv"))
    assert found.names == ("Arena", "HLE")
    assert found.scores["a"]["Arena"] == 1200 and math.isnan(found.scores["a"]["HLE"])
    assert found.scores["b"]["HLE"] == -3.5 and math.isnan(found.scores["b"]["Arena"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,HLE\na,1\n", "column model is missing"),
        ("model\na\n", "header, field model: stands alone"),
        ("model,HLE\na,1\na,2\n", "row 2, field model: 'a' stands in the file twice"),
        ("model,HLE\na,78%\n", "row 1, field HLE: '78%' is not a number"),
        ("model,HLE\n,3\n", "row 1, field model: '' is not text"),
        ("model;HLE\na;1\n", "column model is missing"),
    ],
)
def test_what_a_file_of_benchmarks_may_not_hold(tmp_path, text, message):
    with pytest.raises(DataError) as refused:
        read_benchmarks(file(tmp_path, text, "b.csv"))
    assert message in str(refused.value)


def test_benchmarks_come_as_csv(tmp_path):
    with pytest.raises(SuiteError, match=r"must end in \.csv"):
        read_benchmarks(file(tmp_path, "[]", "b.json"))
