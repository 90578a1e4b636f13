"""Reasons not to ask the candidate at all, found when a run starts and told by its first sample."""

from inspect_ai.log._samples import sample_active  # it has no public name
from inspect_ai.model import ModelName

from moral_evals.loaders.errors import SuiteError

_REFUSED: dict[str, str] = {}


def refuse_run(eval_id: str, reason: str) -> None:
    """Have every sample of a run end with this one line before the candidate is called."""
    _REFUSED[eval_id] = reason


def check_ready(model: ModelName) -> None:
    """Raise SuiteError before the first call if the run can give no score."""
    if str(model) == "none/none":
        raise SuiteError("no candidate: name one with --model PROVIDER/MODEL.")
    active = sample_active()
    reason = _REFUSED.get(active.eval_id or "") if active else None
    if reason:
        raise SuiteError(reason)
