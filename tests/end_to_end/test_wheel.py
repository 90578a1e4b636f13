"""A wheel built from this checkout, installed where the checkout is out of reach."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT

PROBE = """
import datasets
from datasets import load_dataset
from moral_evals.inspect_tasks import morebench, morebench_theory
from moral_evals.loaders.morebench.theories import theory
import moral_evals.loaders
print(loaders.__file__)
print(len(morebench(data="sample").dataset), len(morebench_theory(data="sample").dataset))
print(theory("Kantian Deontology").slug)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_code_prompts_and_data_and_no_top_level_datasets(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"inspect_tasks", "loaders", "solvers", "scorers", "providers", "reports"}
    for part in ("inspect_tasks/_data/theories/", "solvers/prompts/", "scorers/prompts/"):
        assert any(n.startswith(part) and n.endswith(".md") for n in names), part
    assert "inspect_tasks/_data/morebench_sample/dilemmas.jsonl" in names
    assert {"reports/page_template.html", "reports/page.css", "reports/page.js"} <= set(names)


def test_an_installed_wheel_runs_with_its_own_data(wheel, tmp_path):
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as file:  # what an installer does with a pure wheel
        file.extractall(target)
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(target), "PATH": "", "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    where, counts, slug = done.stdout.split("\n")[:3]
    assert Path(where).is_relative_to(target)
    assert counts == "27 10"
    assert slug == "kantian-deontology"
