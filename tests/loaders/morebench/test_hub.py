"""The published data set: from the hub's local cache, from a stand-in server, or one line why not.

No network: offline cases use a cache folder of the hub's layout, replies of the hub come from a
loopback server (case F56).
"""

import csv
import hashlib
import json
import logging
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

from moral_evals.loaders.errors import DataError, OptionError, SuiteError
from moral_evals.loaders.morebench import hub
from moral_evals.loaders.morebench.data import MOREBENCH, MOREBENCH_THEORY, Filters, load
from moral_evals.loaders.morebench.published import PUBLISHED, PublishedFile
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


def test_without_a_revision_the_pinned_commit_is_read(cache: Path):
    store(cache, COMMIT, "main", morebench_public=csv_text(1))
    snapshot = store(cache, hub.REVISION, None, morebench_public=csv_text(2))
    found = hub.fetch(FILE)
    assert found.commit == "8290fafe65d595aaa28315b50ec4b64da6d3bd5e"
    assert found.path == snapshot / FILE
    assert load(MOREBENCH).provenance["commit"] == found.commit


def test_a_revision_belongs_to_the_hub_alone(cache: Path):
    assert "-T data=hub" in refusal(OptionError, load, MOREBENCH, "sample", "main")


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
    assert hub.fetch("data/rows.csv", "main").commit == COMMIT


@pytest.mark.parametrize("revision", [hub.REVISION, "main", "no-such-tag", OTHER])
def test_offline_and_not_in_the_cache_says_what_to_set(cache: Path, revision: str):
    message = refusal(SuiteError, hub.fetch, FILE, revision)
    assert FILE in message
    assert revision in message
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
    refusal(SuiteError, hub.fetch, FILE, "main", "not/a/repository")


# --- facts of the published files --------------------------------------------------------------


@pytest.fixture
def small(monkeypatch) -> PublishedFile:
    """The published file, as if it were `csv_text(3, 2)`."""
    content = csv_text(3, 2).encode()
    facts = PublishedFile(
        rows=3,
        criteria=6,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        roles={"ai_advisor": 2, "ai_agent": 1},
    )
    monkeypatch.setitem(PUBLISHED, FILE, facts)
    return facts


def stored(cache: Path, content: str, filters: Filters | None = None) -> dict[str, Any]:
    """The log's facts about a file that lies at the pinned commit."""
    store(cache, hub.REVISION, None, morebench_public=content)
    return load(MOREBENCH, filters=filters).provenance


def test_the_published_facts_are_those_said_in_public():
    public, theory = PUBLISHED[FILE], PUBLISHED["morebench_theory.csv"]
    assert (public.bytes, public.rows, public.criteria) == (3_382_022, 500, 11_568)
    assert public.sha256 is not None
    assert public.sha256.startswith("e56d6278") and len(public.sha256) == 64
    assert public.roles == {"ai_advisor": 293, "ai_agent": 207}
    assert sum(public.roles.values()) == public.rows
    assert (theory.rows, theory.criteria) == (150, 3_835)
    assert {v.hub_file for v in (MOREBENCH, MOREBENCH_THEORY)} == set(PUBLISHED)


def test_the_published_file_gives_no_warning(cache: Path, small: PublishedFile, caplog):
    with caplog.at_level(logging.WARNING):
        assert stored(cache, csv_text(3, 2))["differs_from_published"] == []
    assert not caplog.records


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (csv_text(3, 2).replace("Law", "Art"), ["sha256"]),
        (csv_text(3, 2) + "\n", ["bytes", "sha256"]),
        (csv_text(3, 3), ["bytes", "sha256", "criteria"]),
        (
            csv_text(4, 2),
            ["bytes", "sha256", "rows", "criteria", "rows with role ai_agent"],
        ),
        (
            csv_text(3, 2).replace("ai_agent", "ai_advisor"),
            ["bytes", "sha256", "rows with role ai_advisor", "rows with role ai_agent"],
        ),
    ],
)
def test_a_differing_file_runs_with_a_warning_and_a_line_in_the_log(
    cache: Path, small: PublishedFile, caplog, content: str, named: list[str]
):
    with caplog.at_level(logging.WARNING):
        found = stored(cache, content)
    differing = found["differs_from_published"]
    assert [d.partition(" (published")[0].rpartition(" ")[0] for d in differing] == named
    [record] = caplog.records
    message = record.getMessage()
    assert "\n" not in message
    assert all(part in message for part in (FILE, hub.REVISION, *differing))
    assert found["scenarios"] > 0


def test_a_filter_neither_hides_a_difference_nor_makes_one(cache: Path, small: PublishedFile):
    one_role = Filters(role="ai_agent")
    assert stored(cache, csv_text(3, 2), one_role)["differs_from_published"] == []
    assert stored(cache, csv_text(4, 2), one_role)["differs_from_published"]


def test_a_local_copy_is_compared_with_nothing(cache: Path, tmp_path: Path):
    copy = tmp_path / FILE
    copy.write_text(csv_text(1), encoding="utf-8")
    assert load(MOREBENCH, str(copy)).provenance["differs_from_published"] == []


def test_a_new_column_of_the_hubs_file_is_a_warning(cache: Path, tmp_path: Path, caplog):
    text = csv_text(2).replace(",CONTEXT\n", ",CONTEXT,REVIEWED\n").replace(",Law\n", ",Law,no\n")
    store(cache, OTHER, "v1", morebench_public=text)
    assert len(load(MOREBENCH, "hub", "v1").scenarios) == 2
    assert "'REVIEWED' is not known" in caplog.text
    copy = tmp_path / FILE
    copy.write_text(text, encoding="utf-8")
    assert "'REVIEWED' is not known" in refusal(DataError, load, MOREBENCH, str(copy))


def test_the_log_names_commit_file_and_hash(cache: Path):
    snapshot = store(cache, OTHER, "v1", morebench_public=csv_text(3, 2))
    found = load(MOREBENCH, "hub", "v1").provenance
    assert found["commit"] == OTHER
    assert found["repository"] == "morebench/morebench"
    assert (found["data"], found["file"]) == ("hub", FILE)
    assert (found["scenarios"], found["criteria"]) == (3, 6)
    assert found["sha256"] == hashlib.sha256((snapshot / FILE).read_bytes()).hexdigest()


def test_each_benchmark_reads_its_own_file_of_the_repository(cache: Path):
    themed = csv_text(2, 1, THEORIES[1])
    store(cache, morebench_public=csv_text(3, 2), morebench_theory=themed)
    assert load(MOREBENCH, revision="main").provenance["file"] == FILE
    found = load(MOREBENCH_THEORY, revision="main")
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
    asked = [(name, "v9" if name == "no-revision" else "main") for name in names]
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
