"""One line, as soon as it is known, if nothing that a judge says can be read."""

from logging import getLogger

from moral_evals.loaders.values import short
from moral_evals.scorers.judging.panel import Ballot

logger = getLogger(__name__)

_LEAST = 2  # criteria of a text: a single unread reply says little about a judge
_WARNED: set[tuple[str, float]] = set()


def warn_if_all_unread(ballot: Ballot, criteria: int, since: float) -> None:
    """Warn once a run if a judge was heard on every criterion of a text and read on none.

    Args:
        ballot: What the judge said of one text.
        criteria: How many it was asked about.
        since: When the scorer of this run was made, which tells runs apart.
    """
    seen = (ballot.judge, since)
    if criteria < _LEAST or len(ballot.unread) < criteria or seen in _WARNED:
        return
    _WARNED.add(seen)
    said = [text for text in ballot.unread.values() if text.strip()]
    quoted = " and ".join(short(text) for text in list(dict.fromkeys(said))[:2]) or "nothing"
    logger.warning(
        "judge %s: none of its replies on the %d criteria of a text could be read as yes or no; it "
        "said %s. A judge prompt of your own (-T judge_prompt=FILE) names the words that it asks "
        "for.",
        ballot.judge,
        criteria,
        quoted,
    )
