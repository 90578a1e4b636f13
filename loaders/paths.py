"""Where the bundled data lie: beside the code in a checkout, inside `inspect_tasks` in a wheel."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from loaders.errors import OptionError, SuiteError


def bundled(name: str) -> Path:
    """Path of a bundled file or folder under `datasets/`, e.g. `theories`.

    Raises SuiteError if the installation lacks it. Never depends on the working
    directory, which Inspect changes while it loads a task file.
    """
    checkout = Path(__file__).resolve().parent.parent / "datasets" / name
    if checkout.exists():
        return checkout
    spec = importlib.util.find_spec("inspect_tasks")
    for root in (spec.submodule_search_locations or []) if spec else []:
        packed = Path(root) / "_data" / name
        if packed.exists():
            return packed
    raise SuiteError(f"bundled data {name!r} are missing; reinstall the package.")


def local_file(option: str, value: str, names: Sequence[str] = ()) -> Path:
    """An existing file that a task parameter names; OptionError says what else is allowed."""
    # Inspect works inside the task file's folder; a user means the folder of the shell.
    for start in (Path.cwd(), Path(os.environ.get("PWD", "."))):
        path = start / Path(value).expanduser()
        if path.is_file():
            return path
    raise OptionError(
        f"-T {option}={value}: no such file; allowed are {', '.join((*names, 'the path of a file'))}."
    )
