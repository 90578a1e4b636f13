"""Which scores a report takes where a log holds several: by name, or by tier order."""

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.runs.naming import Run

R = TypeVar("R", bound=Run)


@dataclass(frozen=True)
class Choice:
    """What was asked for; nothing asked takes every score.

    Attributes:
        scorers: Names of scores, as `show` prints them.
        order: Tier order of the CORDA scores to take, joined by ` > `; other scores have none and
            are taken all the same.
    """

    scorers: tuple[str, ...] = ()
    order: str = ""

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Choice":
        """From `--scorer` and `--order`, where a command has them."""
        names = re.split("[,>]", getattr(options, "order", None) or "")
        return cls(tuple(options.scorer), " > ".join(name.strip() for name in names))

    def takes(self, scorer: str, order: str = "") -> bool:
        """Whether a score is taken; `order` is its tier order, empty for other kinds."""
        by_name = not self.scorers or scorer in self.scorers
        return by_name and (not self.order or order in ("", self.order))

    def among(self, runs: Iterable[R]) -> list[R]:
        """The runs that are taken."""
        return [r for r in runs if self.takes(r.scorer, r.conditions.tier_order)]

    def refuse_unknown(self, have: Sequence[tuple[str, str]]) -> None:
        """Refuse what no score is.

        Args:
            have: Name and tier order of every score there is.

        Raises:
            SuiteError: Naming what there is.
        """
        names, orders = {name for name, _ in have}, {order for _, order in have if order}
        for name in {*self.scorers} - names:
            raise _unknown("--scorer", name, ", ".join(sorted(names)))
        if self.order and self.order not in orders:
            raise _unknown("--order", self.order, "; ".join(sorted(orders)))

    def refuse_unknown_among(self, runs: Sequence[Run]) -> None:
        """The same for the scores of some runs."""
        self.refuse_unknown([(r.scorer, r.conditions.tier_order) for r in runs])


def _unknown(option: str, value: str, allowed: str) -> SuiteError:
    return SuiteError(f"{option} {value}: in none of these logs. Allowed: {allowed or 'none'}.")


EVERY = Choice()
"""Every score."""


def add_choice(parser: argparse.ArgumentParser, *, order: bool = True) -> None:
    """Register `--scorer` and, unless only rubrics are reported, `--order`."""
    parser.add_argument(
        "--scorer", action="append", default=[], metavar="NAME",
        help="take this score where a log holds several; may be repeated",
    )  # fmt: skip
    if order:
        parser.add_argument(
            "--order", metavar="TIERS",
            help="take the CORDA scores by this tier order, highest first: welfare,rights_harm,...",
        )  # fmt: skip
