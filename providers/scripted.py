"""Provider `scripted`: responders with a known rule, to check CORDA runs from end to end.

inspect eval moral_evals/corda --model scripted/first-position
"""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    """Defer the import, since Inspect loads every registry at the start of every command."""
    from moral_evals.providers.scripted_api import ScriptedAPI

    return ScriptedAPI
