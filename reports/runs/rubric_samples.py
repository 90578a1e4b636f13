"""Samples of finished rubric runs with their scores, read one by one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score

from moral_evals.loaders.errors import OptionError, SuiteError, listing
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.loaders.reply import Reply
from moral_evals.reports.runs.logs import samples_of
from moral_evals.reports.runs.rubric_runs import prefix_of, rubric_scores
from moral_evals.scorers.rubric.judged_text import reply_for
from moral_evals.scorers.rubric.record import CriterionRow, RubricRecord, score_values


@dataclass(frozen=True)
class RubricSample:
    """One reply of a run, and one score of it.

    Attributes:
        sample: From the log, with its texts in place.
        scorer: Name of the score in the log.
        score: None if the sample was lost before it was scored.
    """

    sample: EvalSample
    scorer: str
    score: Score | None
    api: str

    @property
    def metadata(self) -> ScenarioMetadata:
        """Labels and rubric."""
        return self.sample.metadata_as(ScenarioMetadata)

    @property
    def reply(self) -> Reply:
        """The reply, taken apart; its trace is of all turns unless the last alone was judged."""
        judged = self.record.judged if self.score else "trace"
        return reply_for(judged, self.sample.messages, self.sample.output, self.api)

    def value(self, key: str) -> float:
        """A number of the score; nan if it was not measured."""
        values = score_values(self.score) if self.score else {}
        return values.get(prefix_of(self.scorer) + key, math.nan)

    @property
    def scored(self) -> bool:
        """Whether there is a score with a number."""
        return math.isfinite(self.value("score"))

    @cached_property
    def record(self) -> RubricRecord:
        """What the score records. Raises SuiteError if there is no score."""
        if self.score is None:
            raise SuiteError(f"sample {self.sample.id}: no score {self.scorer!r}.")
        return RubricRecord.of(self.score)

    @property
    def rows(self) -> list[CriterionRow]:
        """The rubric with its verdicts; empty if nothing was judged."""
        return self.record.rows(self.metadata.criteria) if self.score else []


def rubric_scorers(log: EvalLog) -> list[str]:
    """Names of the rubric scores in a log."""
    return list(dict.fromkeys(s.scorer for s in rubric_scores(log)))


def one_scorer(log: EvalLog, asked: str | None) -> str:
    """The rubric score asked for, or the only one.

    Raises SuiteError if there is none, OptionError with the names if there are others.
    """
    found = rubric_scorers(log)
    if not found:
        raise SuiteError(f"{log.location}: no rubric score in this log (status {log.status}).")
    if asked is None and len(found) == 1:
        return found[0]
    if asked in found:
        return asked
    problem = "say --scorer" if asked is None else f"--scorer {asked}: not in the log"
    raise OptionError(f"{log.location}: {problem}; its rubric scores are {listing(found)}.")


def rubric_samples(name: str, log: EvalLog, scorers: list[str]) -> Iterator[RubricSample]:
    """Every sample of a log once for each of some scores.

    Args:
        name: The log's place.
        log: Its header.
        scorers: Names of scores.
    """
    api = log.eval.model.partition("/")[0]
    for sample in samples_of(name):
        for scorer in scorers:
            yield RubricSample(sample, scorer, (sample.scores or {}).get(scorer), api)
