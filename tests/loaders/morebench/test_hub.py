"""The published data set: from the hub's local cache, from a stand-in server, or one line why not.

No network: offline cases use a cache folder of the hub's layout, replies of the hub come from a
loopback server (case F56).
"""

import csv
import dataclasses
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.morebench import hub
from moral_evals.loaders.morebench.data import MOREBENCH, MOREBENCH_THEORY, Filters, load
from moral_evals.loaders.morebench.records import THEORIES

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40
FILE = "morebench_public.csv"


def csv_text(rows: int = 3, criteria: int = 2, theory: str = "neutral") -> str:
    """A file in upstream's format, far smaller than the published one."""
    lines = ["DILEMMA,DILEMMA_SOURCE,DILEMMA_TYPE,THEORY,RUBRIC,ROLE_DOMAIN,CONTEXT"]
    for i in range(rows):
        items = [
            {"annotations": {"rubric_dimension": "other"}, "id": f"{j}", "title": "t", "weight": 1}
            for j in range(criteria)
        ]
        role = ["ai_advisor", "ai_agent"][i % 2]
        lines.append(f'Dilemma {i},daily_dilemmas,short_case,{theory},"{items!r}",{role},Law')
    return "\n".join(lines) + "\n"


def test_the_made_up_file_is_csv():
    assert len(list(csv.DictReader(csv_text(3).splitlines()))) == 3


# --- the hub's cache on this machine -----------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch) -> Path:
    """An empty hub cache and no network; the library reads both settings when it is imported."""
    folder = tmp_path / "hub"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return folder


def store(cache: Path, commit: str = COMMIT, ref: str | None = "main", **files: str) -> Path:
    """Put files (name without .csv = content) under a commit, as the hub library keeps them."""
    repository = cache / "datasets--morebench--morebench"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (snapshot / f"{name}.csv").write_text(content, encoding="utf-8")
    if ref is not None:
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / ref).write_text(commit, encoding="utf-8")
    return snapshot


