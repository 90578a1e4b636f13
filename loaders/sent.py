"""Which prompts were sent: said by the solver that sends them, in the sample's store.

A task that is built does not know whether its solver will be replaced.
"""

from inspect_ai.util import Store

_KEY = "moral_evals_prompts_sha256"


def note_prompts(store: Store, sha256: str) -> None:
    """Have a sample say which of the suite's prompts it was asked with."""
    store.set(_KEY, sha256)


def prompts_sent(store: Store) -> str:
    """Hash of the suite's prompts that a sample was asked with; empty if it was not."""
    return str(store.get(_KEY, ""))
