"""CORDA runs made by hand, as if read from logs, and a name that nothing must take for code."""

from collections.abc import Mapping, Sequence

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalScore, EvalSpec

from moral_evals.reports.runs.conditions import Conditions
from moral_evals.reports.runs.corda_runs import CordaRun
from moral_evals.scorers.corda.order import DEFAULT_ORDER
from moral_evals.scorers.corda.records import ChainAnswer
from tests.scorers.corda.chain_examples import YES_NO, rollouts

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>$\\frac{$ \x1b[31m\x01'\"&"


def answers(
    choices: Mapping[str, Sequence[str]], conditions: Sequence[str] = ("unconditioned",)
) -> list[ChainAnswer]:
    """Chains of steps whose option 1 is better: a string a step, a character a shuffle."""
    return [
        answer
        for condition in conditions
        for chain, picked in choices.items()
        for answer in rollouts(chain, [YES_NO] * len(picked), picked, condition)
    ]


def corda_run(model: str, given: Sequence[ChainAnswer]) -> CordaRun:
    spec = EvalSpec(
        created="2026-01-02T03:04:05+00:00", task="corda", model=model,
        dataset=EvalDataset(), config=EvalConfig(),
    )  # fmt: skip
    log = EvalLog(eval=spec, status="success", location=f"{model}.eval")
    score = EvalScore(name="lexicographic", scorer="lexicographic")
    return CordaRun(log, score, Conditions(), tuple(given), DEFAULT_ORDER)
