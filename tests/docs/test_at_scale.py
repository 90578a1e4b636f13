"""The commands and files of docs/at-scale.md name what exists."""

import importlib.util
import inspect
import re
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest
import yaml
from inspect_ai.model import GenerateConfig

from moral_evals.inspect_tasks import corda, morebench, morebench_theory
from tests.docs.pages import ROOT, blocks, commands

PAGE = ROOT / "docs/at-scale.md"
TASKS = {"morebench": morebench, "morebench_theory": morebench_theory, "corda": corda}


def block(language: str, part: str) -> str:
    return next(text for kind, text in blocks(PAGE) if kind == language and part in text)


def container() -> dict:
    job = yaml.safe_load(block("yaml", "kind: Job"))
    assert job["spec"]["completionMode"] == "Indexed"
    return job["spec"]["template"]["spec"]["containers"][0]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters(task: str) -> set[str]:
    found = inspect.signature(TASKS[task]).parameters.values()
    return {p.name for p in found if p.kind != p.VAR_KEYWORD}


@pytest.mark.parametrize(
    "words", commands(PAGE, "examples/eval_set.py", container()["args"][0]), ids=" ".join
)
def test_recipe_commands(words):
    options = example("eval_set").arguments().parse_args(words[1:])
    assert options.model
    assert options.shard is None or options.shard.endswith(f"/{len(options.model)}")


def test_the_flow_specification_names_tasks_and_parameters(monkeypatch):
    # inspect-flow is no dependency of this project: a stand-in takes what the file hands it
    flow = ModuleType("inspect_flow")
    for name in ("FlowDefaults", "FlowOptions", "FlowSpec", "FlowTask", "tasks_matrix"):
        setattr(flow, name, SimpleNamespace)
    monkeypatch.setitem(sys.modules, "inspect_flow", flow)
    spec = example("flow").spec(models="openai/gpt-5", data="sample")
    assert spec.tasks.model == ["openai/gpt-5"]
    for entry in spec.tasks.task:
        package, _, task = entry.name.partition("/")
        assert package == "moral_evals"
        assert set(entry.args) <= parameters(task)
        TASKS[task](**entry.args)


def test_the_batch_settings_of_the_page_and_the_recipe_outlast_a_batch():
    judge = example("eval_set").judge("mockllm/model", batch=True)
    assert judge.config.batch is True
    stated = [
        int(n) for n in re.findall(r"attempt[_-]timeout:? (\d+)", PAGE.read_text(encoding="utf-8"))
    ]
    assert min(judge.config.attempt_timeout, *stated) > 24 * 60 * 60


def test_the_scripts_can_be_parsed():
    subprocess.run(["bash", "-n"], input=block("bash", "#SBATCH"), text=True, check=True)
    assert "\n" not in container()["args"][0]
    GenerateConfig(**yaml.safe_load(block("yaml", "reasoning_effort")))
