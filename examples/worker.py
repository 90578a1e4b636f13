"""One task of an eval set with one model, so that many machines fill one log directory.

    INSPECT_EVAL_SET_CAPTURE=set1.json python examples/eval_set.py logs/set1 --model ...
    python examples/worker.py set1.json 0 python examples/eval_set.py logs/set1 --model ...

The first command lists the set and runs nothing; the second runs its entry 0. This is how Inspect
lets an external runner in. It is no public interface: checked with inspect-ai 0.3.285.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SELECTION_VERSION = 5
"""The first in which name and arguments of a task spare building all the others."""


def selection(captured: dict[str, Any], number: int, eval_set_id: str) -> dict[str, Any]:
    """What tells `eval_set` to run entry `number` alone and to leave the folder's index be."""
    entry = captured["tasks"][number]
    task = {k: entry[k] for k in ("identifier", "registry_name", "args_hash")}
    return {"version": SELECTION_VERSION, "eval_set_id": eval_set_id, "tasks": [task]}


def main() -> None:
    """Run the command on one entry; exit with its code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("captured", type=Path, help="the list made by the first command")
    parser.add_argument("number", type=int, help="entry to run, from 0")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what made the list, unchanged")
    options = parser.parse_args()
    captured = json.loads(options.captured.read_text(encoding="utf-8"))
    if options.number >= len(captured["tasks"]):
        sys.exit(f"{options.captured} has {len(captured['tasks'])} entries, from 0")
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder) / "selection.json"
        document = selection(captured, options.number, options.captured.stem)
        chosen.write_text(json.dumps(document), encoding="utf-8")
        environment = os.environ | {"INSPECT_EVAL_SET_SELECTION": str(chosen)}
        sys.exit(subprocess.run(options.command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
