"""Names that Inspect finds through the package's `inspect_ai` entry point.

Imported at the start of every Inspect command on a machine with this package, so providers come
in only when one of their models is asked for.
"""

from inspect_tasks.morebench import morebench, morebench_theory
from providers.embedded import embedded
from scorers.outcome import outcome
from scorers.rubric_judge import rubric_judge, rubric_judge_response
from solvers.elicit import elicit_reasoning

__all__ = [
    "elicit_reasoning",
    "embedded",
    "morebench",
    "morebench_theory",
    "outcome",
    "rubric_judge",
    "rubric_judge_response",
]
