"""Which prompts were sent: said by the solver that sends them, in the sample's store.

A task that is built does not know whether its solver will be replaced.
"""

from inspect_ai.util import Store

_KEY = "moral_evals_prompts_sha256"
_NAME = "moral_evals_prompt"


def note_prompts(store: Store, sha256: str, own: str = "") -> None:
    """Have a sample say which prompts our solver sent it; `own` names a user's own prompt."""
    store.set(_KEY, sha256)
    if own:
        store.set(_NAME, own)


def prompts_sent(store: Store) -> str:
    """Hash of the prompts that our solver sent a sample; empty if another solver asked."""
    return str(store.get(_KEY, ""))


def own_prompt_sent(store: Store) -> str:
    """Name of the user's own prompt that our solver sent; empty for the suite's."""
    return str(store.get(_NAME, ""))
