"""Inspect tasks: MoReBench, MoReBench-Theory, CORDA, and the judge's own examination."""

from moral_evals.inspect_tasks.corda import corda
from moral_evals.inspect_tasks.judge_agreement import judge_agreement
from moral_evals.inspect_tasks.morebench import morebench, morebench_theory

__all__ = ["corda", "judge_agreement", "morebench", "morebench_theory"]
