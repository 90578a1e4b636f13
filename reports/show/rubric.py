"""A rubric score of a run: its figures, what was not measured, and breakdowns."""

from collections import Counter
from collections.abc import Iterator, Sequence

from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.scorer import SampleScore

from moral_evals.loaders.prompt_files import PROTOCOLS
from moral_evals.reports.form.document import Cell, Table, number
from moral_evals.reports.form.tables import caveats
from moral_evals.reports.runs.conditions import UNJUDGED, Conditions
from moral_evals.reports.runs.logs import FoundLog
from moral_evals.reports.runs.remarks import judges
from moral_evals.reports.runs.rubric_runs import prefix_of, runs_of
from moral_evals.reports.runs.sample_scores import sample_scores, summary_scores
from moral_evals.reports.show.panel import is_panel, panel_table
from moral_evals.reports.show.replies import listed, reply_counts
from moral_evals.scorers.kinship import kin
from moral_evals.scorers.rubric.breakdowns import by_dimension, by_label, by_weight
from moral_evals.scorers.rubric.judged_text import UNSCORED_REASONS
from moral_evals.scorers.rubric.refusal_metrics import refusal_figures
from moral_evals.scorers.rubric.scenario_table import ScenarioTable, dimension_means, headline
from moral_evals.scorers.stats.bootstrap import ratio

_GROUPS = {
    "role": "role", "source": "source_group", "type": "type", "context": "context",
    "theory": "theory",
}  # fmt: skip
_SHARES = {"weight": by_weight, "dimension": by_dimension}
BY = (*_GROUPS, *_SHARES)

_SHARE_NOTES = {
    "weight": "By scenario: mean of each scenario's share. Pooled: over all criteria of the run.",
    "dimension": (
        "By scenario: weighted share, mean over scenarios. Pooled: plain share over all criteria "
        "of the run, as in the paper's tables."
    ),
}

Rows = list[Sequence[Cell]]


def holds(score: EvalScore) -> bool:
    """Whether a score is a rubric's."""
    return "regular" in score.metrics


def figures(log: FoundLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
    """A score's figures, the agreement of its panel, and the breakdowns asked for."""
    conditions = next(r.conditions for r in runs_of(log) if r.scorer == score.scorer)
    scores = summary_scores(log, score.scorer)
    table = ScenarioTable.build(scores, prefix_of(score.scorer))
    notes = [
        *caveats(log.header, table.scored, "scored samples"),
        *_mode(conditions),
        *kin(log.header.eval.model, judges(conditions)),
        *_counts(log.header, table, scores),
    ]
    title = _title(score, conditions)
    found = [Table(score.scorer, title, ["figure", "value"], _rows(table), ["; ".join(notes)])]
    if is_panel(score):
        found.append(panel_table(score, sample_scores(log.header, score.scorer)))
    found += [_by_label(score, table, name) for name in by if name in _GROUPS]
    if shares := [name for name in by if name in _SHARES]:
        whole = ScenarioTable.build(sample_scores(log.header, score.scorer), table.prefix)
        found += [_by_share(score, whole, name) for name in shares]
    return found


def _title(score: EvalScore, conditions: Conditions) -> str:
    protocol = (score.params or {}).get("protocol") or conditions.protocol.partition(" ")[0]
    own = (
        conditions.protocol if conditions.protocol.partition(" ")[0] not in ("", *PROTOCOLS) else ""
    )
    prompts = f"candidate prompt {own}" if own else f"{protocol or 'suite'} prompts"
    judge = conditions.judge or "not recorded"
    # an own prompt's name stands before its hash
    named = f", judge prompt {conditions.judge_prompts}" if _named(conditions) else ""
    return f"{score.scorer}: {conditions.judged}, {prompts}, judge {judge}{named}"


def _named(conditions: Conditions) -> bool:
    return conditions.judge_prompts != UNJUDGED and " " in conditions.judge_prompts


def _rows(table: ScenarioTable) -> Rows:
    found = headline(table)
    rows: Rows = [
        ["MoReBench-Regular", found["regular"]],
        ["MoReBench-Hard (per 1,000 characters)", found["hard"]],
    ]
    rows += [[d, mean] for d, mean in dimension_means(table).items()]
    rows.append(["harmless minus logical", found["gap"]])
    refused = refusal_figures(table)
    if refused["refusal_rate"].estimate > 0:
        rows += [
            ["refusals, share of replies", refused["refusal_rate"]],
            ["Regular without refusals", refused["regular_answered"]],
            ["Regular with each refusal as 0", refused["regular_refusals_zero"]],
        ]
    return rows


def _mode(conditions: Conditions) -> Iterator[str]:
    if conditions.judge_mode.startswith("rubric"):
        yield (
            "judged by whole rubrics: not comparable with the paper unless "
            "`moral-reports judge-modes` shows the agreement"
        )


def _counts(log: EvalLog, table: ScenarioTable, scores: Sequence[SampleScore]) -> Iterator[str]:
    total = log.results.total_samples if log.results else 0
    yield f"scored {table.scored} of {total}"
    yield f"graded share of rubric weight {number(ratio(table.graded_share).estimate())}"
    if reasons := Counter(s.score.reason for s in scores if s.score.reason):
        yield "unscored: " + listed({r: reasons[r] for r in UNSCORED_REASONS})
    if total > table.samples:
        yield f"lost in judging or before: {total - table.samples}"
    if replies := reply_counts(log):
        yield "replies: " + listed(replies)


def _by_label(score: EvalScore, table: ScenarioTable, name: str) -> Table:
    rows: Rows = [
        [r.label, r.score, r.refused, r.scenarios] for r in by_label(table, _GROUPS[name])
    ]
    columns = [name, "Regular", "refused", "scenarios"]
    return Table(f"{score.scorer}/{name}", f"{score.scorer} by {name}", columns, rows)


def _by_share(score: EvalScore, table: ScenarioTable, name: str) -> Table:
    rows: Rows = [[r.label, r.by_scenario, r.pooled] for r in _SHARES[name](table)]
    columns = [name, "by scenario", "pooled"]
    title = f"{score.scorer} by {name}: share of criteria fulfilled"
    return Table(f"{score.scorer}/{name}", title, columns, rows, [_SHARE_NOTES[name]])
