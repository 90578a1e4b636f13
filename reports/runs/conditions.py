"""What must be equal for two runs to be comparable, read from their logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.scorer import Score

from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.loaders.service import served
from moral_evals.reports.runs.asked import own_params, provider_text, solver_text
from moral_evals.reports.runs.logs import shown_name
from moral_evals.scorers.corda.order import TierOrder
from moral_evals.scorers.judging.options import TRANSPORT, WHOLE_RUBRIC
from moral_evals.scorers.rubric.record import JudgeSeat, JudgingRecord, RubricRecord


@dataclass(frozen=True)
class Conditions:
    """Each field by its plain text; two runs with different texts in one are not comparable.

    Attributes:
        task: Benchmark.
        version: The part of the task version that scores depend on.
        data: Fingerprint of the data file.
        protocol: Wording of the prompts, with the candidate's hash; OTHER_PROMPTS if a solver of
            the user's own asked, which `solver` tells.
        solver: The solvers with their arguments, an agent's tools among them.
        provider: The candidate with its model arguments and base URL; compared among runs of one
            model only, since models have providers of their own.
        judged: Which text was judged.
        judge: The judges, with settings, model arguments and base URL; UNJUDGED if no text was judged.
        judge_mode: One call a criterion, or whole rubrics and how much of one; votes.
        judge_prompts: Hash of the judge's wording, after the name of an own one, or UNJUDGED.
        tier_order: Tier order of a CORDA score.
    """

    task: str = ""
    version: str = ""
    data: str = ""
    protocol: str = ""
    solver: str = ""
    provider: str = ""
    judged: str = ""
    judge: str = ""
    judge_mode: str = ""
    judge_prompts: str = ""
    tier_order: str = ""


NAMES = tuple(f.name for f in fields(Conditions))
UNJUDGED = "nothing judged"
"""A model that shows no text to judge is comparable whoever would have judged it."""
OTHER_PROMPTS = "prompts of another solver"
"""Prompts that are not the suite's: the condition `solver` tells them apart."""


def differences(
    conditions: Sequence[Conditions], allowed: Iterable[str] = (), logs: Sequence[str] = ()
) -> list[str]:
    """One sentence for each condition in which the runs differ and that is not allowed to.

    Where one log is unlike all others, it is named.

    Raises OptionError for an allowance that names no condition.
    """
    allowed = set(allowed)
    if unknown := allowed - set(NAMES):
        raise OptionError(
            f"--allow {', '.join(sorted(unknown))}: no such condition. Allowed: {', '.join(NAMES)}."
        )
    found = []
    for name in NAMES:
        if name in allowed:
            continue
        told = [getattr(c, name) or "not recorded" for c in conditions]
        texts = _one_models(told) if name == "provider" else {*told} - {UNJUDGED, OTHER_PROMPTS}
        if len(texts) > 1:
            odd = _odd_log(told, logs)
            found.append(f"{name} differs: {'; '.join(sorted(texts))}{odd}")
    return found


def _one_models(told: Sequence[str]) -> set[str]:
    """The texts of the models that were served in more than one way."""
    by_model: dict[str, set[str]] = {}
    for text in told:
        by_model.setdefault(text.partition(" (")[0], set()).add(text)
    return {text for texts in by_model.values() if len(texts) > 1 for text in texts}


def _odd_log(texts: Sequence[str], logs: Sequence[str]) -> str:
    """The one log with a text that no other log has, where the others are of one mind."""
    holders = {
        text: {log for t, log in zip(texts, logs, strict=False) if t == text} for text in texts
    }
    odd = {log: text for text, names in holders.items() if len(names) == 1 for log in names}
    if len(odd) != 1 or len(set(logs)) < 3:
        return ""
    ((log, text),) = odd.items()
    return f" ({text}: only in {shown_name(log)})"


def refuse_incomparable(
    conditions: Sequence[Conditions], allowed: Iterable[str] = (), logs: Sequence[str] = ()
) -> None:
    """Raise SuiteError with every condition that differs and is not allowed to.

    Args:
        conditions: Of each run.
        allowed: Conditions that may differ, by name.
        logs: The log of each run, to name one that is unlike all others.
    """
    if found := differences(conditions, allowed, logs):
        by_order = any(sentence.startswith("tier_order ") for sentence in found)
        choose = " choose one order by --order or --scorer," if by_order else ""
        raise SuiteError(
            "these runs are not comparable: "
            + ". ".join(found)
            + f". Compare fewer logs,{choose} or say --allow NAME for a difference that you accept."
        )


