"""Provider `embedded`: a small real language model and a word-overlap judge, both in process.

    inspect eval moral_evals/morebench -T data=sample \
        --model embedded/smollm2-135m --model-role grader=embedded/overlap-judge

Both show that the machinery works. Neither yields results about moral reasoning.
"""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="embedded")
def embedded() -> type[ModelAPI]:
    """Defer the import, since Inspect loads every registry at the start of every command."""
    from moral_evals.providers.embedded_api import EmbeddedAPI

    return EmbeddedAPI
