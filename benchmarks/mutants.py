"""Mutation check of the arithmetic: is every small fault in it noticed by a unit test?

Each mutant is one changed operator, number, condition or statement of a file (`mutations.py`). It
lives in a forked process that has pytest and all libraries loaded already, so that it costs the
time of its tests alone; nothing on the disk changes. Of the test files in `TESTS` it runs the
tests that enter the function around the change, fastest first, up to the first failure.

mutmut 3.8 skips every decorated function (properties, metrics, cached results) and whatever
stands outside functions, and takes folders for package names, which the root as the package
contradicts; cosmic-ray starts a new process for each mutant, 6 s of imports here.

Run it from the repository's root.
"""

import argparse
import ast
import gc
import json
import math
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from hypothesis import Phase, settings
from mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[1]

ROOMS = ("scorers/stats", "scorers/rubric", "scorers/corda")

_CHAINS = (
    *(
        f"corda/test_{t}.py"
        for t in ("order", "metrics", "contrasts", "bias", "summary", "history_effects")
    ),
    "test_edits.py",
)
_LOGS = ("test_lexicographic.py", "corda/test_metrics.py")

TESTS = {
    "scorers/stats": (
        "stats",
        "corda/test_contrasts.py",
        "oracles/test_agreement.py",
        "oracles/test_intervals.py",
    ),
    "scorers/rubric": ("rubric", "test_edits.py", "oracles/test_morebench.py"),
    "scorers/corda": (*_CHAINS, "oracles/test_corda.py"),
    "scorers/corda/explanation.py": _LOGS,
    "scorers/corda/records.py": _LOGS,
}
"""By file, else by room, the tests that may kill a mutant: those that enter what it changed."""

KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"

_LONGEST = 1.5  # seconds of CPU: what a longer test may notice, a unit test should
_SLOW = 20.0  # seconds beyond the tests' usual time, on a busy machine


@dataclass
class Report:
    """What became of the mutants of one file."""

    file: str
    fates: Counter[str] = field(default_factory=Counter)
    survivors: list[Mutation] = field(default_factory=list)

    def row(self) -> str:
        """Line of the printed table."""
        total = self.fates.total()
        caught = total - self.fates[SURVIVED]
        share = f"{caught / total:.1%}" if total else "–"
        return (
            f"| {self.file} | {total} | {self.fates[KILLED]} | {self.fates[TIMEOUT]} | "
            f"{self.fates[SURVIVED]} | {share} |"
        )


@dataclass
class Baseline:
    """Tests of the code as it is: seconds of each, and where the functions begin that it enters."""

    seconds: dict[str, float] = field(default_factory=dict)
    entered: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def of(self, file: str, mutation: Mutation) -> list[str]:
        """Tests that may notice a mutation, fastest first."""
        quick = (name for name, took in self.seconds.items() if took <= _LONGEST)
        names = sorted(quick, key=lambda name: self.seconds[name])
        if mutation.function is None or mutation.cached:
            return names
        first, last = mutation.function
        return [
            name
            for name in names
            if any(f == file and first <= line <= last for f, line in self.entered[name])
        ]


