"""Command line over finished logs: `moral-reports COMMAND ...`, see `moral-reports --help`."""

import argparse
import os
import sys

from moral_evals.loaders.errors import PrerequisiteError
from moral_evals.reports.compare import command as compare
from moral_evals.reports.exchange import (
    export_rewards,
    export_tables,
    export_upstream,
    import_upstream,
)
from moral_evals.reports.findings import command as findings
from moral_evals.reports.form.output import fit_streams
from moral_evals.reports.judges import cache, cost, estimate, rejudge
from moral_evals.reports.page import command as page
from moral_evals.reports.plots import files
from moral_evals.reports.show import command as show

_COMMANDS = (
    show,
    compare,
    findings,
    page,
    files,
    rejudge,
    estimate,
    cost,
    cache,
    export_tables,
    import_upstream,
    export_upstream,
    export_rewards,
)


def parser() -> argparse.ArgumentParser:
    """The program's options."""
    whole = argparse.ArgumentParser(prog="moral-reports", description="Reports over finished logs")
    commands = whole.add_subparsers(dest="command", required=True)
    for module in _COMMANDS:
        module.add_command(commands)
    return whole


def main(arguments: list[str] | None = None) -> int:
    """Run a sub-command; exit code 1 with one line if its input is not usable."""
    fit_streams()
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except PrerequisiteError as error:  # the suite's own and Inspect's
        print(f"moral-reports: {error.message}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
