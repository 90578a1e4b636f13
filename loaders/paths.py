"""Where the bundled data lie, and the files that task parameters name."""

import os
from collections.abc import Sequence
from pathlib import Path

from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.loaders.files import find, shown

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled(name: str) -> Path:
    """Path of a bundled file or folder under `datasets/`, e.g. `theories`.

    Raises SuiteError if the installation lacks it. Never depends on the working
    directory, which Inspect changes while it loads a task file.
    """
    path = _PACKAGE / "datasets" / name
    if not path.exists():
        raise SuiteError(f"bundled data {name!r} are missing; reinstall the package.")
    return path


def local_file(option: str, value: str, names: Sequence[str] = (), flag: str = "-T") -> Path:
    """An existing file that an option names; OptionError says what else is allowed."""
    # Inspect works inside the task file's folder; a user means the folder of the shell.
    path = find(value, Path.cwd(), Path(os.environ.get("PWD", ".")))
    if path is None:
        allowed = ", ".join((*names, "the path of a file"))
        raise OptionError(f"{flag} {option}={shown(value)}: no such file; allowed are {allowed}.")
    return path
