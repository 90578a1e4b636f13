"""A log's header against its samples: an interrupted run may have scored more than it says."""

import math
from collections.abc import Iterator
from statistics import fmean

from inspect_ai.log import EvalLog, EvalScore, recompute_metrics

from moral_evals.loaders.errors import first_line
from moral_evals.reports.runs.logs import (
    FoundLog,
    is_rubric,
    scores_of,
    suite_scores,
    with_samples,
)
from moral_evals.scorers.rubric.metrics import RESPONSE_PREFIX
from moral_evals.scorers.rubric.record import exact_values

_ROUNDING = 1e-9


def checked(log: FoundLog, figures: bool) -> tuple[FoundLog, list[str]]:
    """The log, its figures computed from its samples where the header disagrees with them.

    Args:
        log: A log with a score of this suite.
        figures: Whether the report uses the header's figures of rubric scores; only then are the
            samples of a log that disagrees read in full.

    Returns:
        The log, and a line for each score whose header disagrees.

    Raises:
        UnreadableLog: The samples cannot be read.
    """
    found = list(_differences(log))
    if not found:
        return log, []
    done = "figures are computed from the samples"
    if not figures and all(is_rubric(score) for score in suite_scores(log.header)):
        return log, [f"{log.name}: {text}; {done}." for text in found]
    try:
        log = FoundLog(_recomputed(log), log.named)
    # what the metrics of another version raise is anything
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        done = f"figures are the header's, since computing them anew failed ({first_line(error)})"
    else:
        if any(_differences(log)):
            done = "figures are the header's where its metrics are not at hand"
    return log, [f"{log.name}: {text}; {done}." for text in found]


def _differences(log: FoundLog) -> Iterator[str]:
    for score in suite_scores(log.header):
        said, held = _said(score), _held(log, score)
        # an epochs reducer leaves one score a sample
        if said is not None and said not in (len(held), len(set(held))):
            yield f"the header counts {said} scored by {score.scorer}, the file holds {len(held)}"
        elif is_rubric(score) and (gap := _gap(log, score)) > _ROUNDING:
            yield f"the header's {score.scorer} is {gap:.3g} off the mean of the file's scores"


def _said(score: EvalScore) -> int | None:
    """Scored samples, epochs counted apart, by the header; None in a log of an older version."""
    if is_rubric(score):
        # Inspect's own count holds those that the suite gave no number
        return round(score.metrics["scored"].value) if "scored" in score.metrics else None
    if score.scored_samples is None:
        return None
    return score.scored_samples + (score.unscored_samples or 0)


def _held(log: FoundLog, score: EvalScore) -> list[str]:
    """The same by the samples: an id for each."""
    if is_rubric(score):
        return [i for i, numbers in _numbers(log, score).items() for _ in numbers]
    return [str(s.id) for s in log.summaries if score.scorer in (s.scores or {})]


def _gap(log: FoundLog, score: EvalScore) -> float:
    means = [fmean(found) for found in _numbers(log, score).values()]
    gap = abs(score.metrics["regular"].value - fmean(means)) if means else 0.0
    return 0.0 if math.isnan(gap) else gap


def _numbers(log: FoundLog, score: EvalScore) -> dict[str, list[float]]:
    """By sample id the finite scores of its epochs."""
    found: dict[str, list[float]] = {}
    for sample in log.summaries:
        held = (sample.scores or {}).get(score.scorer)
        values = exact_values(held) if held is not None else {}
        number = values.get("score", values.get(RESPONSE_PREFIX + "score", math.nan))
        if math.isfinite(number):
            found.setdefault(str(sample.id), []).append(number)
    return found


def _recomputed(log: FoundLog) -> EvalLog:
    """The header with results from the samples."""
    whole = with_samples(log.location)
    recompute_metrics(whole)
    old, new = log.header.results, whole.results
    if old is not None and new is not None:
        # a score that was added later may come back without its metrics
        made = {
            (s.scorer, s.name): s for s in new.scores if set(s.metrics) - {"accuracy", "stderr"}
        }
        new.scores = [made.get((s.scorer, s.name), s) for s in scores_of(log.header)]
        # recomputing takes the samples in the file for all that there should be
        new.total_samples = max(old.total_samples, new.total_samples)
    return whole.model_copy(update={"samples": None})
