"""How long `moral-reports compare` takes over many full-size logs, and how much memory.

    python benchmarks/compare_speed.py --logs 20 --scenarios 500

Fabricates the logs from one sample of a real run (a trace of 6,000 characters, 23 judge calls),
repeated with other ids, verdicts and lengths. Each row of the table is a process of its own: quote
the ratios, absolute figures are this machine's.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from inspect_ai import eval
from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.morebench.records import Criterion
from moral_evals.reports.__main__ import main as moral_reports
from moral_evals.reports.runs.rubric_runs import rubric_runs
from moral_evals.scorers.judging.panel import Ballot, combine
from moral_evals.scorers.rubric.aggregate import Verdict
from moral_evals.scorers.rubric.record import RubricRecord
from moral_evals.scorers.rubric.score import scored, unscored

CRITERIA, TRACE, REFUSED = 23, 6_000, 0.02


def write_logs(folder: Path, logs: int, scenarios: int) -> None:
    """Logs of as many models, each a little better than the next."""
    log = _one_sample(folder)
    assert log.samples and log.results
    template = log.samples[0]
    log.results.total_samples = log.results.completed_samples = scenarios
    for number in range(logs):
        rng, skill = random.Random(number), 0.75 - 0.2 * number / logs
        log.eval.model = f"mockllm/model-{number:02d}"
        log.eval.eval_id = log.eval.task_id = f"run-{number}"
        log.samples = [_clone(template, i, skill, rng) for i in range(scenarios)]
        _agree(log)
        write_eval_log(log, str(folder / "logs" / f"model-{number:02d}.eval"))


def _one_sample(folder: Path) -> EvalLog:
    folder.mkdir(parents=True, exist_ok=True)
    data, rng = folder / "one.jsonl", random.Random(0)
    dimensions = ("identifying", "logical process", "harmless outcome", "clear process", "other")
    criteria = [
        {"id": f"c{i:02d}", "text": _words(rng, 100), "weight": (3, 2, -2, 1, -3)[i % 5],
         "dimension": dimensions[i % 5]}
        for i in range(CRITERIA)
    ]  # fmt: skip
    row = {"schema_version": "dilemma-1", "id": "one", "dilemma": _words(rng, 1_200)}
    labels = {"role": "ai_advisor", "source": "ai_risk", "type": "short_case"}
    data.write_text(json.dumps(row | labels | {"criteria": criteria}), encoding="utf-8")
    reply = [ContentReasoning(reasoning=_words(rng, TRACE)), ContentText(text=_words(rng, 1_500))]
    (log,) = eval(
        morebench(data=str(data), judge_cache=False),
        model=_says("model", reply),
        model_roles={"grader": _says("judge", [ContentText(text="yes")])},
        display="none",
        log_dir=str(folder / "template"),
    )
    assert log.status == "success", log.error
    return log


def _says(name: str, content: list[ContentReasoning | ContentText]) -> Model:
    message = ChatMessageAssistant(content=list(content), model=name, source="generate")
    usage = ModelUsage(input_tokens=1_800, output_tokens=900, total_tokens=2_700)
    choice = ChatCompletionChoice(message=message, stop_reason="stop")
    output = ModelOutput(model=name, choices=[choice], usage=usage)
    return get_model(f"mockllm/{name}", custom_outputs=lambda *_: output, memoize=False)


def _words(rng: random.Random, characters: int) -> str:
    letters = "etaoinshrdlu"
    words = ("".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(characters))
    text = ""
    while len(text) < characters:
        text += next(words) + " "
    return text[:characters]


def _clone(template: EvalSample, number: int, skill: float, rng: random.Random) -> EvalSample:
    assert template.scores
    old = template.scores["rubric_judge"]
    record, text = RubricRecord.of(old), old.answer or ""
    criteria = [Criterion.model_validate(c) for c in template.metadata["criteria"]]
    if rng.random() < REFUSED:
        score = unscored(
            "refusal", text, RubricRecord(judged=record.judged, trace_kind=record.trace_kind)
        )
    else:
        text = text[: int(len(text) * rng.uniform(0.5, 1))]
        difficulty = random.Random(f"scenario {number}").uniform(-0.2, 0.2)
        ballot = Ballot("mockllm/judge")
        ballot.verdicts = {c.id: _verdict(c, rng.random() < skill + difficulty) for c in criteria}
        score = scored(criteria, text, combine([ballot], [c.id for c in criteria]), record)
    return template.model_copy(
        update={
            "id": f"scenario-{number:03d}",
            "uuid": f"{template.uuid}{number}",
            "scores": template.scores | {"rubric_judge": score},
        }
    )


def _agree(log: EvalLog) -> None:
    """Make the header count what the samples hold, as that of a real run does."""
    values = [s.scores["rubric_judge"].value for s in log.samples or [] if s.scores]
    numbers = [float(v["score"]) for v in values if isinstance(v, dict)]
    known = [n for n in numbers if math.isfinite(n)]
    for score in log.results.scores if log.results else []:
        if "regular" in score.metrics:
            score.metrics["scored"].value = len(known)
            score.metrics["regular"].value = math.fsum(known) / len(known)


def _verdict(criterion: Criterion, earned: bool) -> Verdict:
    return "yes" if earned == (criterion.weight > 0) else "no"


def read_all(logs: str) -> None:
    """What summaries save: every sample in full, one log at a time."""
    for info in list_eval_logs(logs):
        samples = read_eval_log(info.name).samples or []
        assert sum(bool(s.scores) for s in samples) == len(samples)


def compare(logs: str) -> None:
    """The whole command, all pairs."""
    assert moral_reports(["compare", logs, "--format", "json", "--out", f"{logs}/out.txt"]) == 0


WORK: dict[str, Callable[[str], object]] = {
    "`compare`": compare,
    "of this, headers and summaries": lambda logs: rubric_runs([logs]),
    "all samples in full, read only": read_all,
}


def measure(kind: str, logs: str) -> dict[str, float]:
    """One row of the table, in a fresh process."""
    command = [sys.executable, __file__, "--run", kind, "--folder", logs]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Fabricate the logs, measure, print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--scenarios", type=int, default=500)
    parser.add_argument("--folder", help="keep the logs here, and use them if they are there")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        start, cpu = time.perf_counter(), time.process_time()
        WORK[options.run](options.folder)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        print("\n" + json.dumps({"wall": wall, "cpu": cpu, "peak": _peak()}))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        if not (folder / "logs").is_dir():
            write_logs(folder, options.logs, options.scenarios)
        report(str(folder / "logs"))


def _peak() -> float:
    """MiB; getrusage would start at the peak of the process that forked this one."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def report(logs: str) -> None:
    """Measure every kind of work and print it beside `compare`."""
    files = list(Path(logs).glob("*.eval"))
    size = sum(f.stat().st_size for f in files) / 1e6
    print(f"{len(files)} logs, {size:.0f} MB\n")
    print("| work | wall s | CPU s | CPU / compare | peak MiB |\n|---|---:|---:|---:|---:|")
    whole = 0.0
    for kind in WORK:
        found = measure(kind, logs)
        whole = whole or found["cpu"]
        print(f"| {kind} | {found['wall']:.1f} | {found['cpu']:.1f} | {found['cpu'] / whole:.2f} "
              f"| {found['peak']:.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
