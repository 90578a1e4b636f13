"""What a CORDA run of all conditions leaves on a terminal of 80 x 40.

As a script it writes its page of docs/captures anew: python -m tests.end_to_end.corda_screen
"""

import os
import sys
import tempfile

from tests.end_to_end.screen import CAPTURES, last_screen

CONDITIONS = ("unconditioned", "context", "own", "best", "worst", "random")


def corda_screen(log_dir: str, chains: int = 10) -> str:
    """The screen after some bundled chains in every condition, answered by chance."""
    return last_screen(
        [sys.executable, "-m", "inspect_ai", "eval", "moral_evals/corda", "-T", f"chains={chains}", "-T", "shuffles=2",
         "-T", f"conditions={','.join(CONDITIONS)}", "--model", "scripted/uniform",
         # in order: Inspect warns of a headline that no sample scored so far bears on
         "--max-samples", "1", "--log-dir", log_dir]
    )  # fmt: skip


if __name__ == "__main__":
    CAPTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the screen names the log from here
        text = corda_screen("logs")
    (CAPTURES / "corda-80-columns.txt").write_text(text + "\n", encoding="utf-8")
