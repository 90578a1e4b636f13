"""Who judges: the models in role `grader`, or the paper's judge; never the candidate."""

import os
from copy import copy
from logging import getLogger

from inspect_ai.model import GenerateConfig, Model, get_model, model_roles

from loaders.errors import SuiteError, first_line

logger = getLogger(__name__)

ROLE = "grader"
DEFAULT_JUDGE = "openrouter/openai/gpt-oss-120b"

# Inspect retries without end by default; a judge that is down must not hang a run.
_BOUNDS = GenerateConfig(max_retries=7, timeout=1800, attempt_timeout=300)
# The paper's settings for its judge. Other judges keep their provider's defaults: several
# providers reject a temperature outright.
_PAPER = GenerateConfig(temperature=1.0, top_p=1.0, reasoning_effort="high", max_tokens=10_500)


def judge_models() -> list[Model]:
    """The panel: all models in role `grader`, or the default judge alone.

    Raises SuiteError with the exact flags to use if the default judge has no key.
    """
    bound = model_roles().get(ROLE)
    if bound is not None:
        return [_configured(m) for m in (bound if isinstance(bound, list) else [bound])]
    try:
        return [get_model(role=ROLE, default=DEFAULT_JUDGE, config=_settings(DEFAULT_JUDGE))]
    except Exception as error:
        raise SuiteError(
            f"no judge: the default {DEFAULT_JUDGE} cannot be used "
            f"({first_line(error)}). Set OPENROUTER_API_KEY, or name another judge with "
            f"--model-role {ROLE}=PROVIDER/MODEL. Finished replies can be judged later: "
            "inspect score LOG --scorer scorers/rubric_judge.py@rubric_judge "
            f"--model-role {ROLE}=PROVIDER/MODEL."
        ) from error


def warn_without_judge() -> None:
    """Say before the candidate is paid that no judge will be found, if it looks like it.

    Only a warning: roles may still be bound, and a run may leave scoring for later.
    """
    if not model_roles().get(ROLE) and not os.environ.get("OPENROUTER_API_KEY"):
        logger.warning(
            "no judge in sight: set OPENROUTER_API_KEY or bind one with "
            "--model-role %s=PROVIDER/MODEL (fine with --no-score)",
            ROLE,
        )


def judge_names(models: list[Model]) -> list[str]:
    """A distinct name for each judge: a model that sits twice gets a number."""
    names: list[str] = []
    for model in map(str, models):
        times = sum(n == model or n.startswith(f"{model} #") for n in names)
        names.append(f"{model} #{times + 1}" if times else model)
    return names


def _settings(name: str) -> GenerateConfig:
    return _BOUNDS.merge(_PAPER) if "gpt-oss" in name else _BOUNDS


def _configured(model: Model) -> Model:
    # what get_model(role=...) does for the first model of a role, here for all of them
    model = copy(model)
    model.config = _settings(str(model)).merge(model.config)
    return model
