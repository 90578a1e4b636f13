"""The full MoReBench job, 500 dilemmas with 11,568 criteria, against the stub server.

    python benchmarks/morebench_throughput.py --latency 1 --connections 100

Prints wall time over the ideal (calls x latency / connections), CPU per call and peak memory of
the evaluating process, and log size, beside those of a bare Inspect task that makes the same
calls in the same run: quote the ratios, absolute figures are this machine's.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from moral_evals.loaders.morebench.records import DIMENSIONS

ROWS, CRITERIA = 500, 11_568


def write_dataset(path: Path, rows: int) -> int:
    """A set of the published size and shape with made-up text; returns the number of criteria."""
    rng = random.Random(0)
    sizes = [20 + i % 7 for i in range(rows)]
    while sum(sizes) < CRITERIA * rows // ROWS:
        sizes[rng.randrange(rows)] += 1
    words = "duty promise harm trust share rule risk hope cost voice claim need".split()  # noqa: SIM905
    with path.open("w", encoding="utf-8") as file:
        for i, size in enumerate(sizes):
            criteria = [
                {
                    "id": f"c{j}",
                    "text": f"Relates {rng.choice(words)} {j} to {rng.choice(words)} in case {i}.",
                    "weight": rng.choice((3, 3, 2, 2, 2, 1, -2, -3)),
                    "dimension": rng.choice(DIMENSIONS[:5]),
                }
                for j in range(size)
            ]
            text = " ".join(rng.choice(words) for _ in range(200))
            row = {"schema_version": "dilemma-1", "id": f"case-{i}", "dilemma": f"Case {i}: {text}"}
            file.write(json.dumps(row | {"criteria": criteria}) + "\n")
    return sum(sizes)


def bare_task(data: str) -> Any:
    """The least Inspect task with the same calls: no cache, no tables, no intervals."""
    import asyncio

    from inspect_ai import Task
    from inspect_ai.model import get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import generate

    from moral_evals.loaders.morebench.data import MOREBENCH, load
    from moral_evals.loaders.morebench.records import ScenarioMetadata
    from moral_evals.scorers.judging.prompt import fenced

    @scorer(metrics=[mean()])
    def bare() -> Any:
        async def score(state: Any, target: Any) -> Score:
            judge = get_model(role="grader")
            metadata = state.metadata_as(ScenarioMetadata)
            text = fenced(state.output.completion)
            prompts = [f"{text}\nyes or no?\nCriterion: {c.text}" for c in metadata.criteria]
            replies = await asyncio.gather(*(judge.generate(p) for p in prompts))
            met = [r.completion == "yes" for r in replies]
            won = sum(
                abs(c.weight) for c, m in zip(metadata.criteria, met, strict=True)
                if m == (c.weight > 0)
            )  # fmt: skip
            return Score(value=won / sum(abs(c.weight) for c in metadata.criteria))

        return score

    return Task(dataset=load(MOREBENCH, data).dataset(), solver=generate(), scorer=bare())


def evaluate(kind: str, data: str, connections: int, logs: str) -> None:
    """Run one pipeline in this process and print what it took as JSON."""
    from inspect_ai import eval

    from moral_evals.inspect_tasks import morebench

    builders = {
        "suite": lambda: morebench(data=data),
        "suite, judge_cache=false": lambda: morebench(data=data, judge_cache=False),
        "bare Inspect task": lambda: bare_task(data),
    }
    task = builders[kind]()
    start, cpu = time.perf_counter(), time.process_time()
    (log,) = eval(
        task,
        model="openai-api/stub/candidate",
        model_roles={"grader": "openai-api/stub/judge"},
        max_connections=connections,
        max_samples=connections,
        display="none",
        log_dir=logs,
    )
    found = {
        "status": log.status,
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "log": Path(log.location.removeprefix("file://")).stat().st_size / 1e6,
    }
    print("RESULT " + json.dumps(found), flush=True)


def main() -> None:
    """Measure the pipelines one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, default=1.0, help="seconds a call")
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    parser.add_argument("--logs", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        evaluate(options.run, options.data, options.connections, options.logs)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Start the stub, run every pipeline against it, print a Markdown table."""
    data = folder / "data.jsonl"
    calls = write_dataset(data, options.rows) + options.rows
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("stub_server.py")),
         "--latency", str(options.latency), "--seconds", "3600"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout
    url = server.stdout.readline().strip()
    ideal = calls * options.latency / options.connections
    print(f"{options.rows} dilemmas, {calls} calls at {options.latency:g} s over "
          f"{options.connections} connections: ideal {ideal:.1f} s\n")  # fmt: skip
    print("| pipeline | wall s | wall / ideal | CPU ms a call | CPU / bare | peak MiB | log MB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    try:
        bare = 0.0
        for kind in ("bare Inspect task", "suite, judge_cache=false", "suite"):
            found = run_pipeline(kind, options, data, folder, url)
            bare = bare or found["cpu"]
            print(
                f"| {kind} | {found['wall']:.1f} | {found['wall'] / ideal if ideal else 0:.2f} "
                f"| {1000 * found['cpu'] / calls:.2f} | {found['cpu'] / bare:.2f} "
                f"| {found['rss']:.0f} | {found['log']:.1f} |",
                flush=True,
            )
        with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as response:
            print("\nserver:", response.read().decode())
    finally:
        server.kill()


def run_pipeline(
    kind: str, options: argparse.Namespace, data: Path, folder: Path, url: str
) -> dict[str, float]:
    """One pipeline in a fresh process with a fresh cache."""
    environment = os.environ | {
        "STUB_BASE_URL": url,
        "STUB_API_KEY": "none",
        "INSPECT_CACHE_DIR": str(folder / kind),
    }
    done = subprocess.run(
        [sys.executable, __file__, "--run", kind, "--data", str(data), "--logs", str(folder),
         "--connections", str(options.connections)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    line = next(x for x in done.stdout.splitlines() if x.startswith("RESULT "))
    found: dict[str, float] = json.loads(line.removeprefix("RESULT "))
    assert found["status"] == "success", done.stdout + done.stderr
    return found


if __name__ == "__main__":
    main()
