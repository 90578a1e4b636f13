"""Every command, recipe and code block of the pages is run, on small logs, and its numbers hold.

A block is one test: its commands run in order, in this process, in a copy of a prepared folder
(desk.py). `MODELS` and `WORDS` say what stands in for models, keys and places; `NOT_RUN` what is
left out, and why.
"""

import contextlib
import json
import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai._cli.main import inspect as inspect_command
from inspect_ai.log import read_eval_log

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.corda.chains import read_chains
from moral_evals.loaders.morebench import hub
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.reports.__main__ import main as moral_reports
from tests.docs import desk as prepared
from tests.docs.desk import stand_in
from tests.docs.numbers import CHECKS, RECIPES, check_log, check_walked
from tests.docs.pages import CARDS, PAGES, ROOT, blocks
from tests.mocks import run

MODELS = r"(?<![\w/.-])(openrouter|openai|anthropic)/(?=\w)"
"""Providers whose models `desk.StandIn` plays."""

WORDS = {
    "NEW/JUDGE": "stand_in/new-judge",
    "grader=...": "grader=stand_in/judge",
    "--model ...": "--model stand_in/openai/gpt-5",
    "s3://BUCKET/": "bucket/",
    "$HOME/": "home/",
    "$SLURM_ARRAY_TASK_ID": "1",
    "$JOB_COMPLETION_INDEX": "3",
}

ALWAYS = {
    "inspect eval": "--limit 2 --display none",
    "inspect eval-set": "--limit 2 --display none",
    "inspect eval-retry": "--display none",
    "inspect score": "--display none",
    "python examples/eval_set.py": "--limit 2 --grader stand_in/judge",
}
"""Added to each such command: two samples are enough, and nothing draws on the screen."""

NOT_RUN = {
    "make ": "sets up an environment of its own; CI runs it",
    "pip install": "needs a network",
    "export ": "a key, or a folder that the tests set themselves",
    "inspect eval moral_evals/corda --model person/": "tests/solvers/test_from_file.py",
    "inspect eval moral_evals/morebench --model person/": "tests/solvers/test_from_file.py",
    "inspect view": "a server that runs until it is stopped; tests/end_to_end/test_browser.py",
    "flow ": "inspect-flow is no dependency; its file is checked in test_at_scale.py",
    "INSPECT_EVAL_SET_CAPTURE": "processes of their own: tests/end_to_end/test_at_scale.py",
    "python examples/worker.py": "processes of their own: tests/end_to_end/test_at_scale.py",
}
"""Beginnings of commands that are not run here, with the reason."""

WALKED = {"own-material": ROOT / "examples" / "own"}
"""Pages that are followed from top to bottom in an empty folder, with the files they start from."""

CODE_RUN_ELSEWHERE = ("export", "candidates")
"""Pages whose code needs more runs than lie here (tests/reports/exchange/test_export_tables.py), or
is that of a file which a command of the page runs."""

NOT_CODE = ("{context}",)
"""Beginnings of blocks that show a text."""


