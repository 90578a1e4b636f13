"""Where a report goes: the terminal, or a file in the form asked for."""

import argparse
import codecs
import io
import sys
from collections.abc import Iterable

from rich.console import Console

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.files import write_whole
from moral_evals.reports.form.document import Report
from moral_evals.reports.form.long_csv import PLAIN
from moral_evals.reports.form.render import FORMATS, to_terminal

_PIPE_WIDTH = 180


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add `--format` and `--out`."""
    parser.add_argument(
        "--format", choices=("terminal", *FORMATS), default="terminal", help="form of the report"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write to this file, or to a URL such as s3://bucket/file"
    )


def write(report: Report, options: argparse.Namespace) -> None:
    """Print a report or write it to `--out`."""
    if options.format == "terminal":
        if options.out:
            raise SuiteError(f"--out {options.out}: say --format too ({', '.join(FORMATS)}).")
        # a file or a pipe has no width of its own
        to_terminal(report, Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH))
        return
    if options.format in ("csv", "latex"):  # these forms have tables alone
        say(report.left_out)
    text = FORMATS[options.format](report)
    if options.out:
        write_whole(options.out, text)
    else:
        sys.stdout.write(text)


def fit_streams() -> None:
    """Let standard output and error take any text, whatever their encoding.

    What the encoding lacks is written by a plain letter, or as `\\uXXXX`, which JSON reads back.
    """
    codecs.register_error("moral_evals.plain", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="moral_evals.plain")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAIN.get(c) or _escape(c) for c in lost), error.end


def _escape(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def say(lines: Iterable[str]) -> None:
    """Print lines beside a report that has no place for them."""
    for line in lines:
        print(line, file=sys.stderr)
