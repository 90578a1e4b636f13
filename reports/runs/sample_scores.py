"""The scores of a finished log in the form in which a metric gets them.

Figures are made from these, so that they exist for every log, whatever its metrics were named.
"""

from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore, Score

from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.runs.logs import FoundLog, scored_samples
from moral_evals.scorers.rubric.scenario_table import GROUPS


def sample_scores(log: EvalLog, scorer: str) -> list[SampleScore]:
    """Every epoch's score with all that it records, and its sample's metadata."""
    return [
        SampleScore(score=s.scores[scorer], sample_id=s.id, sample_metadata=s.metadata)
        for s in scored_samples(log.location)
        if s.scores and scorer in s.scores
    ]


def summary_scores(log: FoundLog, scorer: str) -> list[SampleScore]:
    """The same from the log's summaries: values, reasons and labels; no verdicts, no rubrics.

    Some ten times faster to read.
    """
    found = []
    for s in log.summaries:
        score = (s.scores or {}).get(scorer)
        if score is None:
            continue
        labels = {g: s.metadata[g] for g in GROUPS if isinstance(s.metadata.get(g), str)}
        found.append(
            SampleScore(
                score=Score(value=score.value, reason=score.reason, metadata=score.metadata),
                sample_id=s.id,
                sample_metadata=ScenarioMetadata(**labels).model_dump(),
            )
        )
    return found
