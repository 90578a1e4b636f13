"""A CORDA score as tables, computed from the log's rollouts; nothing is read from its metrics."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from inspect_ai.log import EvalScore

from moral_evals.reports.form.document import Between, Cell, Table, shown
from moral_evals.reports.form.tables import caveats
from moral_evals.reports.runs.corda_runs import CordaRun, corda_runs_of
from moral_evals.reports.runs.logs import FoundLog, is_corda
from moral_evals.reports.runs.sample_scores import summary_scores
from moral_evals.scorers.corda.dominance import dominance_pairs
from moral_evals.scorers.corda.history_effects import contrast_bounds, is_primary
from moral_evals.scorers.corda.metrics import lms, missing_share, step_scores
from moral_evals.scorers.corda.net_benefit import P_LEX_CAUTION
from moral_evals.scorers.corda.order_luck import order_caution, order_finding, order_luck
from moral_evals.scorers.corda.summary import DEFAULTS
from moral_evals.scorers.corda.table import ANSWER_KINDS, ChainTable
from moral_evals.scorers.lexicographic import NO_RECORDS, WITHOUT_RECORDS
from moral_evals.scorers.stats.bootstrap import ratio
from moral_evals.scorers.stats.missing import Bounds

_CONDITION = {
    "lms": "LMS (agreement with the tier order)",
    "lms_lo": "  missing answers taken as worst",
    "lms_hi": "  missing answers taken as best",
    "lms_max": "  ceiling, for steps scored",
    "conflict_lms": "share won at conflict pairs",
    "dominance_lms": "share won at dominance pairs",
    "undecided_weight": "share of pairs that no tier decides",
    "drift": "drift, first to last step",
    "agreement": "agreement across shuffles",
    "agreement_corrected": "  above chance",
}
_PULL = {
    "first_position_excess": "first position, excess",
    "first_label_excess": "first label, excess",
    "position_bias": "position bias (0 to 1)",
    "label_bias": "label bias (0 to 1)",
    "order_effect": "effect of order, two options",
    "label_effect": "effect of label, two options",
    "content_effect": "effect of content, two options",
}
_CONTRASTS = {
    "conditioning_effect": "conditioning effect (own - unconditioned)",
    "commitment_effect": "commitment effect (own - context)",
    "story_effect": "story effect (context - unconditioned)",
    "random_history_effect": "random history (random - unconditioned)",
    "aa_check": "A/A check (should contain 0)",
    "drift_difference": "drift difference",
    "hysteresis": "hysteresis (best - worst history)",
    "bad_history_effect": "bad history (unconditioned - worst)",
    "good_history_effect": "good history (best - unconditioned)",
    "net_benefit": "net benefit (own over unconditioned)",
    "win_odds": "win odds",
    "p_lex_better": "P_lex, better in total",
    "p_lex_worse": "P_lex, worse in total",
    "p_lex_tie": "P_lex, equal in total",
    "p_lex_left_out": "P_lex, left out (unknown tier)",
}
_PROFILE = {
    "conflict_lms": "share won at conflict pairs",
    "dominance_lms": "share won at dominance pairs",
    "drift": "drift, first to last step",
    "first_position_excess": "first position, excess",
    "first_label_excess": "first label, excess",
    "agreement_corrected": "agreement across shuffles above chance",
}
_CHIEF_CONTRASTS = (
    "conditioning_effect", "hysteresis", "net_benefit", "commitment_effect", "story_effect",
    "random_history_effect", "aa_check", "p_lex_better",
)  # fmt: skip


def holds(score: EvalScore) -> bool:
    """Whether a score is one of CORDA's."""
    return is_corda(score)


def figures(log: FoundLog, score: EvalScore, by: Sequence[str]) -> Sequence[Table]:
    """LMS of each condition; then the chief figures, or the breakdowns that `by` names.

    Args:
        log: From `find_logs`; its samples are read from its file.
        score: The score's entry in the header.
        by: Part of `BY`.
    """
    found = [run for run in corda_runs_of(log) if run.score.scorer == score.scorer]
    if not found:
        nothing = f"status {log.header.status}: no rollout of this log has a score"
        scores = summary_scores(log, score.scorer)
        if any(s.score.reason == WITHOUT_RECORDS for s in scores):
            nothing = NO_RECORDS
        return [Table(score.scorer, score.scorer, ["condition", "LMS"], [], [nothing])]
    run = found[0]
    tables = [_scores(run)]
    if by:
        tables += [table for name in by for table in _BREAKDOWNS[name](run)]
    else:
        first = next(iter(run.table.arms))
        tables += [_profile(run, first), _tier(run, first), *_contrasts(run, _CHIEF_CONTRASTS)]
    named = [replace(t, name=f"{score.scorer}/{t.name}") for t in tables]
    return [*named[:-1], replace(named[-1], notes=[*named[-1].notes, *_remarks(run)])]


