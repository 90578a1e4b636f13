"""One eval set: MoReBench, MoReBench-Theory and CORDA over several models (docs/at-scale.md).

    python examples/eval_set.py logs/set1 --model openrouter/deepseek/deepseek-r1 \
        anthropic/claude-sonnet-4-5

The same command finishes what was interrupted, and runs nothing once every log is complete. It
ends by asking for the verdicts that are missing because judge calls failed.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterable

from inspect_ai import Task, eval_set
from inspect_ai.log import EvalLog, read_eval_log_samples
from inspect_ai.model import GenerateConfig, Model, get_model

from moral_evals.inspect_tasks.corda import corda
from moral_evals.inspect_tasks.morebench import morebench, morebench_theory
from moral_evals.scorers.rubric.repair import Incomplete, repair_command

BATCH_PATIENCE = 25 * 60 * 60
"""Seconds; providers give a batch 24 hours, and a call abandoned before is paid for twice."""


def tasks(data: str) -> list[Task]:
    """What every model does; on a command line, a -T would go to all three tasks."""
    return [
        morebench(data=data, judged="both"),
        morebench_theory(data=data, judged="both"),
        corda(conditions="unconditioned,own"),
    ]


def judge(name: str, batch: bool) -> Model:
    """The judge, asked through its provider's batches if wanted."""
    batches = GenerateConfig(batch=True, attempt_timeout=BATCH_PATIENCE)
    return get_model(name, config=batches if batch else GenerateConfig())


def repair(logs: Iterable[EvalLog]) -> bool:
    """Ask for missing verdicts, which an eval set does not see; whether none is missing now."""
    complete = True
    for log in logs:
        if log.status == "success" and _lacks_verdicts(log.location):
            command = shlex.split(repair_command(log.location))[1:]
            subprocess.run([sys.executable, "-m", "inspect_ai", *command], check=False)
            complete &= not _lacks_verdicts(log.location)
    return complete


def _lacks_verdicts(location: str) -> bool:
    found = Incomplete()
    for sample in read_eval_log_samples(location, all_samples_required=False):
        found.add((sample.scores or {}).values())
    return found.samples > 0


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("log_dir", help="folder or fsspec URL, one for each eval set")
    add("--model", nargs="+", required=True, help="candidates")
    add("--grader", help="judge; left out, the suite's default")
    add("--batch-judge", action="store_true", help="ask the judge in batches")
    add("--shard", metavar="I/N", help="every Nth model from the Ith (from 0), in LOG_DIR/shard-I")
    add("--log-shared", type=int, metavar="S", help="copy what is not yet logged every S seconds")
    add("--data", default="hub", help="of both MoReBench tasks")
    add("--limit", type=int, help="samples of each task, for a trial")
    add("--reasoning-effort", default="medium", help="of the candidates")
    add("--retry-attempts", type=int, default=5, help="of each task")
    return parser


def main() -> None:
    """Run the set; exit with 1 if a task or a judging is still incomplete after all retries."""
    parser = arguments()
    options = parser.parse_args()
    if options.batch_judge and not options.grader:
        parser.error("--batch-judge needs a --grader whose provider has batches")
    models, log_dir = options.model, options.log_dir
    if options.shard:
        shard, shards = map(int, options.shard.split("/"))
        models, log_dir = models[shard::shards], f"{log_dir.rstrip('/')}/shard-{shard}"
        if not models:
            sys.exit(0)
    grader = judge(options.grader, options.batch_judge) if options.grader else None
    complete, logs = eval_set(
        tasks(options.data),
        log_dir=log_dir,
        model=models,
        model_roles={"grader": grader} if grader else None,
        reasoning_effort=options.reasoning_effort,
        limit=options.limit,
        retry_attempts=options.retry_attempts,
        retry_on_error=1,
        log_shared=options.log_shared,
    )
    sys.exit(0 if repair(logs) and complete else 1)


if __name__ == "__main__":
    main()
