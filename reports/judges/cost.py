"""`moral-reports cost`: what finished runs used, by role, and what it cost."""

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalSampleSummary,
)
from inspect_ai.model import ModelCost, ModelUsage, compute_model_cost

from moral_evals.loaders.tables.prices import price_of, read_prices
from moral_evals.reports.form.document import Cell, Report, Table
from moral_evals.reports.form.output import add_output, write
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.logs import FoundLog, scored_samples
from moral_evals.scorers.judging.models import model_of
from moral_evals.scorers.rubric.record import JudgingRecord

_KINDS = (
    "input_tokens", "cached_input_tokens", "cache_write_input_tokens",
    "output_tokens", "reasoning_tokens",
)  # fmt: skip
_COLUMNS = (
    "part", "model", "calls", "input", "input from prompt cache", "input written to it", "output",
    "of it reasoning", "spared calls", "spared tokens", "cost",
)  # fmt: skip

_ByJudge = Mapping[str, Mapping[str, int]]
_Used = tuple[str, _ByJudge]


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = commands.add_parser("cost", help="calls and tokens of finished runs, by role")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file or folder")
    parser.add_argument("--prices", metavar="FILE", help="prices, as for --model-cost-config")
    add_output(parser)
    parser.set_defaults(run=lambda options: write(cost(options.logs, options.prices), options))


def cost(paths: Sequence[str], price_file: str | None = None) -> Report:
    """A table for each log: the candidate, then the judges of each score.

    Input is what was billed in full; tokens that the provider's prompt cache served, and those
    written to it, stand beside it. Spared calls are those that the verdict cache made needless.

    Args:
        paths: Logs or folders.
        price_file: Prices by model; None leaves money out.

    Raises:
        SuiteError: No log, or a model without a price.
    """
    prices = read_prices(price_file) if price_file else None

    def table(log: FoundLog) -> Iterator[Table]:
        rows = [_candidate(log.header), *_judges(_scores(log))]
        cells = [_row(*parts, prices, price_file or "") for parts in rows]
        spec = log.header.eval
        title = f"{spec.task}, {spec.model}, {log.name}"
        yield Table(spec.eval_id, title, _COLUMNS, cells, _total(cells, prices), spec.eval_id)

    # what never came to a score was paid for all the same
    found = find_logs(paths, scored=False)
    tables = found.each(table)
    if not tables:
        raise found.nothing("no log that can be read")
    notes = [] if prices else ["No money without prices: --prices FILE."]
    return Report("Calls, tokens and cost", tables, notes, left_out=found.lines)


def _candidate(log: EvalLog) -> tuple[str, str, Counter[str]]:
    used: Counter[str] = Counter()
    for usage in log.stats.model_usage.values():
        used.update(_tokens(usage))
    for usage in log.stats.role_usage.values():
        used.subtract(_tokens(usage))
    return "candidate", log.eval.model, used


def _scores(log: FoundLog) -> list[_Used]:
    """Name of every score of a log, and what its judges used."""
    found = _usage(log.summaries)
    # a summary leaves out what is longer than 1k, such as the usage of a panel of four
    if any(usage is None for _, usage in found):
        found = _usage(scored_samples(log.location))
    return [(scorer, usage or {}) for scorer, usage in found]


def _usage(samples: Sequence[EvalSampleSummary | EvalSample]) -> list[tuple[str, _ByJudge | None]]:
    scores = [pair for s in samples for pair in (s.scores or {}).items()]
    return [(name, JudgingRecord.usage_in(score)) for name, score in scores]


def _judges(scores: Sequence[_Used]) -> Iterator[tuple[str, str, Counter[str]]]:
    """Use by score and judge, from the scores themselves: re-scoring leaves no trace elsewhere."""
    used: dict[tuple[str, str], Counter[str]] = {}
    for scorer, by_judge in scores:
        for judge, usage in by_judge.items():
            if usage:
                used.setdefault((scorer, judge), Counter()).update(usage)
    for (scorer, judge), usage in used.items():
        yield f"judge, {scorer}", judge, usage


def _tokens(usage: ModelUsage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.input_tokens_cache_read or 0,
        "cache_write_input_tokens": usage.input_tokens_cache_write or 0,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens or 0,
    }


def _row(
    part: str, model: str, used: Mapping[str, int], prices: dict[str, ModelCost] | None, file: str
) -> list[Cell]:
    spared = used.get("saved_input_tokens", 0) + used.get("saved_output_tokens", 0)
    calls: Cell = used.get("calls", 0) if part != "candidate" else "–"
    tokens = [used.get(kind, 0) for kind in _KINDS]
    money = math.nan if prices is None else _money(model, used, prices, file)
    return [part, model, calls, *tokens, used.get("saved_calls", 0), spared, money]


def _money(model: str, used: Mapping[str, int], prices: dict[str, ModelCost], file: str) -> float:
    if not any(used.get(kind) for kind in _KINDS):
        return 0.0
    usage = ModelUsage(
        input_tokens=used.get("input_tokens", 0),
        output_tokens=used.get("output_tokens", 0),
        input_tokens_cache_read=used.get("cached_input_tokens", 0),
        input_tokens_cache_write=used.get("cache_write_input_tokens", 0),
    )
    return compute_model_cost(price_of(prices, model_of(model), file), usage)


def _total(rows: Sequence[Sequence[Cell]], prices: dict[str, ModelCost] | None) -> list[str]:
    if prices is None:
        return []
    return [f"Total cost {math.fsum(c for row in rows if isinstance(c := row[-1], float)):.4f}"]
