"""`moral-reports plot`: the figures of finished logs as files."""

import argparse
import textwrap
from typing import TYPE_CHECKING

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.files import write_whole
from moral_evals.loaders.remote import within
from moral_evals.reports.form.output import say
from moral_evals.reports.page.sections import left_out, sections
from moral_evals.reports.plots.canvas import FORMATS, drawing, to_file
from moral_evals.reports.plots.catalogue import Drawing
from moral_evals.reports.runs.choice import Choice, add_choice
from moral_evals.reports.runs.conditions import NAMES
from moral_evals.reports.runs.found import find_logs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# inches a letter, on average, in the heading and in the caption
_LETTER, _SMALL_LETTER = 0.095, 0.062


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("plot", help="figures of finished runs as files")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder or URL for the figures")
    parser.add_argument("--format", choices=FORMATS, default="png", help="default png")
    parser.add_argument("--dpi", type=int, default=200, help="resolution of a PNG, default 200")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="CONDITION",
        help=f"draw together although this differs; one of {', '.join(NAMES)}; may be repeated",
    )  # fmt: skip
    add_choice(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Draw every figure for which the logs hold data, and print where each lies."""
    if not 20 <= options.dpi <= 1200:
        raise OptionError(f"--dpi {options.dpi}: must be from 20 to 1200.")
    logs = find_logs(options.logs)
    made = sections(logs, options.allow, Choice.of(options))
    for section in made:
        for found in section.drawings:
            path = within(options.out, f"{section.name}_{found.name}.{options.format}")
            figure = titled(found, section.title)
            write_whole(path, to_file(figure, options.format, options.dpi))
            print(path)
    say(left_out(logs, made))


@drawing()
def titled(found: Drawing, title: str) -> "Figure":
    """A figure that says what it shows, to stand alone."""
    figure = found.draw()
    heading = f"{found.title}: {title}"
    width, height = figure.get_size_inches()
    width = max(width, 0.2 + _LETTER * len(heading))
    lines = textwrap.wrap(found.caption, int(width / _SMALL_LETTER))
    head, foot = 0.42, 0.14 * len(lines) + 0.1
    whole = height + head + foot
    figure.set_size_inches(width, whole)
    # the figure keeps its size between the two
    figure.set_layout_engine("constrained", rect=(0, foot / whole, 1, height / whole))
    figure.text(0.012, 1 - 0.1 / whole, heading, fontsize=11, va="top")
    figure.text(0.012, 0.07 / whole, "\n".join(lines), fontsize=7.5, va="bottom")
    return figure
