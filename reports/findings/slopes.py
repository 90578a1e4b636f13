"""Slopes over model size with the models fixed, as statistics over scenarios.

`scores` and `lengths` are arrays of shape (models, scenarios) without nan; `x` is log10 of each
model's size, so that a slope reads "per tenfold size". The least-squares slope of any y on x is
`w @ y` with fixed weights w, so a slope of means is a mean of scenario-wise slopes, and resampling
scenarios gives its interval. That interval says what other scenarios would have shown of these
same models; it says nothing of other models of the family, of which three or four are no sample.
"""

import numpy as np

from moral_evals.scorers.stats.bootstrap import Array, Statistic, ratio

REFERENCE_LENGTH = 1000
_TINY = 1e-9


def slope_weights(x: Array) -> Array:
    """w with `w @ y` the least-squares slope of y on x; x must not be constant."""
    centred = x - x.mean()
    return np.asarray(centred / (centred @ centred), dtype=float)


def mean_slope(values: Array, x: Array, span: float = np.inf) -> Statistic:
    """Slope of the mean over scenarios; `span` is the range of a single value, if it has one."""
    weights = slope_weights(x)
    # weights sum to 0: the steepest line has the highest values on the positive ones
    reach = span * float(np.sum(np.maximum(weights, 0)))
    return ratio(weights @ values, bounds=(-reach, reach))


def hard_slope(scores: Array, lengths: Array, x: Array) -> Statistic:
    """Slope of MoReBench-Hard, which is a ratio of means for each model."""
    weights, models = slope_weights(x), len(x)

    def combine(sums: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return REFERENCE_LENGTH * (sums[..., :models] / sums[..., models:]) @ weights

    # the steepest slope that scores in [0, 1] allow at the lengths seen
    most = REFERENCE_LENGTH / lengths.mean(axis=1) if lengths.size else np.full(models, np.inf)
    reach = (float(np.minimum(weights, 0) @ most), float(np.maximum(weights, 0) @ most))
    columns = np.concatenate([scores, lengths]).T
    return Statistic(columns, combine, possible=reach)


def length_effect(scores: Array, lengths: Array) -> Statistic:
    """Score for tenfold length (g), from how far a model's text is longer than is usual for it.

    The least-squares slope of score on log10 length after both have lost their scenario means
    and their model means: a scenario that draws long texts from all and a model that is wordy or
    good throughout do not count. nan where no model's length varies apart from that.
    """
    columns, models = _two_way(scores, lengths), len(scores)
    return Statistic(columns, lambda sums: _effect(sums, models))


def adjusted_slope(scores: Array, lengths: Array, x: Array) -> Statistic:
    """Slope of Regular at equal length: the slope of (score - g * log10 length), g as above.

    A decomposition: slope of Regular = g * slope of log10 length + this. Its limits: g is a
    correlation and not what padding a text would do; where more thought takes more words, part of
    what is taken away is merit; g is measured within models and carried over to differences
    between models, which are often larger; and one g serves all models of the family.
    """
    columns, models, weights = _two_way(scores, lengths), len(scores), slope_weights(x)

    def combine(sums: Array) -> Array:
        count = sums[..., :1]
        logs, points = sums[..., 1 : 1 + models], sums[..., 1 + models : 1 + 2 * models]
        with np.errstate(divide="ignore", invalid="ignore"):
            return (points / count) @ weights - _effect(sums, models) * ((logs / count) @ weights)

    return Statistic(columns, combine)


def _two_way(scores: Array, lengths: Array) -> Array:
    """Columns 1, d log length by model, d score by model, sum (d log)^2, sum d log d score.

    d is the deviation from the scenario's mean over models; the model means are taken away in
    `_effect`, since a resample has means of its own.
    """
    logs = np.log10(lengths)
    d_logs, d_scores = logs - logs.mean(axis=0), scores - scores.mean(axis=0)
    products = np.stack([(d_logs**2).sum(axis=0), (d_logs * d_scores).sum(axis=0)])
    ones = np.ones((1, scores.shape[1]))
    return np.asarray(np.concatenate([ones, d_logs, d_scores, products]).T, dtype=float)


def _effect(sums: Array, models: int) -> Array:
    count = sums[..., 0]
    logs, points = sums[..., 1 : 1 + models], sums[..., 1 + models : 1 + 2 * models]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = sums[..., -2] - (logs**2).sum(axis=-1) / count
        shared = sums[..., -1] - (logs * points).sum(axis=-1) / count
        return np.where(spread > _TINY * sums[..., -2], shared / spread, np.nan)
