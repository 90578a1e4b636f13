"""An environment that has the wheel alone: built from this checkout, which is out of its reach.

It has the wheel and, beside it, the packages that these tests run with; the editable install among
those is not seen, since its finder is not loaded from there.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

ROOT = Path(__file__).resolve().parents[2]
NOT_SHIPPED = (".*", "__pycache__", "*.egg-info", "build", "dist", "logs", "tests")


@dataclass
class Site:
    """An environment with the wheel, a folder to work in, and variables beside this process's."""

    python: Path
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, *words: str, cwd: Path | None = None, check: bool = True) -> str:
        """Run the environment's Python with these words; all that it printed."""
        kept = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
        kept.pop("PYTHONPATH", None)
        kept |= {"INSPECT_CACHE_DIR": str(self.folder / "cache"), "HF_HUB_OFFLINE": "1"}
        kept |= {"COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "", **self.variables}
        done = subprocess.run(
            [str(self.python), *words],
            cwd=cwd or self.folder,
            env=kept,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert not check or done.returncode == 0, printed
        return printed

    def inspect(self, *words: str, cwd: Path | None = None, check: bool = True) -> str:
        return self.run("-m", "inspect_ai", *words, cwd=cwd, check=check)

    def eval(self, *words: str) -> Path:
        """Run `inspect eval`; the path of its log."""
        logs = self.folder / f"logs-{words[0].rpartition('/')[2]}"
        self.inspect("eval", *words, "--log-dir", str(logs), "--display", "plain")
        [log] = list_eval_logs(str(logs))
        return Path(log.name.removeprefix("file://"))

    def score(self, log: Path, *words: str, cwd: Path | None = None) -> EvalLog:
        """Run `inspect score` into a log beside this one, which is returned."""
        out = self.folder / f"scored-{log.name}"
        out.unlink(missing_ok=True)
        words = ("--action", "append", "--output-file", str(out), *words)
        self.inspect("score", str(log), *words, cwd=cwd)
        return read_eval_log(str(out))

    def report(self, *words: str, check: bool = True) -> str:
        """Run the installed `moral-reports`."""
        return self.run(str(self.python.parent / "moral-reports"), *words, check=check)


def build_wheel(folder: Path) -> Path:
    """Build the wheel into an empty folder; skips the test where that cannot be done."""
    # from a copy, since the build leaves files behind
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*NOT_SHIPPED))
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(folder), "./source"]
    if _setuptools() >= 77:
        build.append("--no-build-isolation")
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and _setuptools() < 77:
        pytest.skip("no setuptools of version 77 or newer here, and none to be had")
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def _setuptools() -> int:
    try:
        return int(importlib.metadata.version("setuptools").partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return 0


def install(wheel: Path, folder: Path) -> Site:
    """An environment with this wheel, in an empty folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    install = ["pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", *install, str(wheel)], check=True)
    [own] = (folder / "env").glob("lib/python*/site-packages")
    shared = sysconfig.get_path("purelib")
    (own / "shared.pth").write_text(f"{shared}\n", encoding="utf-8")
    return Site(python, folder)
