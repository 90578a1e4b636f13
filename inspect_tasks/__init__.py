"""Inspect tasks: MoReBench, MoReBench-Theory and CORDA."""

from inspect_tasks.corda import corda
from inspect_tasks.morebench import morebench, morebench_theory

__all__ = ["corda", "morebench", "morebench_theory"]
