"""The matrix of examples/eval_set.py as an `inspect-flow` specification (docs/at-scale.md).

flow run examples/flow.py --dry-run
flow run examples/flow.py -A models=openai/gpt-5,openai/gpt-5-mini --log-dir logs/flow1
"""

from inspect_ai.model import GenerateConfig
from inspect_flow import FlowDefaults, FlowOptions, FlowSpec, FlowTask, tasks_matrix

MODELS = ["openrouter/deepseek/deepseek-r1", "anthropic/claude-sonnet-4-5"]


def spec(
    models: str | list[str] = MODELS,
    grader: str = "openrouter/openai/gpt-oss-120b",
    data: str = "hub",
) -> FlowSpec:
    """The specification; `-A NAME=VALUE` sets a parameter."""
    rubric = {"args": {"data": data, "judged": "both"}, "model_roles": {"grader": grader}}
    return FlowSpec(
        log_dir="../logs/flow",  # counted from this file's folder
        tasks=tasks_matrix(
            task=[
                FlowTask(name="moral_evals/morebench", **rubric),
                FlowTask(name="moral_evals/morebench_theory", **rubric),
                FlowTask(name="moral_evals/corda", args={"conditions": "unconditioned,own"}),
            ],
            model=[models] if isinstance(models, str) else models,
        ),
        defaults=FlowDefaults(config=GenerateConfig(reasoning_effort="medium")),
        options=FlowOptions(retry_attempts=5, retry_on_error=1),
    )
