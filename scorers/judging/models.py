"""Who judges: the models in role `grader`, or the paper's judge; never the candidate."""

import os
from copy import copy

from inspect_ai.model import GenerateConfig, Model, get_model, model_roles

from moral_evals.loaders.errors import OptionError, SuiteError, first_line
from moral_evals.loaders.values import distinct
from moral_evals.scorers.judging.options import ROLE

DEFAULT_JUDGE = "openrouter/openai/gpt-oss-120b"

# Inspect retries without end by default; a judge that is down must not hang a run.
_BOUNDS = GenerateConfig(max_retries=7, timeout=1800, attempt_timeout=300)
# A batch may take a day; given up sooner, it would be sent and billed again.
_BATCH_BOUNDS = GenerateConfig(max_retries=7, timeout=180_000, attempt_timeout=90_000)
# The paper's settings for its judge. Other judges keep their provider's defaults: several
# providers reject a temperature outright.
_PAPER = GenerateConfig(temperature=1.0, top_p=1.0, reasoning_effort="high", max_tokens=10_500)


def judge_models(judges: str | list[str] = ROLE) -> list[Model]:
    """The panel: all models of the roles named, and the models named.

    Role `grader` has the paper's judge if nothing is bound to it.

    Raises SuiteError with the exact flags to use if a judge cannot be had.
    """
    return [model for name in _names(judges) for model in _models(name)]


def _names(judges: str | list[str]) -> list[str]:
    return [judges] if isinstance(judges, str) else judges


def _models(name: str) -> list[Model]:
    bound = model_roles().get(name)
    if bound is not None:
        return [_configured(m) for m in (bound if isinstance(bound, list) else [bound])]
    if name == ROLE:
        return [_default_judge()]
    if "/" not in name:
        roles = ", ".join([ROLE, *model_roles()])
        raise OptionError(
            f"-T judges={name!r}: neither a role of this run ({roles}) nor a model "
            f"(PROVIDER/MODEL). Bind a role with --model-role {name}=PROVIDER/MODEL."
        )
    # a role of its own, so that its tokens are not counted as the candidate's
    return [get_model(role=f"{ROLE} {name}", default=name, config=_settings(name))]


def _default_judge() -> Model:
    try:
        return get_model(role=ROLE, default=DEFAULT_JUDGE, config=_settings(DEFAULT_JUDGE))
    except Exception as error:
        raise SuiteError(
            f"no judge: the default {DEFAULT_JUDGE} cannot be used "
            f"({first_line(error)}). Set OPENROUTER_API_KEY, or name another judge with "
            f"--model-role {ROLE}=PROVIDER/MODEL. Finished replies can be judged later: "
            "inspect score LOG --scorer moral_evals/rubric_judge "
            f"--model-role {ROLE}=PROVIDER/MODEL."
        ) from error


def named_judges(judges: str | list[str] = ROLE) -> tuple[str, ...]:
    """Names of the panel, without making a model of any."""
    bound = {role: m if isinstance(m, list) else [m] for role, m in model_roles().items()}
    found: list[str] = []
    for name in _names(judges):
        if name in bound:
            found += map(str, bound[name])
        else:
            found.append(DEFAULT_JUDGE if name == ROLE else name)
    return tuple(found)


def missing_judge(judges: str | list[str] = ROLE) -> str:
    """Why no judge can be had, as one line; empty if one can. To be asked once roles are bound."""
    if ROLE not in _names(judges) or model_roles().get(ROLE):
        return ""
    if os.environ.get("OPENROUTER_API_KEY"):
        return ""
    return (
        "no judge: set OPENROUTER_API_KEY or bind one with "
        f"--model-role {ROLE}=PROVIDER/MODEL (or judge later: --no-score)"
    )


def judge_names(models: list[Model]) -> list[str]:
    """A distinct name for each judge: a model that sits twice gets a number."""
    return distinct([str(model) for model in models], "{name} #{n}")


def model_of(judge: str) -> str:
    """The model behind a name from `judge_names`."""
    return judge.partition(" #")[0]


def judge_max_tokens(name: str) -> int | None:
    """Tokens that a judge of this name may write in a call, unless its role says otherwise.

    None leaves it to the provider.
    """
    return _settings(name).max_tokens


def _settings(name: str) -> GenerateConfig:
    return _BOUNDS.merge(_PAPER) if "gpt-oss" in name else _BOUNDS


def _configured(model: Model) -> Model:
    # what get_model(role=...) does for the first model of a role, here for all of them
    model = copy(model)
    bounds = _BATCH_BOUNDS if model.config.batch else GenerateConfig()
    model.config = _settings(str(model)).merge(bounds).merge(model.config)
    return model