def _scores(run: CordaRun) -> Table:
    rows: list[list[Cell]] = []
    notes = []
    for condition, arm in run.table.arms.items():
        score, low, high = (
            run.figures[f"{condition}.{name}"] for name in ("lms", "lms_lo", "lms_hi")
        )
        bounds = Between(low.estimate, high.estimate)
        rows.append([condition, score, bounds, missing_share([arm]), score.n])
        # missing answers that could move the score further than sampling does come first
        reach = high.estimate - low.estimate
        if reach > 0 and not reach <= score.upper - score.lower:  # too few chains: no interval
            notes.append(f"MISSING ANSWERS MATTER in {condition}: bounds {shown(bounds)}.")
    notes += _order_notes(run)
    if any(is_primary(f"{condition}.lms") for condition in run.table.arms):
        notes.append("Primary: LMS unconditioned. Figures not called primary are exploratory.")
    columns = ["condition", "LMS", "bounds", "missing", "chains"]
    order = " > ".join(run.order.names)
    return Table("lms", f"LMS by the order {order}", columns, rows, notes)


def _order_notes(run: CordaRun) -> Iterator[str]:
    """What the order scan says of the first condition, and of those that another order fits."""
    for place, condition in enumerate(run.table.arms):
        stated = run.figures.get(f"{condition}.order_scan_stated")
        if stated is not None and (place == 0 or stated.estimate == 0):
            yield _order_note(run, condition, caution=place == 0)


def _order_note(run: CordaRun, condition: str, *, caution: bool) -> str:
    """What the scan found in a condition; the caution about luck is for one of them to say."""
    luck = order_luck(run.table, condition)
    found = f"{condition}: {order_finding(run.orders[condition], luck)}"
    return f"{found}; {order_caution(luck)}" if caution else found


def _profile(run: CordaRun, condition: str) -> Table:
    """The chief figures of a condition."""
    rows = list(_rows(run, f"{condition}.", _PROFILE))
    more = f"More figures, of all conditions: --by {', '.join(BY)}."
    notes = [_dominance(run), more]
    return Table(f"profile_{condition}", condition, ["figure", "value"], rows, notes)


def _dominance(run: CordaRun) -> str:
    sentence = dominance_pairs(run.table.steps, run.data_tiers).sentence()
    return f"{sentence[0].upper()}{sentence[1:]}."


def _per_condition(
    run: CordaRun, name: str, labels: Callable[[str], Mapping[str, str]]
) -> Iterator[Table]:
    """A table a condition: those of the figures named that the condition has."""
    for condition in run.table.arms:
        rows = list(_rows(run, f"{condition}.", labels(condition)))
        if rows:
            yield Table(f"{name}_{condition}", f"{condition}: {name}", ["figure", "value"], rows)


def _rows(run: CordaRun, prefix: str, labels: Mapping[str, str]) -> Iterator[list[Cell]]:
    for name, label in labels.items():
        if prefix + name in run.figures:
            yield [label, run.figures[prefix + name]]


def _contrasts(run: CordaRun, names: Sequence[str] = tuple(_CONTRASTS)) -> Iterator[Table]:
    """Primary and exploratory contrasts, with how far missing answers could move each."""
    bounds = contrast_bounds(run.table)
    for kind in ("primary", "exploratory"):
        found = [n for n in names if n in run.figures and is_primary(n) == (kind == "primary")]
        rows: list[list[Cell]] = [
            [_CONTRASTS[n], run.figures[n], _range(bounds.get(n))] for n in found
        ]
        if rows:
            notes = [P_LEX_CAUTION] if "p_lex_better" in found else []
            columns = ["figure", "value", "missing answers allow"]
            yield Table(f"contrasts_{kind}", f"Contrasts, paired, {kind}", columns, rows, notes)


def _range(bounds: Bounds | None) -> Cell:
    """Empty where nothing is missing."""
    return Between(bounds.low, bounds.high) if bounds and bounds.open else ""


