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
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

for _library in ("OPENBLAS", "OMP"):  # threads do not survive a fork
    os.environ[f"{_library}_NUM_THREADS"] = "1"

import pytest
from hypothesis import Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
from mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[1]

ROOMS = ("scorers/stats", "scorers/rubric", "scorers/corda")

_UNIT = "tests/scorers/"
TESTS = {
    "scorers/stats": ("stats", "oracles", "corda/test_contrasts.py"),
    "scorers/rubric": ("rubric", "oracles/test_morebench.py"),
    "scorers/corda": ("corda", "oracles", "test_lexicographic.py"),
}
"""By room the tests that may kill its mutants; whichever enter the changed function are run."""

KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"

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
    """The tests of a file as it is: seconds of each, and the lines of the functions it enters."""

    seconds: dict[str, float] = field(default_factory=dict)
    entered: dict[str, list[int]] = field(default_factory=dict)

    def of(self, mutation: Mutation) -> list[str]:
        """Tests that may notice a mutation, fastest first."""
        names = sorted(self.seconds, key=lambda name: self.seconds[name])
        if mutation.function is None or mutation.cached:
            return names
        first, last = mutation.function
        return [n for n in names if any(first <= line <= last for line in self.entered[n])]


class _Recorder:
    """A pytest plugin that fills a `Baseline` for one source file."""

    def __init__(self, file: Path) -> None:
        self.baseline = Baseline()
        self._file = str(file)
        self._known: dict[CodeType, bool] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        lines: set[int] = set()
        start = time.process_time()

        def enter(frame: FrameType, event: str, _: Any) -> None:
            code = frame.f_code
            if code not in self._known:
                self._known[code] = os.path.realpath(code.co_filename) == self._file
            if self._known[code] and event == "call":
                lines.add(code.co_firstlineno)

        sys.setprofile(enter)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            self.baseline.seconds[item.nodeid] = time.process_time() - start
            self.baseline.entered[item.nodeid] = sorted(lines)


def check(file: str, sample: float, seed: int, limit: Callable[[], bool]) -> Report:
    """Run the mutants of a file.

    Args:
        file: Path from the root.
        sample: Share of the mutants to run, 1 for all.
        seed: Of the sample.
        limit: Whether to stop early.
    """
    room = file.rpartition("/")[0]
    paths = [_UNIT + t for t in TESTS[room] if (ROOT / _UNIT / t).exists()]
    baseline = _baseline(ROOT / file, paths)
    found = _mutations(file)
    count = round(len(found) * sample)
    chosen = sorted(random.Random(f"{seed} {file}").sample(range(len(found)), count))
    report = Report(file)
    for number in chosen:
        if limit():
            print(f"{file}: out of time after {report.fates.total()} of {count}", flush=True)
            break
        mutation = found[number]
        tests = baseline.of(mutation)
        usual = sum(baseline.seconds[t] for t in tests)
        fate = _fate(file, number, tests, usual) if tests else SURVIVED
        report.fates[fate] += 1
        if fate == SURVIVED:
            report.survivors.append(mutation)
            print(f"{file}:{mutation.line}: {mutation.was} -> {mutation.now}", flush=True)
    return report


def _mutations(file: str) -> list[Mutation]:
    return mutations(ast.parse((ROOT / file).read_text(encoding="utf-8")))


def _baseline(file: Path, tests: Sequence[str]) -> Baseline:
    """Run the tests on the file as it is; they must pass."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        recorder = _Recorder(file)
        code = _pytest(tests, [recorder])
        with os.fdopen(writer, "w") as out:
            json.dump([code, recorder.baseline.seconds, recorder.baseline.entered], out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        code, seconds, entered = json.load(answer)
    os.waitpid(child, 0)
    if code != pytest.ExitCode.OK:
        raise SystemExit(f"{file}: its tests do not pass without a mutant: pytest {' '.join(tests)}")
    return Baseline(seconds, entered)


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
    if code == pytest.ExitCode.NO_TESTS_COLLECTED or code == pytest.ExitCode.USAGE_ERROR:
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
    for room in ("lexicographic", "rubric_judge", "corda.summary", "rubric.score"):
        import_module(f"moral_evals.scorers.{room}")
    import_module("pytest_inspect_evals.metrics")
    for name in list(sys.modules):
        if name.partition(".")[0] == "moral_evals":
            del sys.modules[name]


def main() -> None:
    """Print the survivors as they are found, then the table by file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files from the root; all of ROOMS by default")
    parser.add_argument("--sample", type=int, help="about so many mutants in all, seeded")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, help="stop after so many")
    options = parser.parse_args()
    os.chdir(ROOT)
    files = options.files or [
        str(f) for room in ROOMS for f in sorted(Path(room).glob("*.py")) if _mutations(str(f))
    ]
    share = 1.0
    if options.sample:
        share = min(1.0, options.sample / sum(len(_mutations(f)) for f in files))
    start = time.monotonic()
    _preload()
    reports = [
        check(
            f,
            share,
            options.seed,
            lambda: bool(options.minutes) and time.monotonic() - start > 60 * options.minutes,
        )
        for f in files
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
