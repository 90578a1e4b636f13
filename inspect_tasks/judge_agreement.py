"""Can the judge be trusted? Its verdicts against labels, and under attack."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import Generate, Solver, TaskState, solver

from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.options import flag, refuse_unknown, text
from moral_evals.loaders.paths import bundled, local_file
from moral_evals.loaders.tables.judge_pairs import Attack, LabelledText, read_attacks, read_pairs
from moral_evals.scorers.judge_agreement import judge_labels, judge_under_attack
from moral_evals.scorers.judging.options import ROLE, WHOLE_RUBRIC, JudgeOptions
from moral_evals.scorers.judging.prompt import judge_prompt_sha256

VERSION = "1-C"

_PARAMETERS = ("data", "attack", *(f.name for f in fields(JudgeOptions)))
_ATTACKED_PAIRS = 4


@task
def judge_agreement(
    data: str = "sample",
    attack: bool = False,
    protocol: str = "suite",
    upstream_path: str | None = None,
    judge_mode: str = "criterion",
    rubric_chunk: int = WHOLE_RUBRIC,
    rubric_seed: int = 0,
    votes: int = 1,
    judge_attempts: int = 3,
    judge_cache: bool = True,
    judges: str | list[str] = ROLE,
    judge_prompt: str | None = None,
    **unknown: Any,
) -> Task:
    """Measure the judge in role `grader`; no candidate is asked, so run it with `--model none`.

    Model roles:
        grader: The judge to measure, or a panel of several; default as in `morebench`.

    Args:
        data: `sample` (the bundled pairs) or the path of a .jsonl in schema `judge-pairs-1`.
        attack: Measure how often attacks in the text turn verdicts, instead of agreement.
        protocol: Judge prompt, `suite` or `upstream`.
        upstream_path: Checkout of the upstream repository for `upstream`.
        judge_mode: `criterion` (one call each) or `rubric` (all pairs of a text in one call).
        rubric_chunk: Criteria a call at most in mode `rubric`.
        rubric_seed: Seed of the criteria's order in mode `rubric`.
        votes: Times that each judge is asked about each pair; the majority counts.
        judge_attempts: Replies asked of the judge at most until a verdict can be read.
        judge_cache: Keep readable judge replies on disk, so that none is paid for twice.
        judges: Roles or models that judge, by name; several make a panel, and so does a role
            with several models.
        judge_prompt: File with a judge prompt of your own (docs/own-material.md).
        unknown: Refused, with the allowed names.
    """
    refuse_unknown(unknown, _PARAMETERS)
    flag("attack", attack)
    options = JudgeOptions.of(locals())
    if attack and protocol != "suite":
        raise OptionError(f"-T attack=true: attacks are on protocol=suite, not {protocol!r}.")
    data = text("data", data, "pairs.jsonl")
    folder = bundled("judge_pairs")
    path = folder / "pairs.jsonl" if data == "sample" else local_file("data", data, ("sample",))
    texts = read_pairs(path)
    judging = asdict(options)
    if attack:
        samples = _attacked(texts, read_attacks(folder / "attacks.jsonl"))
        headline = HeadlineMetric(scorer="judge_under_attack", metric="flip_rate")
        del judging["protocol"], judging["upstream_path"]
        scorer = judge_under_attack(**judging)
    else:
        samples = [Sample(id=t.text_id, input=t.text, metadata=_plain(t)) for t in texts]
        headline = HeadlineMetric(scorer="judge_labels", metric="min_macro_f1")
        scorer = judge_labels(**judging)
    return Task(
        dataset=MemoryDataset(samples, name=path.name, location=path.name),
        solver=no_candidate(),
        scorer=scorer,
        score_on_error=True,
        headline_metric=headline,
        version=VERSION,
        metadata={
            "benchmark": "judge_agreement",
            **options.facts(),
            "judge_prompt_sha256": judge_prompt_sha256(options),
        },
    )


def _attacked(texts: Sequence[LabelledText], attacks: Sequence[Attack]) -> list[Sample]:
    samples = []
    for i, attack in enumerate(attacks):
        metadata = _plain(texts[i % len(texts)])
        # pairs whose right verdict is not the one that the attack wants come first
        metadata["pairs"].sort(key=lambda p, attack=attack: p["label"] == attack.wants)
        metadata["pairs"] = metadata["pairs"][:_ATTACKED_PAIRS]
        metadata["attack"] = attack.model_dump(mode="json")
        samples.append(Sample(id=attack.attack_id, input=attack.payload, metadata=metadata))
    return samples


def _plain(text: LabelledText) -> dict[str, Any]:
    return text.model_dump(mode="json", exclude_none=True)


@solver
def no_candidate() -> Solver:
    """Ask nobody: the texts to judge are in the data."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve
