"""The card of an exported set, in the form that the Hugging Face hub reads."""

import types
import typing
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel

from moral_evals.reports.exchange.reward_pairs import PreferencePair
from moral_evals.reports.exchange.reward_rows import RewardRow
from moral_evals.reports.form.document import number
from moral_evals.scorers.markdown import cell, row

_DTYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}

_FIELDS = """\
| field | meaning |
|---|---|
| `id`, `epoch` | dilemma and repetition |
| `benchmark`, `theory`, `role`, `source`, `type`, `context` | labels of the dilemma |
| `prompt`, `prompt_as_sent` | the messages before the reply; false where a log shows the dilemma alone, because it was imported |
| `trace`, `trace_kind` | the thinking trace: `raw` from the provider, its `summary`, `elicited` in tags, `redacted` or `none` |
| `response`, `completion` | the final text without the trace; the visible text as it was produced, with its tags |
| `judged` | which text the verdicts are about: `trace` or `response` |
| `score` | share of the rubric's weight earned, in [0, 1] |
| `graded_share` | share of the rubric's weight with a verdict |
| `length`, `score_per_1000_characters` | characters of the judged text; the score over thousands of them |
| `dimensions` | the same share within each dimension; null where the rubric lacks it |
| `own_dimensions` | the same for dimensions of the runs' own, a list of `dimension` and `share`; empty if there are none |
| `verdicts` | by criterion: text, weight, dimension, the judge's `verdict`, and whether it counts in favour (`fulfilled`, null if ungraded) |
| `model`, `judge`, `judge_mode`, `judge_prompt_sha256`, `protocol` | who answered, who judged, and how |
| `data_sha256`, `task_version`, `log_id` | what the dilemmas were, which version of the task, which run |
"""

_PAIRS = """
## Pairs

`pairs.jsonl` holds two replies to the same prompt, judged in the same way by the same judge with the same settings, whose scores differ by at least {margin:g}. The scores of a pair are over the criteria that are graded in both (`criteria_compared` of `criteria`). `content` is the visible text as it was produced, `reasoning_content` the provider's own reasoning if it sent any. Replies with traces of different kinds are never paired where the trace was judged.
"""

_METHOD = """\
## How scores are made

A judge model says of every criterion whether the judged text meets it. A criterion of positive weight is fulfilled by a yes, one of negative weight by a no: the sign alone decides, never the wording. The score is the fulfilled share of the sum of absolute weights. A criterion without a readable verdict leaves numerator and denominator; `graded_share` says how much is left. MoReBench-Hard is a ratio of means over a whole run, so `score_per_1000_characters` does not average to it.

The verdicts reward what the reasoning says, criterion by criterion, and not the decision it ends in: this is process supervision, and its criteria are one panel's view of good moral reasoning.

## Before you train on it

- **Contamination.** A model trained on these dilemmas, rubrics or verdicts cannot be measured on them any more. Hold dilemmas out before training, and say so with every score.
- **Rubric hacking.** The reward is a judge's reading of a list. Optimised hard, a model learns to name what lists tend to name, at length, and to write for this judge. Watch scores on held-out dilemmas under another judge, the length, and the avoided faults: an answer that says little still earns all negative criteria.
- **Kinds of trace.** A summary is the provider's text and not the model's reasoning. Do not train on summaries as if they were reasoning, and do not mix kinds without looking.
- **Terms.** Replies are the output of the models named above, whose providers may restrict what they may train.
"""


@dataclass
class Source:
    """One score of one log: what it gave to the set, and what was left out."""

    model: str
    judge: str
    judged: str
    protocol: str
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def card(name: str, sources: Sequence[Source], pairs: int | None, margin: float) -> str:
    """The card as Markdown with YAML front matter.

    Args:
        name: Title of the set.
        sources: Where the rows come from.
        pairs: Number of pairs; None if none were asked for.
        margin: Least difference of scores within a pair.
    """
    rows = sum(s.rows for s in sources)
    text = (
        f"{_front_matter(name, pairs is not None)}\n# {name}\n\n"
        "Replies of language models to moral dilemmas, with a judge's verdict on every criterion "
        "of each dilemma's rubric. Made by `moral-reports export-rewards` from finished runs.\n\n"
        f"{rows:,} replies in `rewards.jsonl`"
        + (f", {pairs:,} preference pairs in `pairs.jsonl`" if pairs is not None else "")
        + f".\n\n{_table(sources)}\n"
        "**Licence: yours to choose**, within that of the sources. The published MoReBench "
        "dilemmas and criteria are CC-BY-4.0 (Chiu et al., arXiv 2510.16380) and must be credited "
        f"wherever they are in the rows.\n\n## Fields of `rewards.jsonl`\n\n{_FIELDS}"
    )
    if pairs is not None:
        text += _PAIRS.format(margin=margin)
    return f"{text}\n{_METHOD}"


def _front_matter(name: str, pairs: bool) -> str:
    files: list[tuple[str, type[BaseModel]]] = [("rewards", RewardRow)]
    files += [("pairs", PreferencePair)] if pairs else []
    head = {
        "license": "unknown",
        "pretty_name": name,
        "task_categories": ["reinforcement-learning", "text-generation"],
        "tags": ["moral-reasoning", "process-supervision", "reward-model", "synthetic"],
        "configs": [
            {"config_name": config, "data_files": f"{config}.jsonl", "default": config == "rewards"}
            for config, _ in files
        ],
        "dataset_info": [
            {"config_name": config, "features": features(model)} for config, model in files
        ],
    }
    dumped = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    note = "# set the licence; MoReBench's dilemmas and criteria are cc-by-4.0\n"
    return f"---\n{note}{dumped}---\n"


def features(model: type[BaseModel]) -> list[dict[str, Any]]:
    """The columns of a record as the hub's cards write them."""
    return [
        {"name": name, **_feature(info.annotation)} for name, info in model.model_fields.items()
    ]


def _feature(annotation: Any) -> dict[str, Any]:
    options = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return _feature(next(o for o in options if o is not type(None)))
    if typing.get_origin(annotation) is list:
        return {"list": features(options[0])}
    if annotation in _DTYPES:
        return {"dtype": _DTYPES[annotation]}
    return {"struct": features(annotation)}


def _table(sources: Sequence[Source]) -> str:
    lines = [
        row(["model", "judge", "judged", "prompts", "replies", "left out"]),
        row(["---", "---", "---", "---", "---:", "---"]),
    ]
    for s in sources:
        left = ", ".join(f"{n} {reason}" for reason, n in sorted(s.left_out.items())) or "none"
        texts = [cell(t) for t in (s.model, s.judge, s.judged, s.protocol)]
        lines.append(row([*texts, number(s.rows, 0), cell(left.replace("_", " "))]))
    return "\n".join(lines) + "\n"
