"""`moral-reports estimate`: calls, tokens and money of a run that has not been made yet.

Calls are exact for a run without retries. Tokens come from the real sizes of dilemmas, rubrics
and prompts; what models will write is assumed, or taken from an earlier log.
"""

import argparse
import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import entry_points
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelCost, ModelUsage, compute_model_cost

from moral_evals.loaders.errors import OptionError, printable
from moral_evals.loaders.formats import parse_yaml
from moral_evals.loaders.tables.prices import price_of, read_prices
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.judges.candidate_calls import candidate_calls
from moral_evals.scorers.judging.models import DEFAULT_JUDGE
from moral_evals.scorers.judging.options import ROLE, JudgeOptions
from moral_evals.scorers.judging.plan import Calls, planned_calls

# Sizes that earlier runs of reasoning models had; a reader should put in those of their own.
TRACE_CHARS, RESPONSE_CHARS, JUDGE_TOKENS = 6_000, 2_500, 250
CHARS_PER_TOKEN = 4.0
_TASKS = ("morebench", "morebench_theory", "corda", "judge_agreement")
_COLUMNS = (
    "part", "model", "calls", "input tokens", "of it repeated", "output tokens", "cost at most"
)  # fmt: skip


@dataclass(frozen=True)
class Assumed:
    """What models will write.

    Attributes:
        trace: Characters of a thinking trace.
        response: Characters of a response.
        judge_tokens: Tokens that a judge writes in a call, its reasoning included.
        chars_per_token: For all texts.
    """

    trace: int = TRACE_CHARS
    response: int = RESPONSE_CHARS
    judge_tokens: int = JUDGE_TOKENS
    chars_per_token: float = CHARS_PER_TOKEN

    def shown(self, judged: bool) -> str:
        """The assumptions in words; those on judges only if there are any."""
        replies = f"{self.trace:,} characters a trace, {self.response:,} a response, "
        judge = f"{self.judge_tokens} tokens a judge call, " if judged else ""
        return f"{replies}{judge}{self.chars_per_token:g} characters a token"


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
        upstream_path=arguments.get("upstream_path"),
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


def estimate(
    task: Task,
    assumed: Assumed,
    *,
    model: str = "",
    judges: Sequence[str] = (DEFAULT_JUDGE,),
    limit: int | None = None,
    epochs: int = 1,
    price_file: str | None = None,
    upstream_path: str | None = None,
) -> Report:
    """Calls and tokens of a task, candidate and judges apart.

    Args:
        task: A task of the suite.
        assumed: What models will write.
        model: The candidate's name, for its price.
        judges: The judges' names.
        limit: Samples from the head, as for `inspect eval`.
        epochs: Repeats of each sample.
        price_file: Prices by model; None leaves money out.
        upstream_path: As the task has it, which does not tell.

    Raises:
        SuiteError: A model without a price.
    """
    prices = read_prices(price_file) if price_file else None
    samples = list(task.dataset)[:limit]
    parts = [
        *_candidate(task, samples, assumed, model),
        *_judges(task, samples, assumed, judges, upstream_path),
    ]
    judged = any(part == "judge" for part, _, _ in parts)
    rows: list[list[Cell]] = []
    for part, name, calls in parts:
        total = calls.times(epochs)
        tokens = [
            round(chars / assumed.chars_per_token)
            for chars in (total.chars_in, total.repeated, total.chars_out)
        ]
        money = math.nan if prices is None else _money(name, tokens, prices, price_file or "")
        rows.append([part, name, total.calls, *tokens, money])
    notes = [
        f"{len(samples)} samples, epochs: {epochs}. Assumed: {assumed.shown(judged)}.",
        "Repeated input opens with a text that an earlier call had: providers with a prompt "
        "cache charge less for it. The cost takes all input at its full price.",
    ]
    if prices:
        total_cost = math.fsum(c for row in rows if isinstance(c := row[-1], float))
        notes.append(f"Total cost at most {total_cost:.2f}.")
    name = str((task.metadata or {}).get("benchmark"))
    return Report(f"Before a run of {name}", [Table("estimate", "Estimate", _COLUMNS, rows, notes)])


def _candidate(
    task: Task, samples: Sequence[Sample], assumed: Assumed, model: str
) -> Iterator[tuple[str, str, Calls]]:
    metadata = task.metadata or {}
    if metadata.get("benchmark") == "judge_agreement":
        return
    written = (
        assumed.response if metadata.get("elicit") == "none" else assumed.response + assumed.trace
    )
    yield "candidate", model or "candidate", candidate_calls(task, samples, written)


def _judges(
    task: Task,
    samples: Sequence[Sample],
    assumed: Assumed,
    judges: Sequence[str],
    upstream_path: str | None,
) -> Iterator[tuple[str, str, Calls]]:
    metadata = task.metadata or {}
    if "judge_mode" not in metadata:
        return
    sizes = {"trace": [assumed.trace], "response": [assumed.response]}
    texts = sizes.get(str(metadata.get("judged")), [assumed.trace, assumed.response])
    names = {f.name for f in fields(JudgeOptions)}
    given = {k: v for k, v in metadata.items() if k in names}
    votes = int(metadata.get("judge_votes", 1))
    options = JudgeOptions(**given, votes=votes, upstream_path=upstream_path)
    written = assumed.judge_tokens * assumed.chars_per_token
    asked = (assumed.response or assumed.trace) if metadata.get("ask_refusal") else None
    calls = planned_calls(samples, texts, options, written, asked)
    yield from (("judge", judge, calls) for judge in judges)


def _money(model: str, tokens: Sequence[int], prices: dict[str, ModelCost], file: str) -> float:
    usage = ModelUsage(input_tokens=tokens[0], output_tokens=tokens[2])
    return compute_model_cost(price_of(prices, model, file), usage)


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
