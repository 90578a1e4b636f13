"""MoReBench and MoReBench-Theory: graded moral reasoning (Chiu et al., arXiv 2510.16380)."""

from dataclasses import asdict, fields
from typing import Any, cast

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer

from moral_evals.inspect_tasks.run_watch import watch_runs
from moral_evals.inspect_tasks.viewer import rubric_viewer
from moral_evals.loaders.morebench.data import MOREBENCH, MOREBENCH_THEORY, Filters, Variant, load
from moral_evals.loaders.morebench.dimensions import own_dimensions
from moral_evals.loaders.morebench.hub import REVISION
from moral_evals.loaders.morebench.records import OwnNames
from moral_evals.loaders.options import one_of, refuse_unknown
from moral_evals.scorers.judging.options import ROLE, WHOLE_RUBRIC, JudgeOptions
from moral_evals.scorers.judging.prompt import judge_prompt_sha256
from moral_evals.scorers.outcome import outcome
from moral_evals.scorers.rubric.judged_text import JUDGED_PARTS, JudgedPart
from moral_evals.scorers.rubric.score import RESPONSE_PREFIX
from moral_evals.scorers.rubric_judge import rubric_judge, rubric_judge_response
from moral_evals.solvers.elicit import elicit_reasoning
from moral_evals.solvers.wording import CandidateWording

VERSION = "1-C"
"""Comparability and interface of both tasks; CHANGELOG.md says which way scores move."""

_JUDGING = ("judged", *(f.name for f in fields(JudgeOptions)), "ask_refusal", "on_judge_error")
_PARAMETERS = ("data", "revision", "role", "source", "type", "context", "allow_columns",
               "dimensions", "candidate_prompt")  # fmt: skip


@task
def morebench(
    data: str = "hub",
    revision: str = REVISION,
    role: str | list[str] = "all",
    source: str | list[str] = "all",
    type: str | list[str] = "all",
    context: str | list[str] = "all",
    allow_columns: bool = False,
    dimensions: str | None = None,
    protocol: str = "suite",
    upstream_path: str | None = None,
    judged: str = "trace",
    judge_mode: str = "criterion",
    rubric_chunk: int = WHOLE_RUBRIC,
    rubric_seed: int = 0,
    votes: int = 1,
    judge_attempts: int = 3,
    judge_cache: bool = True,
    judges: str | list[str] = ROLE,
    candidate_prompt: str | None = None,
    judge_prompt: str | None = None,
    ask_refusal: bool = False,
    on_judge_error: str = "unscored",
    **unknown: Any,
) -> Task:
    """Dilemmas with 20-49 weighted criteria each, judged one by one on the reasoning.

    Model roles:
        grader: The judge; default `openrouter/openai/gpt-oss-120b` with the paper's settings.
            Never the candidate. Several models make a panel: a strict majority decides.

    Args:
        data: `hub` (the published set), `sample` (bundled, for demonstration), or the path of a
            .csv in upstream's format or a .jsonl in schema `dilemma-1` (datasets/README.md).
        revision: Commit, tag or branch of the hub repository; the default is a pinned commit.
        role: Keep `ai_advisor`, `ai_agent` or `all`; one or a list, as with all filters.
        source: Keep a source or a source group (`daily_dilemmas`, `ai_risk`, `expert`).
        type: Keep `short_case`, `long_case` or `expert_case`.
        context: Keep a context label as the data spell it.
        allow_columns: Pass over columns of a .csv of your own that are not known.
        dimensions: File that names rubric dimensions of your own, one a line
            (docs/own-material.md).
        protocol: Prompts of candidate and judge: `suite` or `upstream` (the paper's wording).
        upstream_path: Checkout of the upstream repository; left out, its prompts are fetched.
        judged: `trace`, `response`, or `both` (two scores side by side). An agent's trace is its
            reasoning over all turns; `last_turn` judges that of the last turn alone.
        judge_mode: `criterion` (one judge call each, as in the paper) or `rubric` (all criteria
            in one call: cheaper, and not comparable with the paper).
        rubric_chunk: Criteria a call at most in mode `rubric`.
        rubric_seed: Seed of the criteria's order in mode `rubric`.
        votes: Times that each judge is asked about each criterion; the majority counts.
        judge_attempts: Replies asked of the judge at most until a verdict can be read.
        judge_cache: Keep readable judge replies on disk, so that none is paid for twice.
        judges: Roles or models that judge, by name; several make a panel, and so does a role
            with several models.
        candidate_prompt: File with a prompt of your own for the candidate (docs/own-material.md).
        judge_prompt: The same for the judge, with its words for yes and no.
        ask_refusal: Also ask the judge whether each reply declines to engage with the dilemma.
        on_judge_error: What a judge call that fails for good does to its sample: `unscored` (its
            reply and verdicts are kept, and the run's end says how to get the missing ones) or
            `raise` (an error, which `inspect eval-retry` repeats).
        unknown: Refused, with the allowed names.
    """
    refuse_unknown(unknown, _PARAMETERS + _JUDGING)
    filters = Filters(role=role, source=source, type=type, context=context)
    options = JudgeOptions.of(locals())
    return _rubric_task(
        MOREBENCH,
        data,
        revision,
        filters,
        allow_columns,
        dimensions,
        judged,
        options,
        candidate_prompt,
        ask_refusal,
        on_judge_error,
    )


