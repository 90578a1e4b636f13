"""Command line over finished logs: `moral-reports show LOG_OR_FOLDER ...`."""

import argparse
import sys

from rich.console import Console

from loaders.errors import SuiteError
from reports.show import headers, show


def main(arguments: list[str] | None = None) -> int:
    """Run a sub-command; exit code 1 with one line if its input is not usable."""
    parser = argparse.ArgumentParser(prog="moral-reports", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("show", help="print the scores of finished runs, newest first")
    one.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    options = parser.parse_args(arguments)
    try:
        for log in headers(options.logs):
            show(log, Console())
    except SuiteError as error:
        print(f"moral-reports: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
