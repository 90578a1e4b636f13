"""`moral-reports estimate`: calls, tokens and money of a run that has not been made yet.

An estimate, and under it a bound. The estimate's calls are exact for a run without retries; its
tokens come from the real sizes of dilemmas, rubrics and prompts, and what models will write is
assumed.
"""

import argparse
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from inspect_ai import Task
from inspect_ai.model import ModelUsage, compute_model_cost

from moral_evals.loaders.errors import OptionError, printable
from moral_evals.loaders.formats import parse_yaml
from moral_evals.loaders.tables.prices import price_of, read_prices
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.judges.run_plan import (
    CHARS_PER_TOKEN,
    JUDGE_TOKENS,
    RESPONSE_CHARS,
    TRACE_CHARS,
    Assumed,
    Limits,
    Part,
    RunPlan,
)
from moral_evals.scorers.judging.models import DEFAULT_JUDGE
from moral_evals.scorers.judging.options import ROLE

_TASKS = ("morebench", "morebench_theory", "corda", "judge_agreement")
_LIKELY = (
    "part", "model", "calls", "input tokens", "of it repeated", "output tokens", "cost"
)  # fmt: skip
_MOST = (
    "part", "model", "calls at most", "input at most", "output a call at most", "output at most",
    "cost at most",
)  # fmt: skip
_RETRIES = (
    "Each question asked as often as it may be until a reply can be read, each reply of full "
    "length, each prompt of the candidate as long as the longest of those tried. Calls that a "
    "provider breaks off and Inspect sends again are not in it."
)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("estimate", help="calls, tokens and money before a run")
    parser.add_argument("task", help="name of a task, such as morebench")
    parser.add_argument("-T", action="append", default=[], metavar="NAME=VALUE", dest="args")
    parser.add_argument("--model", metavar="MODEL", default="", help="candidate, for its price")
    parser.add_argument(
        "--judge", action="append", metavar="MODEL", help=f"several for a panel ({DEFAULT_JUDGE})"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="samples, as for inspect eval")
    parser.add_argument("--epochs", type=int, default=1, metavar="N")
    parser.add_argument("--prices", metavar="FILE", help="prices, as for --model-cost-config")
    parser.add_argument("--trace-chars", type=int, default=TRACE_CHARS, metavar="N")
    parser.add_argument("--response-chars", type=int, default=RESPONSE_CHARS, metavar="N")
    parser.add_argument("--judge-tokens", type=int, default=JUDGE_TOKENS, metavar="N")
    parser.add_argument("--chars-per-token", type=float, default=CHARS_PER_TOKEN, metavar="X")
    parser.add_argument(
        "--max-tokens", type=int, metavar="N", help="of the candidate, as for inspect eval"
    )
    parser.add_argument(
        "--judge-max-tokens", type=int, metavar="N", help="of the judge, as in its model role"
    )
    add_output(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    arguments = _arguments(options.args)
    assumed = Assumed(
        options.trace_chars, options.response_chars, options.judge_tokens, options.chars_per_token
    )
    report = estimate(
        build_task(options.task, arguments),
        assumed,
        model=options.model,
        judges=options.judge or _judge_names(arguments.get("judges", ROLE)),
        limit=options.limit,
        epochs=options.epochs,
        price_file=options.prices,
        arguments=arguments,
        limits=Limits(options.max_tokens, options.judge_max_tokens),
    )
    write(report, options)


def _judge_names(judges: str | list[str]) -> list[str]:
    named = [judges] if isinstance(judges, str) else judges
    return [DEFAULT_JUDGE if name == ROLE else name for name in named]


def build_task(name: str, arguments: dict[str, Any]) -> Task:
    """A task of the suite by the name that Inspect knows it by.

    Raises OptionError, naming the tasks, for an unknown one.
    """
    name = name.rpartition("@")[2].rpartition("/")[2].removesuffix(".py")
    (registry,) = (e for e in entry_points(group="inspect_ai") if e.name == "moral_evals")
    module = registry.load()
    if name not in _TASKS:
        raise OptionError(f"{name}: no such task. Allowed: {', '.join(_TASKS)}.")
    # the judges are named to this command, so nothing is missing
    logging.getLogger("moral_evals.scorers.judging.models").setLevel(logging.ERROR)
    task: Task = getattr(module, name)(**arguments)
    return task


_AS_THEY_ARE = Limits()


def estimate(
    task: Task,
    assumed: Assumed,
    *,
    model: str = "",
    judges: Sequence[str] = (DEFAULT_JUDGE,),
    limit: int | None = None,
    epochs: int = 1,
    price_file: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    limits: Limits = _AS_THEY_ARE,
) -> Report:
    """Calls and tokens of a task, candidate and judges apart: what is likely, and the most.

    Args:
        task: A task of the suite.
        assumed: What models will write.
        model: The candidate's name, for its price and its limit.
        judges: The judges' names.
        limit: Samples from the head, as for `inspect eval`.
        epochs: Repeats of each sample.
        price_file: Prices by model; None leaves money out.
        arguments: The task's parameters, for what it does not tell; see `RunPlan`.
        limits: Tokens that models may write in a call, where a run sets them.

    Raises:
        SuiteError: A model without a price.
    """
    samples = list(task.dataset)[:limit]
    plan = RunPlan(task, samples, assumed, limits, arguments or {})
    parts = [part.times(epochs) for part in plan.parts(model, judges)]
    money = _Money(price_file)
    judged = any(part.role == "judge" for part in parts)
    said = f"{len(samples)} samples, epochs: {epochs}. Assumed: {assumed.shown(judged)}."
    tables = [_likely(parts, assumed, money, said), _most(parts, assumed, money)]
    return Report(f"Before a run of {(task.metadata or {}).get('benchmark')}", tables)


class _Money:
    """What tokens cost; nan without a price file."""

    def __init__(self, file: str | None) -> None:
        self.file = file or ""
        self.prices = read_prices(file) if file else None

    def of(self, model: str, tokens_in: float, tokens_out: float) -> float:
        """Cost of some tokens at their full price; nan for nan of them."""
        if self.prices is None:
            return math.nan
        price = price_of(self.prices, model, self.file)
        if not math.isfinite(tokens_in + tokens_out):
            return math.nan
        usage = ModelUsage(input_tokens=round(tokens_in), output_tokens=round(tokens_out))
        return compute_model_cost(price, usage)

    def total(self, rows: Sequence[Sequence[Cell]], name: str) -> list[str]:
        """A sentence on the sum over the last column, unless there are no prices."""
        costs = [cell for row in rows if isinstance(cell := row[-1], float)]
        return [f"{name} {math.fsum(costs):.2f}."] if self.prices is not None else []


def _likely(parts: Sequence[Part], assumed: Assumed, money: _Money, said: str) -> Table:
    rows: list[list[Cell]] = []
    for part in parts:
        tokens = [
            round(chars / assumed.chars_per_token)
            for chars in (part.likely.chars_in, part.likely.repeated, part.likely.chars_out)
        ]
        cost = money.of(part.model, tokens[0], tokens[2])
        rows.append([part.role, part.model, part.likely.calls, *tokens, cost])
    notes = [
        said,
        "Repeated input opens with a text that an earlier call had: providers with a prompt "
        "cache charge less for it. The cost takes all input at its full price.",
        *money.total(rows, "Estimated total cost"),
    ]
    return Table("estimate", "Estimate", _LIKELY, rows, notes)


def _most(parts: Sequence[Part], assumed: Assumed, money: _Money) -> Table:
    rows: list[list[Cell]] = []
    for part in parts:
        most = part.most
        sent = _whole(most.chars_in / assumed.chars_per_token)
        written = _whole(most.calls * most.tokens_a_call)
        cost = money.of(part.model, sent, written)
        limit = _whole(most.tokens_a_call)
        rows.append([part.role, part.model, most.calls, sent, limit, written, cost])
    notes = [_RETRIES, *_unbounded(parts)]
    if all(math.isfinite(cost) for *_, cost in rows if isinstance(cost, float)):
        notes += money.total(rows, "Total cost at most")
    return Table("bound", "Bound", _MOST, rows, notes)


def _unbounded(parts: Sequence[Part]) -> Iterator[str]:
    """Whose replies nothing bounds, and which option would."""
    for part in parts:
        if math.isnan(part.most.tokens_a_call):
            option = "--max-tokens" if part.role == "candidate" else "--judge-max-tokens"
            yield (
                f"No bound for the {' '.join(dict.fromkeys((part.role, part.model)))}: how much it can write in a call is "
                f"not known; say {option} N, and set it for the run."
            )


def _whole(value: float) -> float:
    """The whole number above; nan stays."""
    return math.ceil(value) if math.isfinite(value) else math.nan


def _arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """`-T` values, read like Inspect's: YAML, and text with commas is a list."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise OptionError(f"-T {pair}: must be NAME=VALUE.")
        read = parse_yaml(value, f"-T {printable(pair)}")
        parts = read.split(",") if isinstance(read, str) else []
        found[name.replace("-", "_")] = parts if len(parts) > 1 else read
    return found
