"""Names that Inspect finds through the package's `inspect_ai` entry point.

Imported at the start of every Inspect command on a machine with this package, so providers come
in only when one of their models is asked for.
"""

from moral_evals.inspect_tasks.corda import corda
from moral_evals.inspect_tasks.judge_agreement import judge_agreement, no_candidate
from moral_evals.inspect_tasks.morebench import morebench, morebench_theory
from moral_evals.providers.embedded import embedded
from moral_evals.providers.people import answers, person
from moral_evals.providers.scripted import scripted
from moral_evals.scorers.bare_names import register
from moral_evals.scorers.judge_agreement import judge_labels, judge_under_attack
from moral_evals.scorers.lexicographic import lexicographic
from moral_evals.scorers.outcome import outcome
from moral_evals.scorers.rubric_judge import rubric_judge, rubric_judge_response
from moral_evals.solvers.chain import answer_chain
from moral_evals.solvers.elicit import elicit_reasoning
from moral_evals.solvers.from_file import answers_from_file

register()

__all__ = [
    "answer_chain",
    "answers",
    "answers_from_file",
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
    "person",
    "rubric_judge",
    "rubric_judge_response",
    "scripted",
]
