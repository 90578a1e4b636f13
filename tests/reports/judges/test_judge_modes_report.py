"""`moral-reports judge-modes`: both ways of judging on one log, against judges with known flips."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ModelConfig

from benchmarks.stub_server import Stats, StubServer, verdict
from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.records import ScenarioMetadata
from moral_evals.reports.__main__ import main
from moral_evals.reports.judges.compare_judgings import compare_judgings, last_two
from moral_evals.reports.judges.judgings import judgings
from moral_evals.reports.judges.rejudge import judge_modes
from moral_evals.scorers.judging.cache import VerdictCache
from moral_evals.scorers.rubric.record import RubricRecord
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, criteria_of, mock, run, thinking

CHUNK = 8
STUB = "openai-api/modes/judge"


class Stub(StubServer):
    """The stub server, which also judges whole rubrics: every fourth criterion the other way."""

    def _answer(self, body: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
        scope, item, reply = super()._answer(body)
        parts = body["messages"][-1]["content"]
        listed = re.findall(r"^(\d+)\. (.+)$", parts[-1]["text"], re.M) if scope == "judge" else []
        if listed:
            text = parts[0]["text"].split("\n", 1)[1].rpartition("\n")[0]
            yes = {int(n): verdict(c, text) != (int(n) % 4 == 0) for n, c in listed}
            reply = {"content": "\n".join(f"{n}: {'yes' if y else 'no'}" for n, y in yes.items())}
        return scope, item, reply


@pytest.fixture(scope="module")
def server():
    # one for all tests: Inspect keeps a model, and with it the address, for the whole process
    with Stub() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment("modes").items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def stub(server):
    server.stats = Stats()
    return server


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> EvalLog:
    """A run of two dilemmas, whose candidate and judge cannot be had any more."""
    folder = tmp_path_factory.mktemp("logs")
    candidate = mock(lambda m: thinking(f"I weigh {m[-1].text[:40]}.", "So be it."))
    options = {"limit": 2, "log_dir": str(folder), "log_level": "error"}
    log = run(morebench(data="sample"), candidate, always("yes"), **options)
    log.eval.model = "openai/needs-a-key"
    log.eval.model_roles = {"grader": ModelConfig(model="openai/needs-one-too")}
    log.location = str(folder / "finished.eval")
    write_eval_log(log, log.location)
    return log


@pytest.fixture
def modes(finished, tmp_path, capsys):
    """Runs the command; its tables by name, with the estimates of intervals."""

    def command(out: str, *arguments: str) -> dict[str, list[list[Any]]]:
        options = [
            "--log-out",
            str(tmp_path / out),
            "--format",
            "json",
            "--rubric-chunk",
            str(CHUNK),
        ]
        assert main(["judge-modes", finished.location, *options, *arguments]) == 0
        tables = json.loads(capsys.readouterr().out)["tables"]
        plain = [[c["estimate"] if isinstance(c, dict) else c for c in r] for t in tables
                 for r in t["rows"]]  # fmt: skip
        return {t["name"]: [plain.pop(0) for _ in t["rows"]] for t in tables}

    return command


def rubrics(log: EvalLog) -> list[int]:
    return [len(s.metadata_as(ScenarioMetadata).criteria) for s in log.samples]


def chunk_sizes(criteria: int) -> list[int]:
    calls = -(-criteria // CHUNK)
    return [(i + 1) * criteria // calls - i * criteria // calls for i in range(calls)]


def test_both_ways_are_compared_with_known_flips_and_calls(finished, stub, modes, tmp_path):
    found = modes("out.eval", "--judge", STUB)
    single, sizes = sum(rubrics(finished)), [c for n in rubrics(finished) for c in chunk_sizes(n)]
    assert len(sizes) < single / 4
    served = f"{STUB} (base_url={stub.base_url})"
    flipped = sum(size // 4 for size in sizes)
    assert found["agreement"][0][1] == pytest.approx(1 - flipped / single)
    assert [r[1:4] for r in found["judgings"]] == [[served, "criterion", "trace"],
                                                   [served, f"rubric by {CHUNK}", "trace"]]  # fmt: skip
    saved = pytest.approx(1 - len(sizes) / single)
    assert found["calls"][0] == ["calls", single, len(sizes), saved]
    assert found["calls"][1] == ["input tokens", 100 * single, 100 * len(sizes), saved]
    assert stub.stats.calls == {"judge": single + len(sizes)}, "the candidate was asked"
    written = read_eval_log(str(tmp_path / "out.eval"))
    for sample in written.samples:
        assert set(sample.scores) == {"outcome", "rubric_judge", "rubric_judge1", "rubric_judge2"}
        answers = {s.answer for name, s in sample.scores.items() if name != "outcome"}
        assert answers == {sample.scores["rubric_judge"].answer}
    assert written.eval.model == "openai/needs-a-key"
    assert written.eval.model_roles == finished.eval.model_roles
    scores = [s for s in written.results.scores if "regular" in s.metrics]
    assert [(s.params or {}).get("judge_mode") for s in scores[1:]] == ["criterion", "rubric"]


def test_what_was_judged_before_is_not_paid_again_and_counts_all_the_same(stub, modes, tmp_path):
    before = modes("first.eval", "--judge", "openai-api/modes/cached")
    paid = stub.stats.calls["judge"]
    after = modes("second.eval", "--judge", "openai-api/modes/cached")
    assert stub.stats.calls["judge"] == paid == sum(before["calls"][0][1:3])
    assert after["calls"] == before["calls"]
    assert after["agreement"] == before["agreement"]
    usage = read_eval_log(str(tmp_path / "second.eval")).samples[0].scores["rubric_judge1"].metadata
    assert "calls" not in usage["judge_usage"]
    assert usage["judge_usage"]["saved_calls"] > 0


def test_several_judges_make_a_panel(finished, stub, modes):
    names = ["openai-api/modes/one", "openai-api/modes/two", "openai-api/modes/three"]
    found = modes("panel.eval", *[a for name in names for a in ("--judge", name)])
    assert {row[1] for row in found["judgings"]} == {
        " + ".join(f"{name} (base_url={stub.base_url})" for name in names)
    }
    assert found["calls"][0][1] == 3 * sum(rubrics(finished))
    assert stub.stats.calls["judge"] == sum(found["calls"][0][1:3])


def test_without_a_judge_the_log_s_own_is_asked(finished, stub, modes, tmp_path):
    log = read_eval_log(finished.location)
    log.eval.model_roles = {"grader": ModelConfig(model="openai-api/modes/own")}
    judged = judge_modes(log, str(tmp_path / "own.eval"), judged="response", chunk=5, seed=3)
    for sample in judged.samples:
        facts = [sample.scores[n].metadata for n in ("rubric_judge1", "rubric_judge2")]
        assert [f["judge"] for f in facts] == ["openai-api/modes/own"] * 2
        assert [sample.scores["rubric_judge2"].answer, facts[1]["judged"]] == [
            "So be it.",
            "response",
        ]
        assert [facts[1]["rubric_chunk"], facts[1]["rubric_seed"]] == [5, 3]
    assert "rubric_judge1" not in log.samples[0].scores, "the caller's log is left as it is"


def test_an_output_log_is_never_replaced(finished, stub, capsys, tmp_path):
    out = tmp_path / "there.eval"
    out.write_text("mine", encoding="utf-8")
    arguments = ["judge-modes", finished.location, "--judge", STUB, "--log-out", str(out)]
    assert main(arguments) == 1
    assert "exists already; name another place with --log-out." in capsys.readouterr().err
    assert (out.read_text(encoding="utf-8"), stub.stats.calls.total()) == ("mine", 0)


def test_the_output_log_lies_in_the_working_folder_and_never_among_logs(
    finished, stub, capsys, tmp_path, monkeypatch
):
    source = Path(finished.location.removeprefix("file://"))
    monkeypatch.chdir(tmp_path)
    assert main(["judge-modes", finished.location, "--judge", STUB]) == 0
    out = tmp_path / f"{source.stem}-judge-modes.eval"
    assert len(read_eval_log(str(out)).samples[0].scores) == 4
    assert main(["judge-modes", finished.location, "--judge", STUB]) == 1
    assert out.name in capsys.readouterr().err
    monkeypatch.chdir(source.parent)
    assert main(["judge-modes", source.name, "--judge", STUB]) == 1
    assert "would lie among the logs" in capsys.readouterr().err
    assert not list(source.parent.glob("*-judge-modes.eval"))


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("nonesuch/model", "--judge nonesuch/model: Model API nonesuch"),
        ("openai/gpt", "--judge openai/gpt: "),
    ],
)
def test_a_judge_that_cannot_be_had_is_one_line(finished, tmp_path, capsys, judge, said):
    out = tmp_path / "out.eval"
    arguments = ["judge-modes", finished.location, "--log-out", str(out), "--judge", judge]
    assert main(arguments) == 1
    printed = capsys.readouterr().err.strip()
    assert printed.startswith(f"moral-reports: {said}")
    assert "\n" not in printed
    assert not out.exists()


def test_logs_that_cannot_be_judged_are_refused(finished, tmp_path, capsys):
    log = read_eval_log(finished.location)
    for name in ("a.eval", "b.eval"):
        write_eval_log(log, str(tmp_path / name))
    assert main(["judge-modes", str(tmp_path)]) == 1
    assert "2 logs here; name one of them." in capsys.readouterr().err
    log.samples = None
    with pytest.raises(SuiteError, match="no samples in this log"):
        judge_modes(log, str(tmp_path / "out.eval"))
    with pytest.raises(SuiteError, match="no judge: "):
        judge_modes(read_eval_log(finished.location), str(tmp_path / "out.eval"))


class BareYes(Stub):
    """A judge that says one bare Yes to a whole rubric, and so is asked criterion by criterion."""

    def _answer(self, body: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
        scope, item, reply = super()._answer(body)
        parts = body["messages"][-1]["content"]
        whole = scope == "judge" and re.search(r"^2\. ", parts[-1]["text"], re.M)
        return scope, item, {"content": "Yes"} if whole else reply


@pytest.mark.parametrize("cached", [True, False])
def test_a_judge_that_fails_at_whole_rubrics_does_not_agree_with_itself(
    finished, tmp_path, capsys, cached, monkeypatch
):
    out = str(tmp_path / "out.eval")
    with BareYes() as running:
        for name, value in running.environment(f"bare{cached}").items():
            monkeypatch.setenv(name, value)
        if not cached:
            monkeypatch.setattr(VerdictCache, "of", lambda *_: None)
        arguments = ["--judge", f"openai-api/bare{cached}/judge", "--log-out", out]
        assert main(["judge-modes", finished.location, *arguments]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "100.0% of the verdicts of whole rubrics read elsewhere, and left out" in shown
    report = compare_judgings(*last_two(judgings([out])[-2:]))
    assert "100.0%" in report.title
    (agreement,) = [t for t in report.tables if t.name == "agreement"]
    assert all(math.isnan(c.estimate) for c in agreement.rows[0][1:4])
    assert agreement.rows[0][4] == 0, "no pair counts"
    for sample in read_eval_log(out).samples:
        sources = RubricRecord.of(sample.scores["rubric_judge2"]).sources
        assert {*sources.values()} == {"cache" if cached else "alone"}
        assert len(sources) == len(sample.metadata["criteria"])


def test_whole_rubrics_that_are_read_are_counted_and_so_is_what_they_left_out(finished, tmp_path):
    def reply(messages):
        listed = criteria_of(messages)
        return "\n".join(f"{n}: yes" for n in listed if n != 2) if listed else "yes"

    roles = {"grader": [mock(reply)]}
    log = read_eval_log(finished.location)
    log.eval.model_roles = {}
    for mode in ("criterion", "rubric"):
        log = score(log, rubric_judge(judge_mode=mode), action="append", model="none/none",
                    model_roles=roles, display="none")  # fmt: skip
    write_eval_log(log, str(tmp_path / "left-out.eval"))
    first, second = judgings([str(tmp_path / "left-out.eval")])[-2:]
    report = compare_judgings(first, second)
    total, samples = sum(rubrics(finished)), len(finished.samples)
    (agreement,) = [t for t in report.tables if t.name == "agreement"]
    assert agreement.rows[0][4] == total - samples
    assert f"{samples / total:.1%} of the verdicts of whole rubrics read elsewhere" in report.title
