"""Providers `answers` and `person`: candidates that are no models, under names of their own.

inspect eval moral_evals/corda --model person/anna
inspect eval moral_evals/corda --model answers/anna --solver moral_evals/answers_from_file \\
    -S file=anna.csv
"""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="answers")
def answers() -> type[ModelAPI]:
    """A name for answers from a file."""
    from moral_evals.providers.people_api import AnswersAPI

    return AnswersAPI


@modelapi(name="person")
def person() -> type[ModelAPI]:
    """Someone at the terminal."""
    from moral_evals.providers.people_api import PersonAPI

    return PersonAPI
