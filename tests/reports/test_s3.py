"""Every command that reads a folder reads S3, and every one that writes puts it where it says.

The bucket is moto's, on loopback.
"""

import os

import boto3
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from inspect_ai.log import read_eval_log
from s3fs import S3FileSystem

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.files import write_whole
from moral_evals.loaders.remote import exists
from moral_evals.reports.__main__ import main
from moral_evals.reports.exchange.staged import Staged
from moral_evals.reports.runs.frames import corda_steps_df, criteria_df, rollouts_df, scenarios_df

BUCKET = "bucket"


@pytest.fixture(scope="module")
def s3():
    """A client of an empty S3, which the environment names to every other client."""
    moto = pytest.importorskip("moto.server", reason="moto, of the dev extra, is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        S3FileSystem.clear_instance_cache()
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client
        S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.fixture(scope="module")
def folders(s3, both_logs, corda_logs):
    """Logs of both benchmarks, a folder each."""
    for folder, logs in (("rubric", both_logs), ("corda", corda_logs.values())):
        for i, log in enumerate(logs):
            name = log.removeprefix("file://")
            s3.upload_file(name, BUCKET, f"{folder}/{i}_{os.path.basename(name)}")
    return {folder: f"s3://{BUCKET}/{folder}" for folder in ("rubric", "corda")}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The working folder, in which nothing may be left."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert list(tmp_path.iterdir()) == [], "written here, not where it was said"


def there(s3, prefix: str) -> dict[str, int]:
    """Names and sizes of what lies under a prefix."""
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
    return {o["Key"].removeprefix(prefix): o["Size"] for o in found}


READERS = (
    ["show"], ["compare", "--scorer", "rubric_judge"], ["compare", "--latex-row"], ["findings"],
    ["cost"],
)  # fmt: skip


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_bucket_gives_what_a_folder_gives(words, folders, both_logs, capsys):
    command, *rest = words
    assert main([command, folders["rubric"], *rest]) == 0
    remote = capsys.readouterr().out
    assert main([command, *both_logs, *rest]) == 0
    here = capsys.readouterr().out
    figures = [line for line in here.splitlines() if ".eval" not in line]
    assert figures
    assert {*remote.splitlines()} >= {*figures}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["compare", "--scorer", "rubric_judge", "--format", "csv", "--out", "OUT/a.csv"],
         {"a.csv"}),
        (["page", "--no-figures", "--out", "OUT/page.html"], {"page.html"}),
        (["export-rewards", "--pairs", "--out", "OUT"],
         {"rewards.jsonl", "pairs.jsonl", "README.md"}),
        (["export", "--out", "OUT"],
         {f"{t}.{f}" for t in ("runs", "scenarios", "criteria", "corda_steps")
          for f in ("csv", "parquet")} | {"dictionary.csv", "dictionary.md"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_what_is_written_lies_where_it_was_said(words, names, s3, folders):
    prefix = f"out/{words[0]}/"
    words = [w.replace("OUT", f"s3://{BUCKET}/{prefix.rstrip('/')}") for w in words]
    assert main([words[0], folders["rubric"], *words[1:]]) == 0
    sizes = there(s3, prefix)
    assert {*sizes} == names
    # two runs of one model with the same words make no pair
    assert all(size for name, size in sizes.items() if name != "pairs.jsonl")


def test_plots_are_written_there_too(s3, folders):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    assert main(["plot", folders["corda"], "--out", f"s3://{BUCKET}/out/plots"]) == 0
    assert there(s3, "out/plots/")


def test_one_log_of_a_bucket_is_exported_to_it_and_imported_again(s3, folders):
    log = f"{folders['rubric']}/" + next(iter(there(s3, "rubric/")))
    out = f"s3://{BUCKET}/up"
    export = ["export-upstream", log, "--scorer", "rubric_judge", "--out", f"{out}/j.jsonl"]
    assert main(export) == 0
    assert {*there(s3, "up/")} == {"j.jsonl"}
    assert main(export) == 1, "a file that is there is not written over unasked"


def test_a_log_of_a_bucket_is_judged_again_and_put_there(s3, folders, capsys):
    log = f"{folders['rubric']}/" + next(iter(there(s3, "rubric/")))
    again = f"s3://{BUCKET}/again/both.eval"
    assert main(["judge-modes", log, "--judge", "mockllm/model", "--log-out", again]) == 0
    assert {*there(s3, "again/")} == {"both.eval"}
    capsys.readouterr()
    assert main(["judgings", again]) == 0
    assert "rubric_judge of both.eval and rubric_judge2 of both.eval" in capsys.readouterr().out


def test_an_import_goes_to_a_bucket(s3, folders, tmp_path_factory):
    local = tmp_path_factory.mktemp("import") / "j.jsonl"
    log = f"{folders['rubric']}/" + next(iter(there(s3, "rubric/")))
    assert main(["export-upstream", log, "--scorer", "rubric_judge", "--out", str(local)]) == 0
    arguments = ["--judged", "trace", "--log-dir", f"s3://{BUCKET}/imported"]
    assert main(["import-upstream", str(local), *arguments]) == 0
    (name,) = there(s3, "imported/")
    assert read_eval_log(f"s3://{BUCKET}/imported/{name}").status == "success"


@pytest.mark.parametrize("make", [scenarios_df, criteria_df])
def test_frames_list_a_bucket(make, folders, both_logs):
    frame = make(folders["rubric"], scorer="rubric_judge")
    here = make(both_logs, scorer="rubric_judge")
    assert len(frame) == len(here) > 0
    assert {*frame["log"]} == {log for log in frame["log"] if log.startswith(f"s3://{BUCKET}/")}


@pytest.mark.parametrize("make", [corda_steps_df, rollouts_df])
def test_frames_of_corda_list_a_bucket(make, folders, corda_logs):
    assert len(make(folders["corda"])) == len(make(list(corda_logs.values()))) > 0


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("s3://no-such-bucket/a.csv", "bucket"),
        ("nowhere://host/a.csv", "Protocol not known: nowhere"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_in_one_line(place, why, folders, capsys):
    arguments = ["--scorer", "rubric_judge", "--format", "csv", "--out", place]
    assert main(["compare", folders["rubric"], *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"moral-reports: {place}: cannot be written (")
    assert why in said
    assert said.count("\n") == 1


# --- any other store ------------------------------------------------------------------------


@pytest.fixture
def memory():
    MemoryFileSystem.store.clear()
    yield MemoryFileSystem()
    MemoryFileSystem.store.clear()


def test_files_of_one_export_appear_together(memory):
    with Staged() as staged:
        staged.whole("memory://set/a.txt", "a\n")
        assert not exists("memory://set/a.txt")
        staged.lines("memory://set/b.jsonl", [{"é": "\ud83d"}])
    assert memory.cat("/set/a.txt") == b"a\n"
    assert memory.cat("/set/b.jsonl").startswith(b'{"\xc3\xa9": "')
    with pytest.raises(SuiteError, match=r"memory://set/a\.txt: exists already"):
        Staged().whole("memory://set/a.txt", "new")
    with pytest.raises(ZeroDivisionError), Staged(overwrite=True) as staged:
        staged.whole("memory://set/a.txt", "new")
        _ = 1 / 0
    assert memory.cat("/set/a.txt") == b"a\n"
    with Staged(overwrite=True) as staged:
        staged.remove("memory://set/b.jsonl")
    assert not exists("memory://set/b.jsonl")


def test_a_file_url_is_a_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("here") / "a.txt"
    write_whole(f"file://{path}", "a\n")
    assert path.read_text(encoding="utf-8") == "a\n"
