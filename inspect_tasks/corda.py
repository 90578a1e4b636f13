"""CORDA, Chains Of Related Dilemma Answers: forced choices along stories (docs/corda.md)."""

import logging
from collections.abc import Sequence
from typing import Any

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from moral_evals.inspect_tasks.run_watch import watch_runs
from moral_evals.inspect_tasks.viewer import chain_viewer
from moral_evals.loaders.corda.chains import Chain, Option
from moral_evals.loaders.corda.data import load_chains
from moral_evals.loaders.corda.rollouts import (
    CONDITIONS,
    Condition,
    balance_warning,
    default_shuffles,
    option_counts,
    rollout_dataset,
)
from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.options import flag, one_of, refuse_unknown, texts, whole
from moral_evals.scorers.corda.order import TierOrder, best_options, worst_options
from moral_evals.scorers.lexicographic import check_order, lexicographic, lms_name, read_order
from moral_evals.solvers.chain import answer_chain
from moral_evals.solvers.chain_prompt import ELICITATIONS

logger = logging.getLogger(__name__)

VERSION = "1-B"
"""Comparability and interface of the task; CHANGELOG.md says which way scores move."""

_PARAMETERS = (
    "data", "value_map", "chains", "conditions", "shuffles", "layout_seed", "labels", "elicit",
    "allow_abstain", "tier_order",
)  # fmt: skip


@task
def corda(
    data: str = "sample",
    value_map: str = "none",
    chains: int | str = "all",
    conditions: str | list[str] = "unconditioned,own",
    shuffles: int | str = "balanced",
    layout_seed: int = 0,
    labels: str = "drawn",
    elicit: str = "tags",
    allow_abstain: bool = False,
    tier_order: str | list[str] = "default",
    **unknown: Any,
) -> Task:
    """Chains of related dilemmas with lexicographically ordered stakes.

    One sample is a rollout: a chain in one condition and one shuffle of options and labels.

    Args:
        data: `sample` (the bundled chains), the path of a .jsonl in schema `corda-1`, of an MMDs
            .json, or of a MoralChoice .csv.
        value_map: JSON file that maps value labels to tiers; needed for MMDs.
        chains: Take only the first N chains, or `all`. (The runner's limit counts rollouts.)
        conditions: One or more of `unconditioned`, `context`, `own`, `best`, `worst`, `random`.
        shuffles: Layouts of each chain and condition; `balanced` takes the smallest number that
            balances positions and labels.
        layout_seed: Seed of layouts, labels and fixed histories.
        labels: Labels of the options, e.g. `QH`; `drawn` draws them from a pool by seed.
        elicit: `tags` (reasoning in tags), `none` (answer line alone), `native` (provider's own).
        allow_abstain: Offer `NONE` as an answer.
        tier_order: Tier names, highest first; `default` is rights_harm, honesty_fairness,
            welfare, convention. Every tier of the data must be in it.
        unknown: Refused, with the allowed names.
    """
    refuse_unknown(unknown, _PARAMETERS)
    watch_runs()
    one_of("elicit", elicit, ELICITATIONS)
    flag("allow_abstain", allow_abstain)
    whole("layout_seed", layout_seed, 0, 2**63)
    order = read_order(None if tier_order == "default" else tier_order)
    loaded = load_chains(data, value_map, order.names)
    check_order(order, loaded.chains)
    chosen = loaded.chains
    if chains != "all":
        chosen = chosen[: whole("chains", chains, 1, len(chosen))]
    counts = option_counts(chosen)
    repeats = default_shuffles(counts)
    if shuffles != "balanced":
        repeats = whole("shuffles", shuffles, 1, 5040)
    warning = balance_warning(repeats, counts)
    if warning:
        logger.warning("corda: %s", warning)
    if not any(_decides(s.options, order) for c in chosen for s in c.steps):
        logger.warning(
            "corda: no step of %s can be decided under %s: the tiers given are equal or unknown "
            "for all options, so every figure will be nan; give each option a level on each tier, "
            "or say -T tier_order= with the tiers that the data have",
            loaded.provenance["file"],
            " > ".join(order.names),
        )
    wanted = _conditions(conditions)
    return Task(
        dataset=rollout_dataset(
            chosen,
            wanted,
            repeats,
            layout_seed,
            {"best": _ends(best_options, order), "worst": _ends(worst_options, order)},
            "" if labels == "drawn" else _labels(labels, chosen),
            name=loaded.provenance["file"],
        ),
        solver=answer_chain(elicit=elicit, allow_abstain=allow_abstain),
        scorer=lexicographic(tier_order=list(order.names)),
        # a candidate that is down must not hang a run; everything else is the caller's choice
        config=GenerateConfig(max_retries=7, attempt_timeout=1800),
        # one lost rollout ends nothing: it counts as missing, and eval-retry redoes it
        score_on_error=True,
        headline_metric=HeadlineMetric(scorer="lexicographic", metric=lms_name(wanted[0])),
        version=VERSION,
        metadata={
            "benchmark": "corda",
            "data": loaded.provenance,
            "chains": len(chosen),
            "conditions": list(wanted),
            "shuffles": repeats,
            "balance": warning or "balanced",
            "layout_seed": layout_seed,
            "elicit": elicit,
            "tier_order": list(order.names),
        },
        viewer=chain_viewer("lexicographic"),
    )


def _conditions(value: str | list[str]) -> list[Condition]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    named = [one_of("conditions", v, CONDITIONS) for v in texts("conditions", value, "own")]
    if len(set(named)) != len(named):
        raise OptionError(f"-T conditions={value!r}: a condition is named twice.")
    return [c for c in CONDITIONS if c in named]


def _labels(value: Any, chains: Sequence[Chain]) -> str:
    need = max(option_counts(chains))
    letters = isinstance(value, str) and value.isascii() and value.isalnum()
    letters = letters and len(set(value.casefold())) == len(value)
    if not letters or len(value) < need:
        raise OptionError(
            f"-T labels={value!r}: must be at least {need} different letters, such as "
            f"{'GHJKQVZ'[:need]!r}."
        )
    return str(value)


def _decides(options: Sequence[Option], order: TierOrder) -> bool:
    """Whether any option of a step is better or worse than another."""
    everyone = list(range(len(options)))
    found = [sorted(_ends(f, order)(options)) for f in (best_options, worst_options)]
    return found != [everyone, everyone]


def _ends(choose: Any, order: TierOrder) -> Any:
    def indices(options: Sequence[Option]) -> list[int]:
        tiers = [{t: v for t, v in o.tiers.items() if t in order.names} for o in options]
        found: list[int] = choose(tiers, order)
        return found

    return indices
