"""Remarks under a comparison: other scenarios, logs told apart, logs left out."""

from inspect_ai.log import write_eval_log

from moral_evals.inspect_tasks.morebench import morebench
from moral_evals.reports.compare.command import compare
from moral_evals.reports.runs.logs import shown_name
from tests.mocks import always, run, thinking


def made(folder, ids, **options):
    task = morebench(data="sample")
    chosen = [s.id for s in task.dataset][slice(*ids)]
    reply = always(thinking("I weigh both sides.", "I decide."))
    return run(task, reply, always("yes"), log_dir=str(folder), sample_id=chosen, **options)


def test_runs_over_other_scenarios_are_not_side_by_side(tmp_path):
    logs = [made(tmp_path, (0, 3)).location, made(tmp_path, (2, 5)).location]
    (report,) = compare(logs)
    assert any("DIFFERENT SCENARIOS" in n and "1 are in all" in n for n in report.notes)
    named = [n for n in report.notes if ".eval" in n]
    assert {n.split(": ")[0] for n in named} == {"mockllm/model", "mockllm/model #2"}
    assert {n.split(": ")[1].removesuffix(".") for n in named} == set(map(shown_name, logs))


def test_a_log_without_a_score_is_named(tmp_path):
    scored, unscored = made(tmp_path, (0, 1)), made(tmp_path, (0, 1))
    unscored.results, unscored.status = None, "cancelled"
    write_eval_log(unscored, str(tmp_path / "cancelled.eval"))
    (report,) = compare([scored.location, str(tmp_path / "cancelled.eval")])
    (line,) = report.left_out
    assert line.startswith(f"Left out: {tmp_path / 'cancelled.eval'}: unfinished, status cancelled")
    (report,) = compare([scored.location])
    assert not report.left_out
    assert not any("DIFFERENT" in n for n in report.notes)
