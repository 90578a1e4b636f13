"""What must be equal for two runs to be comparable, read from their logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.scorer import Score

from moral_evals.loaders.errors import OptionError, SuiteError
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
        protocol: Wording of the prompts, or the name of the user's own for the candidate, with the
            candidate's hash.
        judged: Which text was judged.
        judge: The judges, with settings; UNJUDGED if no text was judged.
        judge_mode: One call a criterion, or whole rubrics and how much of one; votes.
        judge_prompts: Hash of the judge's wording, after the name of an own one, or UNJUDGED.
        tier_order: Tier order of a CORDA score.
    """

    task: str = ""
    version: str = ""
    data: str = ""
    protocol: str = ""
    judged: str = ""
    judge: str = ""
    judge_mode: str = ""
    judge_prompts: str = ""
    tier_order: str = ""


NAMES = tuple(f.name for f in fields(Conditions))
UNJUDGED = "nothing judged"
"""A model that shows no text to judge is comparable whoever would have judged it."""


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
        texts = sorted({getattr(c, name) or "not recorded" for c in conditions} - {UNJUDGED})
        if len(texts) > 1 and name not in allowed:
            odd = _odd_log([getattr(c, name) or "not recorded" for c in conditions], logs)
            found.append(f"{name} differs: {'; '.join(texts)}{odd}")
    return found


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
        raise SuiteError(
            "these runs are not comparable: "
            + ". ".join(found)
            + ". Compare fewer logs, or say --allow NAME for a difference that you accept."
        )


def rubric_conditions(log: EvalLog, score: EvalScore, scores: Sequence[Score]) -> Conditions:
    """Conditions of a rubric score; `scores` are those of its samples.

    A score made later by `inspect score` may differ from the run's own, so its parameters and
    its samples are asked before the log's header.
    """
    metadata, params = log.eval.metadata or {}, score.params or {}
    data = metadata.get("data", {})
    protocol = str(metadata.get("candidate_prompt") or metadata.get("protocol", ""))
    prompts = str(metadata.get("candidate_prompts_sha256", ""))
    judged = any(s.reason in (None, "grader_failed") for s in scores)
    records = [RubricRecord.of(s) for s in scores]
    return Conditions(
        task=str(metadata.get("benchmark") or log.eval.task),
        version=str(log.eval.task_version).partition("-")[0],
        data=_file(data),
        protocol=f"{protocol} {prompts}".strip(),
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
    return f"{seat.model} ({', '.join(kept)})" if kept else seat.model


def chain_conditions(log: EvalLog, order: TierOrder) -> Conditions:
    """Conditions of a CORDA score under a tier order."""
    metadata = log.eval.metadata or {}
    data = metadata.get("data", {})
    elicit, prompts = str(metadata.get("elicit", "")), str(metadata.get("prompts_sha256", ""))
    abstain = " with NONE" if log.eval.task_args.get("allow_abstain") else ""
    return Conditions(
        task=str(metadata.get("benchmark") or log.eval.task),
        version=str(log.eval.task_version).partition("-")[0],
        data=f"{_file(data)} {data.get('value_map', '')}".strip(),
        protocol=f"{elicit} {prompts}{abstain}".strip(),
        tier_order=" > ".join(order.names),
    )
