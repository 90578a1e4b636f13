"""Inspect tasks: MoReBench and MoReBench-Theory."""

from inspect_tasks.morebench import morebench, morebench_theory

__all__ = ["morebench", "morebench_theory"]
