"""What came back from the candidate in a run, lost samples included."""

from collections import Counter
from collections.abc import Iterator, Mapping

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalSampleSummary,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)

from moral_evals.loaders.limits import limit_of
from moral_evals.loaders.turns import read_turns
from moral_evals.reports.runs.logs import UNREAD
from moral_evals.scorers.outcome import FLAGS, outcome_flags


def reply_counts(log: EvalLog) -> dict[str, int]:
    """Replies by kind of trace and outcome.

    A sample whose judging failed has no `outcome` score, since the judge's score comes first; its
    flags are taken from its reply.
    """
    api = log.eval.model.partition("/")[0]
    total: Counter[str] = Counter()
    for summary in read_eval_log_sample_summaries(log.location):
        score = (summary.scores or {}).get("outcome")
        if score is not None:
            total.update({f: int(score.as_dict().get(f) or 0) for f in FLAGS})
        elif summary.error:
            sample = _sample(log, summary)
            reply = read_turns(sample.messages, sample.output, api)
            flags = outcome_flags(reply, limit_of(summary.limit))
            total.update({f: int(v) for f, v in flags.items()})
    return dict(total)


def without_scores(log: EvalLog) -> Iterator[str]:
    """Remarks on a run of which no score is left: Inspect keeps none if every judging failed."""
    yield f"status {log.status}: no scores of this suite in the log"
    if any(s.name.rpartition("/")[2] == "outcome" for s in log.eval.scorers or []):
        summaries = read_eval_log_sample_summaries(log.location)
        yield f"lost in judging or before: {len(summaries)}"
        if replies := reply_counts(log):
            yield "replies: " + listed(replies)


def listed(counts: Mapping[str, int]) -> str:
    """Counts as `name n`, those of 0 left out."""
    return ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in counts.items() if n)


def _sample(log: EvalLog, summary: EvalSampleSummary) -> EvalSample:
    return read_eval_log_sample(
        log.location,
        summary.id,
        summary.epoch,
        resolve_attachments="full",
        exclude_fields=UNREAD - {"messages", "output", "attachments"},
    )