def refusal(kind: type[SuiteError], call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_a_revision_the_commit_comes_from_main(cache: Path):
    snapshot = store(cache, morebench_public=csv_text())
    found = hub.fetch(FILE)
    assert found.commit == COMMIT
    assert found.path == snapshot / FILE


@pytest.mark.parametrize("revision", ["main", "v1", COMMIT, OTHER])
def test_a_branch_a_tag_or_a_commit_gives_its_own_commit(cache: Path, revision: str):
    store(cache, COMMIT, "main", morebench_public=csv_text(1))
    store(cache, OTHER, "v1", morebench_public=csv_text(2))
    expected = {"main": COMMIT, "v1": OTHER}.get(revision, revision)
    found = hub.fetch(FILE, revision)
    assert found.commit == expected
    assert found.path.parent.name == expected


def test_the_commit_of_a_file_in_a_folder_is_the_commit(cache: Path):
    snapshot = store(cache)
    (snapshot / "data").mkdir()
    (snapshot / "data" / "rows.csv").write_text("x", encoding="utf-8")
    assert hub.fetch("data/rows.csv").commit == COMMIT


@pytest.mark.parametrize("revision", [None, "main", "no-such-tag", OTHER])
def test_offline_and_not_in_the_cache_says_what_to_set(cache: Path, revision: str | None):
    message = refusal(SuiteError, hub.fetch, FILE, revision)
    assert FILE in message
    assert revision is None or revision in message
    assert all(advice in message for advice in ("HF_HUB_OFFLINE", "-T data="))


def test_offline_a_file_that_the_cached_commit_lacks_says_what_to_set(cache: Path):
    store(cache, morebench_public=csv_text())
    message = refusal(SuiteError, hub.fetch, "morebench_theory.csv")
    assert "morebench_theory.csv" in message
    assert "-T data=" in message


@pytest.mark.parametrize("revision", ["no such tag", "../../etc", "a" * 300])
def test_an_impossible_revision_is_refused_in_one_line(cache: Path, revision: str):
    store(cache, morebench_public=csv_text())
    assert "revision" in refusal(SuiteError, hub.fetch, FILE, revision)


def test_an_impossible_repository_is_refused_in_one_line(cache: Path):
    refusal(SuiteError, hub.fetch, FILE, None, "not/a/repository")


# --- counts of the published files -------------------------------------------------------------


def sized(rows: int, criteria: int, variant=MOREBENCH):
    """The variant as if the published file were this small."""
    return dataclasses.replace(variant, hub_rows=rows, hub_criteria=criteria)


def test_the_published_counts_are_those_of_the_design():
    counts = [(v.hub_file, v.hub_rows, v.hub_criteria) for v in (MOREBENCH, MOREBENCH_THEORY)]
    assert counts == [(FILE, 500, 11_568), ("morebench_theory.csv", 150, 3_835)]


@pytest.mark.parametrize("variant", [MOREBENCH, MOREBENCH_THEORY], ids=lambda v: v.name)
def test_a_hub_file_with_other_counts_is_refused_with_both(cache: Path, variant):
    content = csv_text(3, 2, variant.theories[0])
    store(cache, **{variant.hub_file.removesuffix(".csv"): content})
    message = refusal(DataError, load, variant)
    numbers = (3, 6, variant.hub_rows, variant.hub_criteria)
    assert all(str(n) in message for n in numbers)
    assert "-T revision=" in message


@pytest.mark.parametrize(("rows", "criteria"), [(3, 6), (2, 6), (3, 5)])
def test_rows_and_criteria_must_both_agree(cache: Path, rows: int, criteria: int):
    store(cache, morebench_public=csv_text(3, 2))
    if (rows, criteria) == (3, 6):
        assert len(load(sized(rows, criteria)).scenarios) == 3
    else:
        refusal(DataError, load, sized(rows, criteria))


def test_a_filter_neither_hides_wrong_counts_nor_makes_right_ones_wrong(cache: Path):
    store(cache, morebench_public=csv_text(3, 2))
    one_role = Filters(role="ai_agent")
    assert len(load(sized(3, 6), filters=one_role).scenarios) == 1
    refusal(DataError, load, sized(1, 2), filters=one_role)


def test_the_log_names_commit_file_and_hash(cache: Path):
    snapshot = store(cache, OTHER, "v1", morebench_public=csv_text(3, 2))
    found = load(sized(3, 6), "hub", "v1").provenance
    assert found["commit"] == OTHER
    assert found["repository"] == "morebench/morebench"
    assert (found["data"], found["file"]) == ("hub", FILE)
    assert (found["scenarios"], found["criteria"]) == (3, 6)
    assert (snapshot / FILE).is_file()


def test_each_benchmark_reads_its_own_file_of_the_repository(cache: Path):
    themed = csv_text(2, 1, THEORIES[1])
    store(cache, morebench_public=csv_text(3, 2), morebench_theory=themed)
    assert load(sized(3, 6)).provenance["file"] == FILE
    found = load(sized(2, 2, MOREBENCH_THEORY))
    assert found.provenance["file"] == "morebench_theory.csv"
    assert {s.theory for s in found.scenarios} == {THEORIES[1]}


# --- replies of the hub, from a loopback server ------------------------------------------------

# repository name -> (status, headers) of the stand-in
REPLIES: dict[str, tuple[int, dict[str, str]]] = {
    "unauthorised": (401, {}),
    "gated": (403, {"X-Error-Code": "GatedRepo"}),
    "forbidden": (403, {}),
    "no-repository": (404, {"X-Error-Code": "RepoNotFound"}),
    "no-repository-without-token": (401, {"X-Error-Code": "RepoNotFound"}),
    "no-revision": (404, {"X-Error-Code": "RevisionNotFound"}),
    "no-file": (404, {"X-Error-Code": "EntryNotFound"}),
    "plain-404": (404, {}),
    "unavailable": (503, {}),
}


class StandIn(BaseHTTPRequestHandler):
    """Answers by the name of the repository; `good` serves the file."""

    def do_HEAD(self) -> None:
        self.reply(send_body=False)

    def do_GET(self) -> None:
        self.reply(send_body=True)

    def reply(self, send_body: bool) -> None:
        body = csv_text().encode()
        status, headers = next(
            (r for name, r in REPLIES.items() if f"/case/{name}/" in self.path), (200, {})
        )
        if status == 200:
            headers = {"ETag": '"abc123"', "X-Repo-Commit": COMMIT}
        else:
            body = b""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if send_body:
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""


ASK = """
import json, sys, time
time.sleep = lambda seconds: None  # the hub library waits longer and longer before each retry
from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.morebench.hub import fetch
for name, revision in json.loads(sys.argv[1]):
    try:
        found = fetch("morebench_public.csv", revision, f"case/{name}")
        print(json.dumps([name, "found", found.commit, found.path.read_text()]))
    except SuiteError as error:
        print(json.dumps([name, "refused", str(error)]))
    except Exception as error:
        print(json.dumps([name, "crashed", repr(error)]))
"""


def ask(endpoint: str, folder: Path, names: list[str]) -> tuple[dict[str, list[str]], str]:
    """Fetch from each repository in a process of its own; (what came of it by name, stderr)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    environment |= {
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(folder / "home"),
        "HF_HUB_CACHE": str(folder / "hub"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    asked = [(name, "v9" if name == "no-revision" else None) for name in names]
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(asked)],
        cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {name: rest for name, *rest in map(json.loads, done.stdout.splitlines())}
    return found, done.stderr


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        found, errors = ask(endpoint, tmp_path_factory.mktemp("stand-in"), [*REPLIES, "good"])
        yield {**found, "stderr": [errors]}
    finally:
        server.shutdown()
        server.server_close()


def test_a_file_is_fetched_and_its_commit_resolved(answers: dict[str, list[str]]):
    assert answers["good"] == ["found", COMMIT, csv_text()]


@pytest.mark.parametrize("name", REPLIES)
def test_every_refusal_of_the_hub_is_one_line_that_names_the_file(
    answers: dict[str, list[str]], name: str
):
    outcome, message = answers[name]
    assert outcome == "refused", message
    assert "\n" not in message
    assert f"case/{name}/{FILE}" in message


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("unauthorised", "HF_TOKEN"),
        ("gated", "HF_TOKEN"),
        ("forbidden", "HF_TOKEN"),
        ("no-repository", "-T data=PATH"),
        ("no-repository-without-token", "HF_TOKEN"),
        ("no-revision", "-T revision="),
        ("no-file", "no such file"),
        ("unavailable", "-T data="),
    ],
)
def test_a_refusal_of_the_hub_says_what_to_set(
    answers: dict[str, list[str]], name: str, advice: str
):
    assert advice in answers[name][1]


def test_a_wrong_revision_is_named(answers: dict[str, list[str]]):
    assert "'v9'" in answers["no-revision"][1]


def test_no_stack_trace_is_printed(answers: dict[str, list[str]]):
    assert "Traceback" not in answers["stderr"][0]


def test_no_hub_at_the_address_says_what_to_set(tmp_path: Path):
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as closed:
        port = closed.server_port
    found, errors = ask(f"http://127.0.0.1:{port}", tmp_path, ["good"])
    outcome, message = found["good"]
    assert outcome == "refused", message
    assert "network" in message
    assert "-T data=" in message
    assert "\n" not in message
    assert "Traceback" not in errors
