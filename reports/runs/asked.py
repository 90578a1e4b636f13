"""What the candidate was asked, and who served it: from the plan that Inspect ran."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from inspect_ai.log import EvalLog

from moral_evals.loaders.service import served

# arguments of the suite's own solvers that no other condition tells, with their defaults
_OWN: dict[str, dict[str, Any]] = {
    "elicit_reasoning": {},
    "answer_chain": {"reminders": 1, "agent": None},
}
# whose answers these are is no condition under which they were given
_WHOSE = {"answers_from_file": ("file", "answers_are")}
_SHOWN = 120


def solver_text(log: EvalLog) -> str:
    """The solvers of a run with their arguments, tools among them; empty if not recorded."""
    return " + ".join(_step(s.solver, s.params or {}) for s in log.plan.steps)


def own_params(log: EvalLog) -> dict[str, Any] | None:
    """Arguments of the suite's own solver; None if the run had another.

    Empty for a log that records no solver.
    """
    steps = log.plan.steps
    found = [s.params or {} for s in steps if _own(s.solver)]
    return found[-1] if found else None if steps else {}


def provider_text(log: EvalLog) -> str:
    """The candidate with its model arguments and base URL."""
    name = log.eval.model
    facts = served(name, log.eval.model_args or {}, log.eval.model_base_url)
    return f"{name} ({', '.join(facts)})" if facts else name


def _own(solver: str) -> str:
    package, _, name = solver.rpartition("/")
    return name if name in _OWN and package in ("", "moral_evals", "solvers") else ""


def _step(solver: str, params: Mapping[str, Any]) -> str:
    if name := _own(solver):
        shown = {k: params[k] for k, v in _OWN[name].items() if params.get(k, v) != v}
        return _call(name, shown)
    whose = _WHOSE.get(solver.rpartition("/")[2], ())
    # what an agent leaves open says nothing
    told = {k: v for k, v in params.items() if v not in (None, [], {}) and k not in whose}
    return _call(solver, told)


def _call(name: str, params: Mapping[str, Any]) -> str:
    text = ", ".join(f"{k}={_plain(v)}" for k, v in params.items())
    if len(text) > _SHOWN:
        # two long prompts may differ in a word at their ends
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        text = f"{' '.join(text[:_SHOWN].split())}... {digest}"
    return f"{name}({text})" if text else name


def _plain(value: Any) -> str:
    """An argument in words; solvers and tools, which Inspect records with a type, by name."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    if isinstance(value, dict) and {"type", "name", "params"} <= value.keys():
        return _call(str(value["name"]), value["params"] or {})
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