def rubric_conditions(log: EvalLog, score: EvalScore, scores: Sequence[Score]) -> Conditions:
    """Conditions of a rubric score; `scores` are those of its samples.

    A score made later by `inspect score` may differ from the run's own, so its parameters and
    its samples are asked before the log's header.
    """
    metadata, params = log.eval.metadata or {}, score.params or {}
    data = metadata.get("data", {})
    judged = any(s.reason in (None, "grader_failed") for s in scores)
    records = [RubricRecord.of(s) for s in scores]
    # up to version 0.1 the header had the hash, whatever the solver
    prompts = _one(r.candidate_prompts_sha256 for r in records) or str(
        metadata.get("candidate_prompts_sha256", "")
    )
    return Conditions(
        task=str(metadata.get("benchmark") or log.eval.task),
        version=str(log.eval.task_version).partition("-")[0],
        data=_file(data),
        protocol=_prompts(log, records, prompts),
        solver=solver_text(log),
        provider=provider_text(log),
        judged=_one(r.judged for r in records) or str(params.get("judged", "")),
        judge=_judge(records) if judged else UNJUDGED,
        judge_mode=_mode(params, records),
        judge_prompts=_one(map(_wording, records)) if judged else UNJUDGED,
    )


def _mode(params: Mapping[str, Any], records: Sequence[RubricRecord]) -> str:
    """How the judge was asked; parameters hold only what was given, samples all of it."""
    judged = (r for r in records if r.judge)
    facts = next(judged, None) or JudgingRecord(
        judge_mode=params.get("judge_mode", "criterion"), rubric_chunk=params.get("rubric_chunk")
    )
    mode = facts.judge_mode
    if mode == "rubric":
        mode += f" by {facts.rubric_chunk or WHOLE_RUBRIC}"
    return mode + (f", {facts.judge_votes} votes" if facts.judge_votes > 1 else "")


def _file(data: Mapping[str, object]) -> str:
    return f"{data.get('file', '')} {str(data.get('sha256', ''))[:12]}".strip()


def _one(values: Iterable[str]) -> str:
    """The value that all samples share, or all values that occur."""
    return " and ".join(sorted({*values} - {""}))


def _wording(record: RubricRecord) -> str:
    """Hash of the judge's wording, after its name if it is the user's own."""
    return f"{record.judge_prompt} {record.prompt_sha256}".strip()


def _judge(records: Sequence[RubricRecord]) -> str:
    found: dict[str, set[str]] = {}
    for record in records:
        if record.judge:
            texts = found.setdefault(record.judge, set())
            # a summary leaves a list out that is longer than 1k
            if record.judges:
                texts.add(" + ".join(dict.fromkeys(map(_judge_text, record.judges))))
    return " and ".join(sorted(t for names, texts in found.items() for t in texts or [names]))


def _judge_text(seat: JudgeSeat) -> str:
    kept = [f"{k}={v}" for k, v in sorted(seat.settings.items()) if k not in TRANSPORT]
    kept += served(seat.model, seat.model_args, seat.base_url)
    return f"{seat.model} ({', '.join(kept)})" if kept else seat.model


def _prompts(log: EvalLog, records: Sequence[RubricRecord], prompts: str) -> str:
    if own := _one(r.candidate_prompt for r in records):
        return f"{own} {prompts}".strip()
    return _protocol(log, str((log.eval.metadata or {}).get("protocol", "")), "protocol", prompts)


def _protocol(log: EvalLog, said: str, name: str, prompts: str) -> str:
    """The protocol that the solver had, or by the header, and the hash of what was sent."""
    params = own_params(log)
    if params is None:
        return OTHER_PROMPTS
    return f"{params.get(name, said)} {prompts}".strip()


def chain_conditions(log: EvalLog, order: TierOrder, scores: Sequence[Score] = ()) -> Conditions:
    """Conditions of a CORDA score under a tier order; `scores` are those of its samples."""
    metadata = log.eval.metadata or {}
    data = metadata.get("data", {})
    prompts = _one(str((s.metadata or {}).get("prompts_sha256", "")) for s in scores) or str(
        metadata.get("prompts_sha256", "")
    )
    protocol = _protocol(log, str(metadata.get("elicit", "")), "elicit", prompts)
    abstain = (own_params(log) or log.eval.task_args).get("allow_abstain")
    return Conditions(
        task=str(metadata.get("benchmark") or log.eval.task),
        version=str(log.eval.task_version).partition("-")[0],
        data=f"{_file(data)} {data.get('value_map', '')}".strip(),
        protocol=protocol + (" with NONE" if abstain and protocol != OTHER_PROMPTS else ""),
        solver=solver_text(log),
        provider=provider_text(log),
        tier_order=" > ".join(order.names),
    )
