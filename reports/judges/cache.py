"""`moral-reports cache`: what is kept of judges' replies, and how to be rid of it."""

import argparse
import re
import sqlite3
import time
from datetime import datetime

from moral_evals.loaders.errors import OptionError, SuiteError, listing, printable
from moral_evals.reports.form.document import Report, Table
from moral_evals.reports.form.output import add_output, write
from moral_evals.scorers.judging.cache import store_folder
from moral_evals.scorers.judging.verdict_store import VerdictStore

_UNITS = {"h": 3600, "d": 86_400, "w": 604_800}


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("cache", help="show or clear the judge replies kept on this disk")
    parser.add_argument("--clear", action="store_true", help="remove replies instead of listing")
    parser.add_argument("--judge", metavar="MODEL", help="with --clear: of this judge only")
    parser.add_argument(
        "--older-than", metavar="AGE", help="with --clear: older than 12h, 30d, 8w, ..."
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print what is kept, or remove it."""
    store = VerdictStore(store_folder())
    if not options.clear:
        if options.judge or options.older_than:
            raise OptionError("--judge and --older-than go with --clear.")
        write(holdings(store), options)
        return
    before = time.time() - _seconds(options.older_than) if options.older_than else None
    if options.judge and options.judge not in (known := [h.judge for h in store.holdings()]):
        raise OptionError(
            f"--judge {printable(options.judge)}: nothing is kept of it, but of {listing(known)}."
        )
    try:
        removed = store.clear(options.judge, before)
    except (OSError, sqlite3.Error) as error:
        raise SuiteError(f"{store.folder}: cannot be cleared ({error}).") from error
    print(f"{removed:,} replies removed")


def holdings(store: VerdictStore) -> Report:
    """How many replies are kept, judge by judge."""
    rows = [
        (
            printable(h.judge),
            h.replies,
            _day(h.oldest),
            _day(h.newest),
            f"{h.characters / 1e6:.1f} MB",
        )
        for h in store.holdings()
    ]
    columns = ("judge", "replies", "oldest", "newest", "text")
    notes = [f"{store.size() / 1e6:.1f} MB in {store.folder}"] if rows else ["nothing is kept"]
    return Report("Judge replies kept", [Table("cache", "By judge", columns, rows)], notes, "cache")


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d")


def _seconds(age: str) -> float:
    found = re.fullmatch(r"(\d{1,6})([hdw])", age)
    if not found:
        raise OptionError(f"--older-than {age}: allowed are a number and h, d or w, such as 30d.")
    return int(found[1]) * _UNITS[found[2]]
