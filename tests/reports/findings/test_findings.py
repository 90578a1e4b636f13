"""`moral-reports findings` over real logs: what is reported, merged, refused."""

import argparse
import csv
import io
import json

import pytest
from inspect_ai import score
from inspect_ai.log import write_eval_log
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import morebench, morebench_theory
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.__main__ import main
from moral_evals.reports.findings import command as command
from moral_evals.reports.findings.command import findings
from moral_evals.reports.form.document import merged
from moral_evals.reports.runs.choice import Choice
from moral_evals.reports.runs.rubric_runs import rubric_runs
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, mock, output, run, thinking

MODELS = ("small", "large")
SCENARIOS = {morebench: 3, morebench_theory: 7}


def candidate(name, size):
    """Longer traces for a larger model, and of different length from dilemma to dilemma."""

    def reply(messages, *_):
        words = "because it matters " * (size + len(messages[-1].text) % 7)
        return thinking(words, "So be it. " * size)

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def judge():
    return mock(lambda messages: output("yes" if len(messages[-1].text) % 3 else "no"))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for size, name in enumerate(MODELS, 1):
        for task, scenarios in SCENARIOS.items():
            run(
                task(data="sample", judged="both"), candidate(name, size), judge(),
                limit=scenarios, log_dir=str(folder),
            )  # fmt: skip
    return str(folder)


@pytest.fixture
def files(tmp_path):
    models = tmp_path / "models.csv"
    rows = [f"{name},M,{10**i}\n" for i, name in enumerate(MODELS)]
    models.write_text("model,family,size_b\n" + "".join(rows))
    other = tmp_path / "other.csv"
    other.write_text("model,Arena\nsmall,1100\nlarge,\n")
    return str(models), str(other)


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    command.add_command(parser.add_subparsers(required=True))
    return parser.parse_args(["findings", *arguments])


def test_a_report_for_each_part(logs, files):
    titles = [report.title for report in findings([logs], *files)]
    parts = {title.partition(":")[0] for title in titles}
    assert parts == {
        "Harmless against logical", "Scale", "Correlation with other benchmarks", "Theories",
        "Trace against response",
    }  # fmt: skip
    assert titles[0] == "Harmless against logical: morebench, trace judged"
    assert "Trace against response: morebench_theory" in titles
    assert sum(t.startswith("Theories") for t in titles) == 2  # trace, response


def test_without_files_there_is_neither_scale_nor_correlation(logs):
    titles = [report.title for report in findings([logs])]
    assert not [t for t in titles if t.startswith(("Scale", "Correlation"))]


def test_summaries_are_enough_to_know_a_dilemma_again(logs):
    found = next(r for r in rubric_runs([logs]) if r.conditions.task == "morebench_theory")
    twice = [d for d in found.dilemmas if found.dilemmas.count(d) == 2]
    assert len(found.dilemmas) == 7 and len(twice) == 2
    theories = {
        t for t, d in zip(found.labels["theory"], found.dilemmas, strict=True) if d in twice
    }
    assert len(theories) == 2


def test_one_document_in_each_form(logs, files, tmp_path, capsys):
    models, other = files
    out = tmp_path / "report.json"
    more = ["--models", models, "--benchmarks", other]
    command.run(parsed(logs, *more, "--format", "json", "--out", str(out)))
    document = json.loads(out.read_text())
    names = [table["name"] for table in document["tables"]]
    assert len(names) == len(set(names)) > 8
    command.run(parsed(logs, *more, "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["table"] for row in rows} == set(names)
    command.run(parsed(logs, *more))
    assert capsys.readouterr().out.count("Trace against response") >= 2


def test_merging_keeps_every_remark(logs):
    reports = findings([logs])
    one = merged(reports, "Findings")
    ends = [t.name.rpartition("/")[2] for t in one.tables]
    assert ends == [t.name for r in reports for t in r.tables]
    kept = [note for table in one.tables for note in table.notes]
    for report in reports:
        assert all(note in kept for note in report.notes)
    assert merged(reports[:1], "Findings") is reports[0]


def test_names_that_fit_nothing_are_refused(logs, tmp_path):
    path = tmp_path / "models.csv"
    path.write_text("model,family,size_b\nsmal,M,7\n")
    with pytest.raises(SuiteError, match=r"--models: the file has none .*'mockllm/small'.*'smal'"):
        findings([logs], models=str(path))


def test_a_scorer_that_no_log_has_is_refused(logs):
    with pytest.raises(SuiteError, match="Allowed: rubric_judge, rubric_judge_response"):
        findings([logs], choice=Choice(("rubric",)))
    with pytest.raises(SuiteError, match="no such condition"):
        findings([logs], allowed=["jugde"])


def test_two_judges_are_refused_and_a_choice_of_scorer_helps(tmp_path):
    log = run(morebench(data="sample"), candidate("a", 2), judge(), limit=3,
              log_dir=str(tmp_path))  # fmt: skip
    other = get_model("mockllm/other", custom_outputs=lambda *_: output("yes"), memoize=False)
    again = score(log, rubric_judge(), action="append", model_roles={"grader": other},
                  display="none")  # fmt: skip
    write_eval_log(again, log.location)
    with pytest.raises(SuiteError, match="judge differs"):
        findings([str(tmp_path)])
    chosen = findings([str(tmp_path)], choice=Choice(("rubric_judge",)))
    assert [r.title for r in chosen] == ["Harmless against logical: morebench, trace judged"]
    assert len(findings([str(tmp_path)], allowed=["judge"])) == 1


def test_a_response_judged_later_is_held_against_the_trace(tmp_path):
    log = run(morebench(data="sample"), candidate("a", 2), judge(), limit=4,
              log_dir=str(tmp_path))  # fmt: skip
    again = score(log, rubric_judge(judged="response"), action="append",
                  model_roles={"grader": judge()}, display="none")  # fmt: skip
    write_eval_log(again, log.location)
    last = findings([str(tmp_path)])[-1]
    assert last.title == "Trace against response: morebench"
    assert last.tables[0].rows[0][1] == 4


def test_logs_without_scores_are_refused(tmp_path, capsys):
    run(morebench(data="sample"), always(thinking("", "So.")), judge(), limit=2,
        log_dir=str(tmp_path))  # fmt: skip
    assert findings([str(tmp_path)]) == []
    assert main(["findings", str(tmp_path)]) == 1
    assert "nothing scored that a finding rests on" in capsys.readouterr().err
    # the page holds the rest all the same
    assert main(["page", str(tmp_path), "--out", str(tmp_path / "page.html")]) == 0