# --- the folder ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def original(tmp_path_factory) -> Path:
    """The prepared folder: two models' runs of both benchmarks in `logs`, and the small files."""
    folder = tmp_path_factory.mktemp("desk")
    prepared.lay_out(folder)
    data = prepared.upstream_csv(folder / "morebench_public.csv", ["neutral"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSPECT_CACHE_DIR", str(folder / "cache"))
        for name in ("openrouter/deepseek/deepseek-r1", "anthropic/claude-sonnet-4-5"):
            place = {"log_dir": str(folder / "logs"), "log_realtime": False}
            run(morebench(data=str(data)), stand_in(name), stand_in("openai/gpt-5"), **place)
            run(corda(chains=5, shuffles=2), stand_in(name), None, **place)
    return folder


@pytest.fixture
def desk(original, tmp_path, monkeypatch) -> Path:
    """A copy of it as the working folder, with a hub that has the same dilemmas."""
    folder = tmp_path / "desk"
    shutil.copytree(original, folder, symlinks=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(hub, "fetch", prepared.hub_fetch(tmp_path))
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    return folder


# --- the commands --------------------------------------------------------------------------------


def lines_of(block: str) -> list[str]:
    """The commands of a shell block; options alone belong to an evaluation."""
    joined = re.sub(r"\\\n\s*", " ", block)
    found = [line.partition("  #")[0].strip() for line in joined.splitlines()]
    found = [line for line in found if line and not line.startswith("#")]
    return [f"inspect eval moral_evals/morebench --model ... {x}" if x.startswith("-") else x
            for x in found]  # fmt: skip


def stood_in(line: str) -> str:
    """The command with what stands in for models and places."""
    for word, other in WORDS.items():
        line = line.replace(word, other)
    for start, more in ALWAYS.items():
        if line.startswith(start + " "):
            line += f" {more}"
    judged = re.search(r"(morebench|rubric_judge|set\d/THE)", line)
    if line.startswith("inspect ") and judged and "--model-role" not in line:
        line += " --model-role grader=stand_in/judge"
    return re.sub(MODELS, r"stand_in/\1/", line)


def place(word: str, line: str) -> str:
    """`LOG.eval`, `THE.eval` and `RUN.eval` are logs of their folder that suit the command."""
    if not re.search(r"(^|/)(LOG|THE|RUN)\.eval$", word):
        return word
    wanted = "corda" if "lexicographic" in line else "morebench"
    # a page may speak of a folder that an earlier block of it makes
    folders = [Path(word).parent] if "/" in word else []
    logs = [p for f in (*folders, Path("logs")) for p in sorted(f.glob("*.eval"))]
    return next(str(p) for p in logs if f"_{wanted}_" in p.name)


def carry_out(line: str) -> None:
    """Run one command in this process; it must end well."""
    words = [place(w, line) for w in shlex.split(line)]
    program, rest = words[0], words[1:]
    if program == "moral-reports":
        assert moral_reports(rest) == 0
    elif program == "inspect":
        with ends_well():
            inspect_command.main(args=rest, prog_name=program, standalone_mode=False)
    elif program == "python":
        with pytest.MonkeyPatch.context() as patch, ends_well():
            patch.setattr(sys, "argv", rest)
            runpy.run_path(rest[0], run_name="__main__")
    else:
        pytest.fail(f"no way to run {program!r}; add one, or name it in NOT_RUN")


@contextlib.contextmanager
def ends_well() -> Iterator[None]:
    try:
        yield
    except SystemExit as end:
        assert not end.code, end.code


def shell_blocks() -> list:
    found = []
    for page in PAGES:
        for kind, text in blocks(page):
            if kind == "yaml" and "args:" in text:
                job = yaml.safe_load(text)["spec"]["template"]["spec"]["containers"][0]
                kind, text = "bash", job["args"][0]
            if kind in ("", "bash") and not text.startswith(NOT_CODE):
                found.append(pytest.param(text, id=f"{page.stem}: {lines_of(text)[0][:50]}"))
    return found


def page_of(block: Any) -> str:
    return block.id.partition(":")[0]


def left_out(line: str) -> bool:
    return line.startswith(tuple(NOT_RUN))


@pytest.mark.parametrize("block", [b for b in shell_blocks() if page_of(b) not in WALKED])
def test_the_commands_of_a_block(block, desk, capsys):
    follow(lines_of(block), desk, capsys)


@pytest.mark.parametrize("page", WALKED)
def test_a_page_is_followed_from_an_empty_folder(page, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "empty"
    shutil.copytree(WALKED[page], folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    found = [b.values[0] for b in shell_blocks() if page_of(b) == page]
    follow([line for block in found for line in lines_of(block)], folder, capsys)
    check_walked(folder)


def follow(lines: Sequence[str], folder: Path, capsys: Any) -> None:
    """Carry out the commands in turn; every log and printed figure is looked at."""
    for line in lines:
        if left_out(line):
            continue
        before = {p: p.stat().st_mtime_ns for p in folder.rglob("*.eval")}
        carry_out(stood_in(line))
        said = " ".join(capsys.readouterr().out.split())
        for path in sorted(folder.rglob("*.eval")):
            if path.stat().st_mtime_ns != before.get(path):
                check_log(read_eval_log(str(path)), line)
        check = CHECKS.get(tuple(line.split()[:2]))
        if check is not None and folder.name == "desk":
            check(folder, said)


# --- nothing is stale, nothing is forgotten --------------------------------------------------------


ALL_LINES = [line for block in shell_blocks() for line in lines_of(block.values[0])]


@pytest.mark.parametrize("start", NOT_RUN)
def test_what_is_not_run_is_still_on_a_page(start):
    assert any(line.startswith(start) for line in ALL_LINES)


@pytest.mark.parametrize("word", WORDS)
def test_what_is_stood_in_for_is_still_on_a_page(word):
    assert any(word in line for line in ALL_LINES)


def test_every_report_on_a_page_has_its_number_checked():
    shown = {tuple(x.split()[:2]) for x in ALL_LINES if x.startswith("moral-reports ")}
    assert shown == set(CHECKS)


# --- code and data ---------------------------------------------------------------------------------


def code_blocks(language: str) -> list:
    pages = [p for p in (*PAGES, *CARDS) if p.stem not in CODE_RUN_ELSEWHERE]
    found = [(p, text) for p in pages for kind, text in blocks(p) if kind == language]
    return [pytest.param(text, id=f"{p.parent.name}/{p.stem}") for p, text in found]


@pytest.mark.parametrize("code", code_blocks("json"))
def test_records_of_the_pages_are_read_by_their_reader(code, tmp_path):
    path = tmp_path / "page.jsonl"
    path.write_text(json.dumps(json.loads(code)) + "\n", encoding="utf-8")
    if "corda-1" in code:
        (chain,) = read_chains(path)
        assert [len(s.options) for s in chain.steps] == [2]
    else:
        (scenario,) = read_jsonl(path)
        assert [c.weight for c in scenario.criteria] == [2]


@pytest.mark.parametrize("code", code_blocks("python"))
def test_the_code_of_the_pages_prints_the_right_numbers(code, desk, capsys):
    exec(compile(code, "page", "exec"), {})
    said = capsys.readouterr().out
    (check,) = [check for call, check in RECIPES.items() if call in code]
    check(said)


def test_every_recipe_is_on_a_page():
    code = "".join(block.values[0] for block in code_blocks("python"))
    assert all(call in code for call in RECIPES)