class _Recorder:
    """A pytest plugin that fills a `Baseline`."""

    def __init__(self) -> None:
        self.baseline = Baseline()
        self._files: dict[CodeType, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        entered: set[tuple[str, int]] = set()

        def enter(frame: FrameType, event: str, _: Any) -> None:
            code = frame.f_code
            if code not in self._files:
                self._files[code] = os.path.realpath(code.co_filename)
            if self._files[code].startswith(f"{ROOT}/scorers/"):
                entered.add((self._files[code].removeprefix(f"{ROOT}/"), code.co_firstlineno))

        sys.settrace(enter)
        start = time.process_time()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.baseline.seconds[item.nodeid] = time.process_time() - start
            self.baseline.entered[item.nodeid] = sorted(entered)


def chosen(file: str, share: float, seed: int) -> list[int]:
    """Numbers of a seeded sample of a file's mutants."""
    found = _mutations(file)
    count = round(len(found) * share)
    return sorted(random.Random(f"{seed} {file}").sample(range(len(found)), count))


def named(file: str, lines: set[str]) -> list[int]:
    """Numbers of the mutants that an earlier output printed as survivors."""
    return [i for i, m in enumerate(_mutations(file)) if _line(file, m) in lines]


def check(
    file: str, numbers: Sequence[int], baseline: Baseline, limit: Callable[[], bool]
) -> Report:
    """Run mutants of a file.

    Args:
        file: Path from the root.
        numbers: Which of its mutants.
        baseline: Of its tests.
        limit: Whether to stop early.
    """
    found = _mutations(file)
    report = Report(file)
    for number in numbers:
        if limit():
            print(f"{file}: out of time, {report.fates.total()} of {len(numbers)}", flush=True)
            break
        mutation = found[number]
        tests = baseline.of(file, mutation)
        usual = sum(baseline.seconds[t] for t in tests)
        fate = _fate(file, number, tests, usual) if tests else SURVIVED
        report.fates[fate] += 1
        if fate == SURVIVED:
            report.survivors.append(mutation)
            print(_line(file, mutation), flush=True)
    return report


def _line(file: str, mutation: Mutation) -> str:
    return f"{file}:{mutation.line}: {mutation.was} -> {mutation.now}"


def _mutations(file: str) -> list[Mutation]:
    return mutations(ast.parse((ROOT / file).read_text(encoding="utf-8")))


@cache
def _baseline(named: str) -> Baseline:
    """Run the tests of an entry of `TESTS` on the files as they are; they must pass."""
    tests = [f"tests/scorers/{t}" for t in TESTS[named]]
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        recorder = _Recorder()
        code = _pytest(tests, [recorder])
        with os.fdopen(writer, "w") as out:
            json.dump([code, recorder.baseline.seconds, recorder.baseline.entered], out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        code, seconds, entered = json.load(answer)
    os.waitpid(child, 0)
    if code != pytest.ExitCode.OK:
        raise SystemExit(
            f"{named}: its tests do not pass without a mutant: pytest {' '.join(tests)}"
        )
    return Baseline(seconds, {name: [(f, n) for f, n in at] for name, at in entered.items()})


def _fate(file: str, number: int, tests: Sequence[str], usual: float) -> str:
    child = os.fork()
    if not child:
        seconds = round(10 * usual + _SLOW)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        signal.alarm(6 * seconds)  # for one that waits
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        mutations(tree)[number].apply()
        _load_instead(ROOT / file, compile(tree, file, "exec"))
        os._exit(_pytest(tests, []))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return TIMEOUT if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM) else KILLED
    code = os.waitstatus_to_exitcode(status)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise SystemExit(f"{file}, mutant {number}: no test was run")
    return KILLED if code else SURVIVED


def _load_instead(file: Path, code: CodeType) -> None:
    """Whoever imports the file from now on gets other code."""
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        same = os.path.realpath(self.get_filename(fullname)) == str(file)
        return code if same else usual(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def _pytest(tests: Sequence[str], plugins: list[object]) -> int:
    """Run tests in this process, silently, with property tests that neither vary nor shrink."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", derandomize=True, database=None, phases=phases)
    settings.load_profile("mutants")
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--no-header"]
    return int(pytest.main([*options, *tests], plugins=plugins))


def _preload() -> None:
    """Load the libraries, but leave the package itself for the children to load."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads do not survive a fork
    for room in ("lexicographic", "rubric_judge", "corda.summary", "rubric.score"):
        import_module(f"moral_evals.scorers.{room}")
    for name in ("anyio._backends._asyncio", "datasets", "pytest_inspect_evals.metrics"):
        import_module(name)
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    for name in list(sys.modules):
        if name.partition(".")[0] == "moral_evals":
            del sys.modules[name]
    gc.freeze()


def main() -> None:
    """Print the survivors as they are found, then the table by file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files from the root; all of ROOMS by default")
    parser.add_argument("--sample", type=int, help="about so many mutants in all, seeded")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=Path, help="only the survivors in the output of a run")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    options = parser.parse_args()
    os.chdir(ROOT)
    files = options.files or [str(f) for room in ROOMS for f in sorted(Path(room).glob("*.py"))]
    everything = sum(len(_mutations(f)) for f in files)
    share = min(1.0, (options.sample or everything) / everything)
    lines = set(options.again.read_text(encoding="utf-8").splitlines()) if options.again else set()
    numbers = {
        f: named(f, lines) if options.again else chosen(f, share, options.seed) for f in files
    }
    end = time.monotonic() + 60 * options.minutes
    _preload()
    reports = [
        check(
            file,
            wanted,
            _baseline(file if file in TESTS else file.rpartition("/")[0]),
            lambda: time.monotonic() > end,
        )
        for file, wanted in numbers.items()
        if wanted
    ]
    print("\n| file | mutants | killed | timeouts | survived | noticed |")
    print("|---|---:|---:|---:|---:|---:|")
    whole = Report("all")
    for report in reports:
        print(report.row())
        whole.fates += report.fates
    print(whole.row())


if __name__ == "__main__":
    main()