def _conditions(run: CordaRun) -> Iterator[Table]:
    *before, last = _per_condition(run, "condition", lambda _: _CONDITION)
    yield from (*before, replace(last, notes=[*last.notes, _dominance(run)]))


def _tiers(run: CordaRun) -> Iterator[Table]:
    return (_tier(run, condition) for condition in run.table.arms)


def _tier(run: CordaRun, condition: str) -> Table:
    rows: list[list[Cell]] = [
        [tier, *(run.figures[f"{condition}.{name}.{tier}"] for name in _TIER)]
        for tier in run.order.names
    ]
    columns = ["tier", *_TIER.values()]
    return Table(f"tier_{condition}", f"{condition}: what each tier decides", columns, rows)


_TIER = {"tier_won": "share won", "tier_weight": "share of pairs"}


def _steps(run: CordaRun) -> Iterator[Table]:
    bootstrap = DEFAULTS.over(run.table)
    for condition, arm in run.table.arms.items():
        scores = step_scores(arm)
        rows: list[list[Cell]] = [
            [
                str(j + 1),
                bootstrap.interval(ratio(scores[:, j])),
                run.figures[f"{condition}.breach.{j + 1}"],
            ]
            for j in range(scores.shape[1])
        ]
        columns = ["step", "mean rank value", "lost on the top tier"]
        yield Table(f"step_{condition}", f"{condition}: step by step", columns, rows)


def _strata(run: CordaRun) -> Iterator[Table]:
    """LMS within each stratum, with a bootstrap over its own chains."""
    rows: list[list[Cell]] = []
    for stratum in sorted(set(run.table.strata)):
        answers = [a for a in run.answers if a.stratum == stratum]
        table = ChainTable.by_condition(answers, run.order)
        for condition, arm in table.arms.items():
            score = DEFAULTS.over(table).interval(lms(arm))
            rows.append([stratum or "none named", condition, score, score.n])
    columns = ["stratum", "condition", "LMS", "chains"]
    yield Table("stratum", "LMS by stratum", columns, rows)


def _positions(run: CordaRun) -> Iterator[Table]:
    def labels(condition: str) -> dict[str, str]:
        found = dict(_PULL)
        for name in run.figures:
            kind, _, place = name.removeprefix(f"{condition}.").partition(".")
            if kind in ("position_excess", "label_excess"):
                what, _, width = place.partition("_of_")
                found[f"{kind}.{place}"] = f"  {kind.split('_')[0]} {what} of {width}"
        return found

    return _per_condition(run, "position", labels)


def _missing(run: CordaRun) -> Iterator[Table]:
    labels = {f"missing.{kind}": kind for kind in ANSWER_KINDS[1:]}
    return _per_condition(run, "missing", lambda _: labels)


def _orders(run: CordaRun) -> Iterator[Table]:
    """LMS under every order of the tiers, for each condition: the best five and the stated one."""
    for place, (condition, scan) in enumerate(run.orders.items()):
        ranked = sorted(scan.values, key=lambda o: -_known(scan.values[o]))
        shown = dict.fromkeys([scan.stated, *ranked[:5]])
        rows: list[list[Cell]] = [
            [("stated: " if o == scan.stated else "") + " > ".join(o.names), scan.values[o]]
            for o in shown
        ]
        notes = [_order_note(run, condition, caution=place == 0)]
        title = f"{condition}: tier orders"
        yield Table(f"order_{condition}", title, ["order", "LMS"], rows, notes)


def _known(value: float) -> float:
    return value if math.isfinite(value) else -1.0


def _remarks(run: CordaRun) -> list[str]:
    log = run.log
    total = log.results.total_samples if log.results else 0
    steps, informative = (run.figures[n].estimate for n in ("steps", "informative_steps"))
    return [
        *caveats(log, len(run.table.ids), "chains"),
        f"{len(run.answers)} of {total} rollouts; the order decides something at {informative:.0f} "
        f"of {steps:.0f} steps; LMS of random choice 1/2",
        "95% intervals: BCa bootstrap over chains",
    ]


_BREAKDOWNS: dict[str, Callable[[CordaRun], Iterator[Table]]] = {
    "condition": _conditions,
    "tier": _tiers,
    "step": _steps,
    "stratum": _strata,
    "position": _positions,
    "missing": _missing,
    "contrast": _contrasts,
    "order": _orders,
}
BY = tuple(_BREAKDOWNS)
