"""What is left on a terminal of 80 x 40 when a command has ended.

As a script it writes the pages of docs/captures anew: python -m tests.end_to_end.screen
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH, HEIGHT = 80, 40
CAPTURES = Path(__file__).parents[2] / "docs" / "captures"
_FULL_SCREEN_END = "\x1b[?1049l"
_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()=>78].?)")


def last_screen(command: Sequence[str], environment: Mapping[str, str] = os.environ) -> str:
    """Run a command in a terminal; the text that stands there once its full screen is gone.

    Args:
        command: Program and arguments.
        environment: Of the program; the size of the terminal is added.

    Raises:
        subprocess.CalledProcessError: If the command fails.
    """
    own, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    size = {"COLUMNS": str(WIDTH), "LINES": str(HEIGHT), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, stdin=its, stdout=its, stderr=its, start_new_session=True,
        env={**environment, **size},
    )  # fmt: skip
    os.close(its)
    written = _all_of(own)
    if code := process.wait():
        raise subprocess.CalledProcessError(code, command, written)
    plain = _CONTROLS.sub("", written.rpartition(_FULL_SCREEN_END)[2])
    lines = [line.rpartition("\r")[2].rstrip() for line in plain.replace("\r\n", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def _all_of(terminal: int) -> str:
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # how a pseudo-terminal says that its other side is closed
        pass
    os.close(terminal)
    return b"".join(parts).decode("utf-8", "replace")


if __name__ == "__main__":
    CAPTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        screen = last_screen(
            [sys.executable, "-m", "inspect_ai", "eval", "moral_evals/morebench", "-T", "data=sample", "--limit", "8",
             "--model", "embedded/smollm2-135m", "--model-role", "grader=embedded/overlap-judge",
             "--log-dir", folder]
        )  # fmt: skip
    # the log's place is folded, and its own
    shown = screen.partition("\nLog:")[0].rstrip()
    (CAPTURES / "morebench-80-columns.txt").write_text(shown + "\n", encoding="utf-8")
