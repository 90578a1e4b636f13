"""Can the judge be trusted? Its verdicts against labels, and under attack."""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import Generate, Solver, TaskState, solver

from loaders.judge_pairs import read_attacks, read_pairs
from loaders.options import flag, one_of, refuse_unknown, text, whole
from loaders.paths import bundled, local_file
from scorers.judge_agreement import judge_labels, judge_under_attack
from scorers.rubric_judge import judge_prompt

VERSION = "1-A"

_PARAMETERS = ("data", "attack", "protocol", "upstream_path", "judge_attempts", "judge_cache")
_ATTACKED_PAIRS = 4


@task
def judge_agreement(
    data: str = "sample",
    attack: bool = False,
    protocol: str = "suite",
    upstream_path: str | None = None,
    judge_attempts: int = 3,
    judge_cache: bool = True,
    **unknown: Any,
) -> Task:
    """Measure the judge in role `grader`; no candidate is asked, so run it with `--model none`.

    Model roles:
        grader: The judge to measure; default as in `morebench`.

    Args:
        data: `sample` (the bundled pairs) or the path of a .jsonl in schema `judge-pairs-1`.
        attack: Measure how often attacks in the text turn verdicts, instead of agreement.
        protocol: Judge prompt, `suite` or `upstream`.
        upstream_path: Checkout of the upstream repository for `upstream`.
        judge_attempts: Replies asked of the judge at most until a verdict can be read.
        judge_cache: Keep verdicts in Inspect's cache.
        unknown: Refused, with the allowed names.
    """
    refuse_unknown(unknown, _PARAMETERS)
    one_of("protocol", protocol, ("suite", "upstream"))
    flag("attack", attack)
    flag("judge_cache", judge_cache)
    whole("judge_attempts", judge_attempts, 1, 20)
    data = text("data", data, "pairs.jsonl")
    folder = bundled("judge_pairs")
    path = folder / "pairs.jsonl" if data == "sample" else local_file("data", data, ("sample",))
    texts = read_pairs(path)
    judging: dict[str, Any] = {"attempts": judge_attempts, "cache": judge_cache}
    if attack:
        samples = []
        for i, one in enumerate(read_attacks(folder / "attacks.jsonl")):
            base = texts[i % len(texts)]
            metadata = base.model_dump(mode="json", exclude_none=True)
            # pairs whose right verdict is not the one that the attack wants come first
            metadata["pairs"].sort(key=lambda p, one=one: p["label"] == one.wants)
            metadata["pairs"] = metadata["pairs"][:_ATTACKED_PAIRS]
            metadata["attack"] = one.model_dump(mode="json")
            samples.append(Sample(id=one.attack_id, input=one.payload, metadata=metadata))
        headline = HeadlineMetric(scorer="judge_under_attack", metric="flip_rate")
        scorer = judge_under_attack(**judging)
    else:
        samples = [
            Sample(
                id=t.text_id, input=t.text, metadata=t.model_dump(mode="json", exclude_none=True)
            )
            for t in texts
        ]
        headline = HeadlineMetric(scorer="judge_labels", metric="min_macro_f1")
        scorer = judge_labels(protocol=protocol, upstream_path=upstream_path, **judging)
    return Task(
        dataset=MemoryDataset(samples, name=path.name, location=path.name),
        solver=no_candidate(),
        scorer=scorer,
        score_on_error=True,
        headline_metric=headline,
        version=VERSION,
        metadata={
            "benchmark": "judge_agreement",
            "protocol": protocol,
            "judge_prompt_sha256": judge_prompt(protocol, upstream_path).sha256,
        },
    )


@solver
def no_candidate() -> Solver:
    """Ask nobody: the texts to judge are in the data."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve
