"""The commands inside this process, against a stub whose address no other test knows."""

import itertools
import os
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from inspect_ai import Task, eval
from inspect_ai._cli.main import inspect as command_line
from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log

_NUMBERS = itertools.count()


@dataclass
class Bench:
    """A folder of logs, a cache folder, and models of a name that is used once.

    Inspect keeps a model with its address, so a name cannot serve two servers of one process.
    """

    folder: Path
    service: str = field(default_factory=lambda: f"bench{os.getpid()}x{next(_NUMBERS)}")

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def model(self, name: str) -> str:
        return f"openai-api/{self.service}/{name}"

    def eval(self, task: Task | list[Task], judge: Any = "judge", **options: Any) -> list[EvalLog]:
        """`inspect_ai.eval` with the stub's candidate and judges."""
        names = [judge] if isinstance(judge, str) else judge
        roles = [self.model(n) for n in names]
        return eval(
            task, **{
                "model": self.model("candidate"), "display": "none", "log_dir": str(self.logs),
                "model_roles": {"grader": roles if len(roles) > 1 else roles[0]},
                "max_retries": 0, **options,
            },
        )  # fmt: skip

    def run(self, command: str) -> str:
        """Run an `inspect` command, as a shell would split it."""
        program, *arguments = shlex.split(command)
        assert program == "inspect"
        done = CliRunner().invoke(command_line, arguments)
        assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
        return done.output

    def newest(self) -> EvalLog:
        infos = list_eval_logs(str(self.logs))
        return read_eval_log(max(infos, key=lambda info: info.mtime or 0).name)

    def clear_verdicts(self) -> None:
        """Delete the verdict cache, also for the store that this process holds open."""
        from moral_evals.scorers.judging.cache import _store, store_folder

        _store(store_folder()).close()
        _store.cache_clear()
        shutil.rmtree(store_folder())


def replies(log: EvalLog) -> dict[Any, str]:
    """What the candidate said, by sample."""
    return {s.id: s.output.choices[0].message.text + _thoughts(s) for s in log.samples or []}


def _thoughts(sample: EvalSample) -> str:
    parts = sample.output.choices[0].message.content_list
    return "".join(p.reasoning for p in parts if p.type == "reasoning")
