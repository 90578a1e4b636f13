"""A person's answers from a file and at a terminal give the figures that one computes by hand."""

import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.model import get_model

from moral_evals.inspect_tasks import corda, morebench
from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.tables.answer_file import read_answers
from moral_evals.reports.runs.asked import own_params, solver_text
from moral_evals.solvers.from_file import answers_from_file
from tests.cases import cases
from tests.chain_figures import chain_figures
from tests.inspect_tasks.test_corda import CHOICES, e12_file
from tests.mocks import always, criterion_of, metrics, mock, run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def anna():
    return get_model("answers/anna", memoize=False)


def table(path: Path, rows: list[dict[str, object]]) -> str:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


# --- MoReBench ---------------------------------------------------------------------------------


def rubric_log(tmp_path: Path, rows: list[dict[str, object]], name: str = "anna.csv") -> EvalLog:
    """Three dilemmas, weights 3, 2 and -1; the judge says yes to the first criterion alone."""
    dilemmas = [{"id": i, "dilemma": f"Case {i}?"} for i in ("one", "two", "three")]
    task = morebench(data=cases(tmp_path, [3, 2, -1], dilemmas), judged="both")
    judge = mock(lambda m: "yes" if criterion_of(m).endswith("0.") else "no")
    solver = answers_from_file(table(tmp_path / name, rows))
    return run(task, anna(), judge, solver=solver)


@pytest.mark.parametrize("name", ["anna.csv", "anna.jsonl"])
def test_texts_are_judged_under_the_persons_name(tmp_path, name, caplog):
    rows = [
        {"id": "one", "text": "Tell her.", "trace": "She asked."},
        {"id": "two", "text": "Wait.", "trace": ""},
        {"id": "thre", "text": "Never read.", "trace": ""},
    ]
    log = rubric_log(tmp_path, rows, name)
    assert log.eval.model == "answers/anna"
    assert log.status == "success"
    first = {str(s.id): s.scores for s in log.samples}
    # 3 for the yes, 1 for the fault avoided, of 6
    assert first["one"]["rubric_judge"].value["score"] == pytest.approx(4 / 6)
    assert first["one"]["rubric_judge"].answer == "She asked."
    assert first["one"]["rubric_judge_response"].answer == "Tell her."
    assert first["two"]["rubric_judge"].reason == "no_trace"
    assert first["three"]["rubric_judge"].reason == "no_response"
    assert metrics(log)["regular"] == pytest.approx(4 / 6)
    assert metrics(log, "rubric_judge_response")["regular"] == pytest.approx(4 / 6)
    assert "no answer for sample 'three'; the nearest id there is 'thre'" in caplog.text


def test_the_record_says_that_no_prompt_of_the_suite_was_sent(tmp_path):
    log = rubric_log(tmp_path, [{"id": "one", "text": "Tell her."}])
    assert solver_text(log).rpartition("/")[2] == "answers_from_file", "whose file is no condition"
    assert own_params(log) is None
    score = log.samples[0].scores["rubric_judge"]
    assert not score.metadata.get("candidate_prompts_sha256")


# --- CORDA -------------------------------------------------------------------------------------


def e12_rows(log: EvalLog, form: str) -> list[dict[str, object]]:
    """Example E12's choices as a table, by option id or by the label shown."""
    rows = []
    for sample in log.samples:
        found = sample.metadata
        for j, shown in enumerate(found["shown"]):
            chosen = CHOICES[found["condition"]][found["chain_id"]][j][found["shuffle"]]
            labels = {o["option_id"]: o["label"] for o in shown}
            option = "" if chosen == "-" else f"o{chosen}"
            rows.append(
                {
                    "chain": found["chain_id"],
                    "condition": found["condition"],
                    "shuffle": found["shuffle"],
                    "step": f"s{j + 1}",
                    "answer": option if form == "option_ids" else labels.get(option, "NONE"),
                }
            )
    return rows


@pytest.fixture
def layouts(tmp_path) -> EvalLog:
    """A run whose samples show the layouts, whatever was answered."""
    return run(corda(data=e12_file(tmp_path)), always("ANSWER: -"), None)


@pytest.mark.parametrize("form", ["option_ids", "labels"])
@pytest.mark.parametrize("name", ["anna.csv", "anna.jsonl"])
def test_choices_from_a_file_give_the_figures_of_example_e12(tmp_path, layouts, form, name):
    file = table(tmp_path / name, e12_rows(layouts, form))
    task = corda(data=e12_file(tmp_path))
    log = run(task, anna(), None, solver=answers_from_file(file, form))
    found = chain_figures(log)
    assert found["unconditioned.lms"] == pytest.approx(13 / 16)
    assert found["unconditioned.agreement"] == pytest.approx(17 / 24)
    assert found["conditioning_effect"] == pytest.approx(-7 / 24)
    assert found["unconditioned.missing.abstained"] == pytest.approx(1 / 16)
    assert found["unconditioned.missing.error"] == 0


def test_rollouts_without_a_row_are_missing_and_stop_nothing(tmp_path, layouts):
    rows = [r for r in e12_rows(layouts, "option_ids") if r["chain"] == "c1"]
    file = table(tmp_path / "anna.csv", rows)
    log = run(corda(data=e12_file(tmp_path)), anna(), None, solver=answers_from_file(file))
    assert log.status == "success"
    assert chain_figures(log)["unconditioned.missing.abstained"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"answer": "o7"}, "row 1, field answer: 'o7' is none; the step's option ids are 'o"),
        ({"step": "s9"}, "row 1, field step: chain 'c1' has no step 's9'"),
    ],
)
def test_an_answer_that_does_not_fit_is_named_by_row(tmp_path, layouts, change, part):
    rows = e12_rows(layouts, "option_ids")
    rows[0] |= change
    solver = answers_from_file(table(tmp_path / "anna.csv", rows))
    log = run(corda(data=e12_file(tmp_path)), anna(), None, solver=solver)
    problems = [s.error.message for s in log.samples if s.error]
    assert len(problems) == 1 and part in problems[0].replace("\\'", "'")


