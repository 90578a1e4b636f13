"""Inspect tasks: MoReBench, MoReBench-Theory, CORDA, and the judge's own examination."""

from inspect_tasks.corda import corda
from inspect_tasks.judge_agreement import judge_agreement
from inspect_tasks.morebench import morebench, morebench_theory

__all__ = ["corda", "judge_agreement", "morebench", "morebench_theory"]
