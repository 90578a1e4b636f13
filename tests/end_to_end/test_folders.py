"""A run that is stopped and continued, on a folder that is reported as it is."""

import signal
import time

from inspect_ai.log import list_eval_logs, read_eval_log

from benchmarks.stub_server import StubServer
from moral_evals.reports.__main__ import main
from moral_evals.reports.runs.found import find_logs
from moral_evals.reports.runs.rubric_runs import rubric_runs


def test_a_stopped_run_and_its_continuation_count_once(inspect, dilemmas, capsys):
    # the judge stops answering, so that a slow machine cannot finish before it is stopped
    with StubServer(latency=0.1, hold={"judge": 15}) as stub:
        inspect.environment |= stub.environment()
        process = inspect.start(
            "eval", "inspect_tasks/morebench.py@morebench", "-T", f"data={dilemmas(6)}",
            "--model", "openai-api/stub/one", "--model-role", "grader=openai-api/stub/judge",
            "--max-samples", "2", "--max-connections", "4",
            "--log-dir", str(inspect.logs), "--display", "plain",
        )  # fmt: skip
        while stub.stats.calls["judge"] <= 15 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
        assert "inspect eval-retry" in printed, printed
        assert process.returncode == 0, "docs/at-scale.md says what a stop exits with"
        (stopped,) = list_eval_logs(str(inspect.logs))
        assert read_eval_log(stopped.name, header_only=True).status == "cancelled"
        (alone,) = rubric_runs([str(inspect.logs)])
        assert 0 < alone.scored < 6
        stub.hold = {}
        inspect.run("eval-retry", stopped.name, "--log-dir", str(inspect.logs))

    found = find_logs([str(inspect.logs)])
    (run,) = rubric_runs(found)
    assert (run.scored, run.samples, run.log.status) == (6, 6, "success")
    (line,) = found.lines
    assert stopped.name.rpartition("/")[2] in line.partition(": superseded by ")[0]
    assert main(["compare", str(inspect.logs)]) == 0
    said = capsys.readouterr().out
    assert line in said
    assert "DIFFERENT SCENARIOS" not in said
    assert "#2" not in said