# --- files that are refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("a.csv", "id,txt\none,Yes.\n", "column text is missing"),
        ("a.csv", "id,text,Trace\none,Yes.,So.\n", "'Trace' is not known (did you mean trace?)"),
        ("a.csv", "id,text\none,Yes.\none,No.\n", "row 2, field id: 'one' stands in the file twice"),
        ("a.csv", "id,text\n ,Yes.\n", "row 1, field id"),
        ("a.csv", "id,text\n", "has no rows"),
        ("a.csv", "chain,condition,shuffle,step\nc,own,0,s1\n", "column answer is missing"),
        ("a.csv", "chain,condition,shuffle,step,answer\nc,mine,0,s1,o1\n", "row 1, field condition"),
        ("a.csv", "chain,condition,shuffle,step,answer\nc,own,-1,s1,o1\n", "row 1, field shuffle"),
        ("a.csv", "chain,condition,shuffle,step,answer\nc,own,0,s1,o1\nc,own,0,s1,o2\n",
         "row 2, field step: this step of the rollout stands in row 1 too"),
        ("a.jsonl", '{"id": "one", "text": "Yes.", "by": "anna"}', "row 1, field by"),
        ("a.jsonl", '{"id": 7, "text": "Yes."}', "row 1, field id"),
        ("a.jsonl", "[1]", "row 1: must be a JSON object"),
        ("a.txt", "one: yes", "must end in .csv, .jsonl"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_row_and_field(tmp_path, name, text, part):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        read_answers(path)
    assert part in str(caught.value) and "\n" not in str(caught.value)


def test_the_wrong_kind_of_file_and_a_missing_one(tmp_path):
    file = table(tmp_path / "anna.csv", [{"id": "one", "text": "Yes."}])
    log = run(corda(data=e12_file(tmp_path)), anna(), None, solver=answers_from_file(file))
    assert "holds texts, for `morebench`" in log.samples[0].error.message
    with pytest.raises(SuiteError, match=r"-S file=.*no such file"):
        answers_from_file(str(tmp_path / "none.csv"))
    assert issubclass(DataError, SuiteError)


def test_a_name_alone_cannot_be_asked(tmp_path):
    log = run(corda(data=e12_file(tmp_path)), anna(), None)
    assert "--solver moral_evals/answers_from_file" in log.samples[0].error.message


# --- at a terminal -------------------------------------------------------------------------------


def at_terminal(folder: Path, words: list[str], answer) -> EvalLog:
    """Run a command in a pseudo-terminal; `answer` maps what was printed to a line, or None."""
    own, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40"}
    process = subprocess.Popen(
        [sys.executable, "-m", "inspect_ai", "eval", *words, "--log-dir", str(folder / "logs"),
         "--display", "plain"],
        cwd=ROOT, stdin=its, stdout=its, stderr=its, start_new_session=True, env=environment,
    )  # fmt: skip
    os.close(its)
    signal.alarm(180)
    try:
        fresh = ""
        while part := os.read(own, 65536):
            fresh += part.decode("utf-8", "replace")
            if (line := answer(fresh)) is not None:
                os.write(own, f"{line}\n".encode())
                fresh = ""
    except OSError:  # how a pseudo-terminal says that its other side is closed
        pass
    finally:
        signal.alarm(0)
        os.close(own)
    assert process.wait() == 0, fresh
    (log,) = list_eval_logs(str(folder / "logs"))
    return read_eval_log(log.name)


def test_a_person_at_the_terminal_answers_a_chain(tmp_path):
    said = iter(["what?"])

    def answer(printed: str) -> str | None:
        asked = re.search(r"Your choice \((\w+), (\w+)\): $", printed)
        # a slip first, then always the option that stands first
        return asked and next(said, asked[1].lower())

    words = ["inspect_tasks/corda.py", "-T", f"data={e12_file(tmp_path)}", "-T", "shuffles=1",
             "-T", "conditions=unconditioned", "--model", "person/anna"]  # fmt: skip
    log = at_terminal(tmp_path, words, answer)
    assert log.eval.model == "person/anna"
    for sample in log.samples:
        first = [shown[0]["label"] for shown in sample.metadata["shown"]]
        assert [r["label"] for r in sample.store["corda_steps"]] == first
    assert chain_figures(log)["unconditioned.missing.unparsed"] == 0


def test_a_person_at_the_terminal_writes_about_a_dilemma(tmp_path):
    lines = iter(["She asked,", "so she is owed it.", ".", "Tell her.", "."])
    printed_so_far: list[str] = []

    def answer(printed: str) -> str | None:
        printed_so_far.append(printed)
        return next(lines, None) if "alone:" in "".join(printed_so_far) else None

    data = cases(tmp_path, [3, -1], [{"id": "one", "dilemma": "Is she owed the truth?"}])
    words = ["inspect_tasks/morebench.py@morebench", "-T", f"data={data}", "--no-score",
             "--model", "person/anna"]  # fmt: skip
    log = at_terminal(tmp_path, words, answer)
    (sample,) = log.samples
    assert "She asked,\nso she is owed it." in sample.output.completion
    assert sample.output.completion.endswith("Tell her.")
