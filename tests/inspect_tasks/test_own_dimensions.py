"""Nine dimensions of a user's own, from the data to every report."""

import json
import re
from pathlib import Path

import pytest
from inspect_ai import score as score_again
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, get_model

from moral_evals.inspect_tasks import morebench
from moral_evals.loaders.errors import SuiteError
from moral_evals.reports.__main__ import main as moral_reports
from moral_evals.reports.compare.command import compare
from moral_evals.reports.exchange.export_rewards import export_rewards
from moral_evals.reports.plots.catalogue import rubric_drawings
from moral_evals.reports.plots.palette import marks
from moral_evals.reports.runs.frames import criteria_df, scenarios_df
from moral_evals.reports.runs.rubric_runs import dimensions_shown, rubric_runs
from moral_evals.scorers.rubric_judge import rubric_judge
from tests.mocks import always, criterion_of, metrics, mock, run, thinking

NINE = ("tact", "candour", "care for bystanders", "thrift", "regular", "scored", "clear", "gap",
        "patience")  # fmt: skip
FULFILLED = 2
"""Of a dilemma's nine criteria, all of weight 1, the judge finds the first so many met."""


def name_in_log(dimension: str) -> str:
    """`regular`, `scored`, `clear` and `gap` name other metrics already."""
    key = dimension.replace(" ", "_")
    return f"dim_{key}" if dimension in ("regular", "scored", "clear", "gap") else key


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    criteria = [{"id": f"c{n}", "text": f"Point {n}.", "weight": 1, "dimension": d}
                for n, d in enumerate(NINE)]  # fmt: skip
    usual = {"id": "usual", "text": "Point 0.", "weight": 1, "dimension": "identifying"}
    rows = [
        {"schema_version": "dilemma-1", "id": i, "dilemma": f"What of {i}?", "criteria": rubric}
        for i, rubric in {"all": criteria, "one": [*criteria[-1:], usual]}.items()
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "own.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "names.txt").write_text("\n".join(NINE), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    return tmp_path


def judge() -> Model:
    def say(messages):
        point = re.match(r"Point (\d)", criterion_of(messages))
        return "yes" if point and int(point[1]) < FULFILLED else "no"

    return mock(say)


def finished(folder: Path, judges: list[Model] | None = None, **more) -> EvalLog:
    task = morebench(data="own.jsonl", dimensions="names.txt", judge_cache=False, **more)
    candidate = always(thinking("I weigh it.", "So be it."))
    log = run(task, candidate, judges or judge(), log_dir=str(folder / "logs"), log_realtime=False)
    assert log.status == "success", log.error
    return log


def test_the_metrics_stay_within_twenty_names_and_the_users_own_go_first(folder: Path):
    found = metrics(finished(folder))
    assert len(found) == 20
    # 13 figures stand there always: seven of the nine have room
    assert [name for name in found if name in map(name_in_log, NINE)] == [
        *map(name_in_log, NINE[:7])
    ]
    assert found["tact"] == found["candour"] == 1
    assert found["care_for_bystanders"] == found["dim_regular"] == found["dim_clear"] == 0
    assert found["regular"] == pytest.approx((2 / 9 + 1 / 2) / 2)
    assert found["scored"] == 2


def test_a_panel_asked_about_refusals_has_twenty_too(folder: Path):
    found = metrics(finished(folder, judges=[judge(), judge()], ask_refusal=True))
    assert len(found) == 20
    assert {"alpha", "refusal_rate", "tact", "regular_lower"} <= found.keys()


def test_every_sample_has_every_name(folder: Path):
    log = finished(folder)
    for sample in log.samples:
        value = sample.scores["rubric_judge"].value
        assert [*value][7:16] == ["dim_" + d.replace(" ", "_") for d in NINE]
    one = log.samples[1].scores["rubric_judge"].value
    assert one["dim_patience"] == 0
    assert one["dim_tact"] != one["dim_tact"], "not in this rubric: nan"
    assert log.eval.metadata["dimensions"] == [*NINE]


def test_a_log_is_judged_again_without_the_file(folder: Path):
    log = finished(folder)
    (folder / "names.txt").unlink()
    again = score_again(log, rubric_judge(judge_cache=False), model=get_model("mockllm/model"),
                        model_roles={"grader": judge()}, display="none")  # fmt: skip
    assert metrics(again) == metrics(log)


def test_reports_and_frames_have_them(folder: Path):
    log = finished(folder)
    shown = dimensions_shown(rubric_runs([log.location]))
    assert shown == ("identifying", *NINE), "of the benchmark's what the data use"
    (report,) = compare([log.location])
    table = next(t for t in report.tables if t.name == "dimensions")
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["candour"].estimate == 1
    assert row["patience"].estimate == 0
    scenarios = scenarios_df(log.location).set_index("id")
    assert scenarios.loc["all", "dim_care_for_bystanders"] == 0
    assert set(criteria_df(log.location)["dimension"]) == {"identifying", *NINE}
    runs = rubric_runs([log.location])
    drawn = {d.name: d for d in rubric_drawings(runs, ["m"], marks(["m"]))}
    figure = drawn["dimensions"].draw()
    words = " ".join(
        " ".join(label.get_text().split()) for label in figure.axes[0].get_xticklabels()
    )
    assert all(d in words for d in NINE)


def test_a_run_without_them_stands_beside_one_that_has_them(folder: Path):
    own = finished(folder)
    plain = run(morebench(data="sample", judge_cache=False), always(thinking("I.", "So.")),
                always("yes"), limit=1, log_dir=str(folder / "more"))  # fmt: skip
    runs = rubric_runs([own.location, plain.location])
    assert dimensions_shown(runs)[-9:] == NINE
    lacking = next(r for r in runs if r.log.location == plain.location)
    assert lacking.dimension("tact").shape == (1,)


def test_rewards_have_them_as_a_list(folder: Path):
    export_rewards([finished(folder).location], folder / "rewards")
    lines = (folder / "rewards/rewards.jsonl").read_text(encoding="utf-8").splitlines()
    by_id = {row["id"]: row for row in map(json.loads, lines)}
    shares = {d["dimension"]: d["share"] for d in by_id["all"]["own_dimensions"]}
    assert shares == {d: float(n < FULFILLED) for n, d in enumerate(NINE)}
    assert by_id["one"]["dimensions"]["dim_identifying"] == 1
    assert by_id["one"]["own_dimensions"][0] == {"dimension": "tact", "share": None}


def test_the_viewer_shows_them_to_the_left_of_the_benchmarks(folder: Path):
    log = read_eval_log(finished(folder).location)
    view = log.eval.viewer.task_samples_view
    columns = [c.id for c in view.columns]
    own = [i for i, c in enumerate(columns) if "dim_tact" in c or "dim_patience" in c]
    usual = next(i for i, c in enumerate(columns) if "dim_identifying" in c)
    assert len(own) == 2
    assert max(own) < usual
    assert view.score_labels["dim_care_for_bystanders"] == "care for bystanders"


def test_a_page_is_made_without_the_benchmarks_dimensions(folder: Path):
    page = folder / "page.html"
    assert moral_reports(["page", finished(folder).location, "--out", str(page)]) == 0
    assert "care for bystanders" in page.read_text(encoding="utf-8")


def test_a_slip_in_the_options_name_is_answered_with_the_nearest(folder: Path):
    with pytest.raises(SuiteError, match=r"-T dimension: .*did you mean 'dimensions'\?"):
        morebench(data="own.jsonl", dimension="names.txt")
