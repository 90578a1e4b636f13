"""`moral-reports page`: finished logs as one HTML file that needs nothing but a browser.

The file asks for nothing when it is opened: style, script, figures and CSV are in it, and its
Content-Security-Policy allows no other script than the one whose hash it names.
"""

import argparse
import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import Template

from moral_evals.loaders.files import write_whole
from moral_evals.loaders.morebench.records import slug
from moral_evals.reports.findings.command import findings
from moral_evals.reports.form.document import Report
from moral_evals.reports.form.output import say
from moral_evals.reports.page.parts import element, figure_html, notes_html, table_html
from moral_evals.reports.page.sections import left_out, sections
from moral_evals.reports.plots.canvas import to_page_svg
from moral_evals.reports.plots.catalogue import Drawing
from moral_evals.reports.plots.inline import inline_svg
from moral_evals.reports.plots.palette import DARK, LIGHT
from moral_evals.reports.runs.choice import Choice, add_choice
from moral_evals.reports.runs.conditions import NAMES
from moral_evals.reports.runs.found import find_logs

_HERE = Path(__file__).parent
_TITLE, _LEFT_OUT = "Moral-reasoning evaluation", "Logs left out"


@dataclass(frozen=True)
class Part:
    """One part of a page: a report, and the figures that go with it."""

    report: Report
    drawings: Sequence[Drawing] = ()


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("page", help="tables and figures as one HTML file")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="the page, a file or a URL such as s3://bucket/page.html",
    )
    parser.add_argument(
        "--allow", action="append", default=[], metavar="CONDITION",
        help=f"compare although this differs; one of {', '.join(NAMES)}; may be repeated",
    )  # fmt: skip
    add_choice(parser)
    parser.add_argument(
        "--models", metavar="FILE", help="families and sizes, for the findings on scale"
    )
    parser.add_argument(
        "--benchmarks", metavar="CSV", help="other benchmarks' scores, to correlate with"
    )
    parser.add_argument("--no-figures", action="store_true", help="tables alone")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the page: what `compare` tells, what `findings` tells, and the figures."""
    logs = find_logs(options.logs, figures=True)
    found = sections(logs, options.allow, Choice.of(options))
    parts = [Part(s.report(), () if options.no_figures else s.drawings) for s in found]
    if rubrics := {name for s in found if s.rubrics for name in s.scorers}:
        taken = Choice(tuple(sorted(rubrics)))
        more = findings(logs, options.models, options.benchmarks, options.allow, choice=taken)
        parts += [Part(replace(report, left_out=())) for report in more]
    lines = left_out(logs, found)
    write_whole(options.out, page(parts, left_out=lines))
    print(options.out)
    say(lines)


def page(parts: Sequence[Part], title: str = _TITLE, left_out: Sequence[str] = ()) -> str:
    """The page of some reports.

    Args:
        parts: Reports with their figures, in the order shown.
        title: Heading of the page.
        left_out: Lines on logs that the page does not rest on.

    Raises:
        SuiteError: If there are figures and matplotlib is not installed.
    """
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    entries, bodies = [], []
    for i, part in enumerate(parts, 1):
        entry, body = _part(part, f"part{i}")
        entries.append(entry)
        bodies.append(body)
    if left_out:
        entries.append(element("li", _link("left-out", _LEFT_OUT)))
        heading = element("h2", _LEFT_OUT, id="left-out")
        bodies.append(element("section", heading + notes_html(left_out)))
    template = Template((_HERE / "page_template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        summary="Click a heading to sort. Brackets: 95% intervals, marked in tables and dotted in "
        "figures below ten units, none below five. A dash: not measured.",
        policy=escape(policy),
        style=_style(),
        contents=element("ul", "\n".join(entries)),
        main="\n".join(bodies),
        script=script,
    )


def _part(part: Part, key: str) -> tuple[str, str]:
    """An entry of the contents, and the part itself: chief table, figures, other tables."""
    tables = [
        (f"{key}-{i}-{slug(t.name)}", t.title, table_html(t, f"{key}-{i}-{slug(t.name)}"))
        for i, t in enumerate(part.report.tables, 1)
    ]
    figures = [
        (f"{key}-figure-{d.name}", d.title, _figure(d, f"{key}-figure-{d.name}"))
        for d in part.drawings
    ]
    blocks = [*tables[:1], *figures, *tables[1:]]
    links = "".join(element("li", _link(place, title)) for place, title, _ in blocks)
    heading = element("h2", escape(part.report.title), id=key)
    inner = [heading, notes_html(part.report.notes), *(block for _, _, block in blocks)]
    entry = _link(key, part.report.title) + element("ul", links)
    return element("li", entry), element("section", "\n".join(inner))


def _figure(drawing: Drawing, key: str) -> str:
    label = f"{drawing.title}. {drawing.caption}"
    svg = inline_svg(to_page_svg(drawing.draw()), f"{key}-", label)
    return figure_html(svg, drawing.title, drawing.caption, key)


def _link(key: str, text: str) -> str:
    return element("a", escape(text), href=f"#{key}")


def _style() -> str:
    def scheme(variables: dict[str, str]) -> str:
        return ":root { " + " ".join(f"{k}: {v};" for k, v in variables.items()) + " }"

    # paper is light
    dark = "@media screen and (prefers-color-scheme: dark) { " + scheme(DARK) + " }"
    rules = (_HERE / "page.css").read_text(encoding="utf-8")
    return "\n".join([":root { color-scheme: light dark; }", scheme(LIGHT), dark, rules])
