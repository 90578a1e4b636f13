"""Reasons not to ask the candidate at all, found when a run starts and told by its first sample."""

from logging import getLogger

from inspect_ai.log._samples import sample_active  # it has no public name
from inspect_ai.model import ModelName

from moral_evals.loaders.errors import SuiteError

logger = getLogger(__name__)

_UNSCORABLE: dict[str, str] = {}
_SAID: set[str] = set()


def cannot_score(eval_id: str, reason: str) -> None:
    """Have every sample of a run end with this line before its first call, if scoring is on."""
    _UNSCORABLE[eval_id] = reason


def check_ready(model: ModelName) -> None:
    """Raise SuiteError before the first call if the run can give no score.

    The line is logged once; the samples carry it as their error.
    """
    active = sample_active()
    eval_id = (active.eval_id if active else None) or ""
    reason = _UNSCORABLE.get(eval_id, "") if _scores(eval_id) else ""
    if str(model) == "none/none":
        reason = "no candidate: name one with --model PROVIDER/MODEL."
    if not reason:
        return
    if eval_id not in _SAID:
        _SAID.add(eval_id)
        logger.error(reason)
    raise SuiteError(reason)


def _scores(eval_id: str) -> bool:
    """Whether the run scores its samples: no public name says so, and --no-score must pass."""
    try:
        from inspect_ai._control.eval_state import get_eval_state
    except ImportError:  # another version of Inspect: better a late error than a wrong one
        return False
    state = get_eval_state(eval_id)
    return bool(state and state.task_scoring and state.task_scoring.scorers)
