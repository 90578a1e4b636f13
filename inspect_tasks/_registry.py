"""Names that Inspect finds through the package's `inspect_ai` entry point.

Imported at the start of every Inspect command on a machine with this package, so providers come
in only when one of their models is asked for.
"""

from inspect_tasks.corda import corda
from inspect_tasks.judge_agreement import judge_agreement, no_candidate
from inspect_tasks.morebench import morebench, morebench_theory
from providers.embedded import embedded
from providers.scripted import scripted
from scorers.judge_agreement import judge_labels, judge_under_attack
from scorers.lexicographic_score import lexicographic
from scorers.outcome import outcome
from scorers.rubric_judge import rubric_judge, rubric_judge_response
from solvers.chain import answer_chain
from solvers.elicit import elicit_reasoning

__all__ = [
    "answer_chain",
    "corda",
    "elicit_reasoning",
    "embedded",
    "judge_agreement",
    "judge_labels",
    "judge_under_attack",
    "lexicographic",
    "morebench",
    "morebench_theory",
    "no_candidate",
    "outcome",
    "rubric_judge",
    "rubric_judge_response",
    "scripted",
]
