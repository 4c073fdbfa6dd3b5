"""A bundle holds what helps, and nothing of what was planted: the bytes are searched."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from pathlib import Path

import pytest

from tests.unit.capture.test_masking import SECRETS
from wavewright.capture.bundle import TOP, Bundle, make_bundle
from wavewright.errors import OutputError, UsageError

SOURCE = "def my_secret_algorithm(): return 42"
VARIABLES = {
    "HOME": "/data/people/alice",
    "USER": "alice",
    "HSA_XNACK": "1",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "VLLM_API_KEY": "plainlooking",
    "MY_PROJECT": "codename-zebra",
}
PLANTED = (
    *(part for secret in SECRETS.values() for part in secret.split("\n")),
    *("alice", "/data/people", "gpu7", "zebra", "plainlooking", "hunter2", "my_secret_algorithm"),
)
LOG = f"""rocprofv3: E20260707 tool.cpp:1] something failed for alice on gpu7.lab.example.org in /home/alice/work
{chr(10).join(f"note {name}: {secret}" for name, secret in SECRETS.items())}
\x1b[31mhf_AbCdEfGh\x1b[0mIjKlMnOpQrStUvWxYz012345 split by colours
  File "/home/alice/bench.py", line 3, in f
    {SOURCE}
ValueError: the useful last line
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A capture over ssh, with something planted everywhere."""
    place = tmp_path / "alice" / "capture-gemm"
    attempt = place / "attempts/1"
    (attempt / "raw/gpu7").mkdir(parents=True)
    wanted = {"program": ["python", "/home/alice/bench.py", "--hf-token", "plainlooking"], "variables": VARIABLES}
    (place / "job.json").write_text(json.dumps({"wanted": wanted}))
    (place / "machine.json").write_text(json.dumps({"gpus": [{"target": "gfx942"}], "variables": VARIABLES}))
    line = f"env HSA_XNACK=1 MY_PROJECT=codename-zebra HF={SECRETS['hugging face']} rocprofv3 --att -- python bench.py"
    command = {"commands": [{"line": line, "words": wanted["program"], "variables": VARIABLES}], "sha256": "ab" * 32}
    (attempt / "command.json").write_text(json.dumps(command))
    events = [{"event": "started", "host": "gpu7", "command": line}, {"event": "judged", "verdict": "empty"}]
    (place / "manifest.jsonl").write_text("\n".join(map(json.dumps, events)) + '\n{"event": "torn alice')
    (attempt / "raw.remote.json").write_text(
        json.dumps({"place": "alice@gpu7.lab.example.org", "folder": "/home/alice/x"})
    )
    (attempt / "stderr.txt").write_text(LOG)
    (attempt / "stdout.txt").write_text("STDOUT BEGIN\n" + LOG)
    (attempt / "raw/gpu7/1_att_se0.att").write_bytes(b"TRACEBYTES" + os.urandom(100))
    (attempt / "raw/gpu7/source_0_bench.py").write_text(SOURCE)
    (attempt / "raw/gpu7/notes.md").write_text(SOURCE)
    (place / "bench.py").write_text(SOURCE)
    (place / ".env").write_text("\n".join(SECRETS.values()))
    (place / "link.txt").symlink_to("/etc/passwd")
    (place / "attempts/1/judgement.json").symlink_to(place / ".env")
    return place


def _bytes(bundle: Bundle) -> dict[str, bytes]:
    with tarfile.open(bundle.path) as archive:
        members = archive.getmembers()
        assert all(member.isfile() and member.name.startswith(f"{TOP}/") for member in members)
        assert {(member.uid, member.gid, member.uname, member.gname, member.mtime) for member in members} == {
            (0, 0, "", "", 0)
        }
        return {member.name.removeprefix(f"{TOP}/"): archive.extractfile(member).read() for member in members}  # type: ignore[union-attr]


@pytest.mark.parametrize("with_output", [False, True])
def test_nothing_planted_is_in_its_bytes(folder: Path, tmp_path: Path, with_output: bool) -> None:
    checks = [{"name": "files", "finding": "alice at /home/alice on gpu7", "details": [LOG]}]
    bundle = make_bundle(
        folder, tmp_path / "b.tar.gz", checks=checks, variables=VARIABLES, hosts=["gpu7"], with_output=with_output
    )
    plain = gzip.decompress(bundle.path.read_bytes())
    for planted in PLANTED:
        assert planted.encode() not in plain, planted
    for unwanted in (
        b"TRACEBYTES",
        b"return 42",
        os.uname().nodename.encode() if len(os.uname().nodename) > 2 else b"\0\1",
    ):
        assert unwanted not in plain
    assert (b"STDOUT BEGIN" in plain) == with_output
    assert bundle.masked_count > 50


def test_what_helps_is_in_it(folder: Path, tmp_path: Path) -> None:
    bundle = make_bundle(folder, tmp_path / "b.tar.gz", checks=[{"name": "kfd", "status": "ok"}], variables=VARIABLES)
    files = _bytes(bundle)
    assert sorted(files) == [
        "README.txt",
        "attempts/1/command.json",
        "attempts/1/raw.remote.json",
        "attempts/1/stderr.txt",
        "doctor.json",
        "files.tsv",
        "job.json",
        "machine.json",
        "manifest.jsonl",
    ]
    assert [(file.name, file.size_bytes) for file in bundle.files] == [
        (name, len(files[name])) for name in (file.name for file in bundle.files)
    ]
    assert all(file.what for file in bundle.files)
    command = json.loads(files["attempts/1/command.json"])
    assert command["commands"][0]["variables"] == {"HSA_XNACK": "1", "(others)": "5"}
    assert command["commands"][0]["line"] == (
        "env HSA_XNACK=1 MY_PROJECT=[masked] HF=[masked] rocprofv3 --att -- python bench.py"
    )
    assert command["sha256"] == "ab" * 32
    assert b"the useful last line" in files["attempts/1/stderr.txt"]
    assert b"something failed for USER on HOST in ~/work" in files["attempts/1/stderr.txt"]
    assert json.loads(files["doctor.json"]) == [{"name": "kfd", "status": "ok"}]
    assert [json.loads(line)["event"] for line in files["manifest.jsonl"].splitlines()] == [
        "started",
        "judged",
        "a line that could not be read",
    ]
    listing = dict(line.split("\t", 1) for line in files["files.tsv"].decode().splitlines())
    trace = folder / "attempts/1/raw/gpu7/1_att_se0.att"
    assert listing["attempts/1/raw/HOST/1_att_se0.att"].split("\t")[0] == str(trace.stat().st_size)
    assert not {"link.txt", ".env", "bench.py"} & set(listing)
    assert bundle.left_out == ("2 files that no capture writes: neither names nor hashes",)


def test_traces_get_in_when_asked_for_and_source_never(folder: Path, tmp_path: Path) -> None:
    bundle = make_bundle(folder, tmp_path / "b.tar.gz", variables=VARIABLES, with_traces=True)
    files = _bytes(bundle)
    assert files["attempts/1/raw/HOST/1_att_se0.att"].startswith(b"TRACEBYTES")
    assert not any(b"my_secret_algorithm" in content for content in files.values())
    assert [reason.rpartition("/")[2] for reason in bundle.left_out] == [
        "notes.md: neither a trace nor counters",
        "source_0_bench.py: neither a trace nor counters",
        "2 files that no capture writes: neither names nor hashes",
    ]


def test_the_same_folder_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first, second = (make_bundle(folder, tmp_path / f"{name}.tar.gz", variables=VARIABLES) for name in "ab")
    assert first.path.read_bytes() == second.path.read_bytes()


def test_long_logs_are_cut_at_ends_of_lines(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wavewright.capture.bundle._LOG_BYTES_MAX", 100_000)
    line = f"{SECRETS['hugging face']} is a token\n"
    (folder / "attempts/1/stderr.txt").write_text(line * 5_000)
    bundle = make_bundle(folder, tmp_path / "b.tar.gz", variables=VARIABLES)
    log = _bytes(bundle)["attempts/1/stderr.txt"]
    assert b"bytes are left out here" in log
    assert b"hf_A" not in log
    assert b"UvWxYz012345" not in log


def test_bad_input_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        make_bundle(tmp_path / "nothing", tmp_path / "b.tar.gz")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="this is not the folder of a capture"):
        make_bundle(tmp_path / "empty", tmp_path / "b.tar.gz")
    (tmp_path / "c.tar.gz").write_text("mine")
    with pytest.raises(UsageError, match="the output exists"):
        make_bundle(folder, tmp_path / "c.tar.gz")
    assert (tmp_path / "c.tar.gz").read_text() == "mine"
    make_bundle(folder, tmp_path / "c.tar.gz", force=True)
    with pytest.raises(OutputError, match="cannot write"):
        make_bundle(folder, tmp_path / "c.tar.gz" / "d.tar.gz")
    (folder / "machine.json").write_bytes(b"\xff{" + b"[" * 100_000)
    bundle = make_bundle(folder, tmp_path / "e.tar.gz")
    assert any("machine.json: cannot be read" in reason for reason in bundle.left_out)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