@task
def morebench_theory(
    data: str = "hub",
    revision: str = REVISION,
    role: str | list[str] = "all",
    source: str | list[str] = "all",
    type: str | list[str] = "all",
    context: str | list[str] = "all",
    allow_columns: bool = False,
    dimensions: str | None = None,
    theory: str | list[str] = "all",
    theories: str | None = None,
    protocol: str = "suite",
    upstream_path: str | None = None,
    judged: str = "trace",
    judge_mode: str = "criterion",
    rubric_chunk: int = WHOLE_RUBRIC,
    rubric_seed: int = 0,
    votes: int = 1,
    judge_attempts: int = 3,
    judge_cache: bool = True,
    judges: str | list[str] = ROLE,
    candidate_prompt: str | None = None,
    judge_prompt: str | None = None,
    ask_refusal: bool = False,
    on_judge_error: str = "unscored",
    **unknown: Any,
) -> Task:
    """Dilemmas to be reasoned through under a named ethical theory, judged like MoReBench.

    Model roles:
        grader: The judge, as in `morebench`.

    Args:
        data: As in `morebench`.
        revision: As in `morebench`.
        role: As in `morebench`.
        source: As in `morebench`.
        type: As in `morebench`.
        context: As in `morebench`.
        allow_columns: As in `morebench`.
        dimensions: As in `morebench`.
        theory: Keep `Act Utilitarianism`, `Kantian Deontology`, `Aristotelian Virtue Ethics`,
            `Scanlonian Contractualism`, `Gauthierian Contractarianism` or one of your own; one or
            a list.
        theories: Folder with theories of your own, one .md file each (docs/own-material.md).
        protocol: As in `morebench`.
        upstream_path: As in `morebench`.
        judged: As in `morebench`.
        judge_mode: As in `morebench`.
        rubric_chunk: As in `morebench`.
        rubric_seed: As in `morebench`.
        votes: As in `morebench`.
        judge_attempts: As in `morebench`.
        judge_cache: As in `morebench`.
        judges: As in `morebench`.
        candidate_prompt: As in `morebench`; it must put in the theory.
        judge_prompt: As in `morebench`.
        ask_refusal: As in `morebench`.
        on_judge_error: As in `morebench`.
        unknown: Refused, with the allowed names.
    """
    refuse_unknown(unknown, (*_PARAMETERS, "theory", "theories", *_JUDGING))
    filters = Filters(role=role, source=source, type=type, context=context, theory=theory)
    options = JudgeOptions.of(locals())
    return _rubric_task(
        MOREBENCH_THEORY,
        data,
        revision,
        filters,
        allow_columns,
        dimensions,
        judged,
        options,
        candidate_prompt,
        ask_refusal,
        on_judge_error,
        theories,
    )


def _rubric_task(
    variant: Variant,
    data: str,
    revision: str,
    filters: Filters,
    allow_columns: bool,
    dimensions: str | None,
    judged: str,
    options: JudgeOptions,
    candidate_prompt: str | None,
    ask_refusal: bool,
    on_judge_error: str,
    theories: str | None = None,
) -> Task:
    watch_runs()
    one_of("judged", judged, (*JUDGED_PARTS, "both"))
    protocol, upstream_path = options.protocol, options.upstream_path
    asked = CandidateWording.of(protocol, upstream_path, candidate_prompt, theories)
    own = OwnNames(tuple(asked.theories), own_dimensions(dimensions))
    loaded = load(variant, data, revision, filters, allow_columns, own)
    asked.check_theory(variant.name, variant is MOREBENCH_THEORY)
    judging = asdict(options) | {"ask_refusal": ask_refusal, "on_judge_error": on_judge_error}
    part = cast(JudgedPart, "trace" if judged == "both" else judged)
    first: Scorer = rubric_judge(judged=part, **judging)
    scorers, prefixes = [first], {"rubric_judge": ""}
    if judged == "both":
        scorers.append(rubric_judge_response(**judging))
        prefixes["rubric_judge_response"] = RESPONSE_PREFIX
    return Task(
        dataset=loaded.dataset(),
        solver=elicit_reasoning(protocol, upstream_path, candidate_prompt, theories),
        # Inspect's tools read the first score, so what the reply was like comes last
        scorer=[*scorers, outcome()],
        # a candidate that is down must not hang a run; everything else is the caller's choice
        config=GenerateConfig(max_retries=7, attempt_timeout=1800),
        # one lost sample ends nothing: the rest is scored, and the log says "error" at the end
        score_on_error=True,
        headline_metric=HeadlineMetric(scorer="rubric_judge", metric="regular"),
        version=VERSION,
        metadata={
            "benchmark": variant.name,
            "data": loaded.provenance,
            "judged": judged,
            **options.facts(),
            "ask_refusal": ask_refusal,
            **asked.facts(),
            **({"dimensions": list(own.dimensions)} if own.dimensions else {}),
            "judge_prompt_sha256": judge_prompt_sha256(options),
        },
        viewer=rubric_viewer(prefixes, own.dimensions),
    )
