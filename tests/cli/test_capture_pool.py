"""`wavewright capture pool`, `status` and `clean` as a user calls them; what they run is tested with the pool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.in_process import call
from wavewright.capture.jobs.folder import write_json
from wavewright.capture.pool.folder import job_folder, read_plan
from wavewright.capture.pool.keys import KEYS

JOBS = '[defaults]\nkind = "run"\nprogram = "true"\n[[job]]\nname = "a"\nexpected_seconds = 1\n[[job]]\nname = "b"\n'


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A jobs file in the current folder, on a machine without GPUs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAVEWRIGHT_LOCK_DIR", str(tmp_path / "locks"))
    (tmp_path / "nodes").mkdir()
    monkeypatch.setenv("ROCPROFILER_KFD_TOPOLOGY", str(tmp_path / "nodes"))
    path = tmp_path / "JOBS.toml"
    path.write_text(JOBS)
    return path


def test_mistakes(jobs: Path) -> None:
    for words, sentence in (
        ([], "JOBS.toml"),
        (["nothing.toml"], "cannot be read"),
        (["JOBS.toml", "--wait", "nan"], "--wait"),
        (["JOBS.toml", "-o", "JOBS.toml"], "cannot use the folder"),
    ):
        done = call("capture", "pool", *words)
        assert done.status == 2, (words, done)
        assert sentence in done.stderr, (words, done.stderr)
    jobs.write_text(JOBS + "sconds = 3\n")
    done = call("capture", "pool", "JOBS.toml")
    assert done.status == 2
    assert "did you mean `seconds`?" in done.stderr
    assert not (jobs.parent / "JOBS-pool").exists()


def test_order_without_running(jobs: Path) -> None:
    done = call("capture", "pool", "JOBS.toml", "--dry-run")
    assert done.status == 0
    assert [line.split()[3] for line in done.stdout.splitlines()] == ["a:", "b:"]
    lines = call("capture", "pool", "JOBS.toml", "--dry-run", "--json").stdout.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["a", "b"]
    assert not (jobs.parent / "JOBS-pool").exists()


def test_machine_without_gpus(jobs: Path) -> None:
    done = call("capture", "pool", "JOBS.toml")
    assert (done.status, "doctor" in done.stderr) == (2, True)
    assert call("capture", "status", "JOBS-pool").status == 1
    again = call("capture", "pool", "JOBS.toml")
    assert (again.status, "--resume" in again.stderr) == (2, True)


def test_status(jobs: Path) -> None:
    call("capture", "pool", "JOBS.toml")  # there is no GPU: the plan is written, and nothing more
    folder = jobs.parent / "JOBS-pool"
    first, second = read_plan(folder)
    place = job_folder(folder, first.id)
    for number in (1, 2):
        attempt = place / "attempts" / str(number)
        attempt.mkdir(parents=True)
        write_json(attempt / "command.json", {"gpu": {"index": 3}})
        write_json(attempt / "ending.json", {"status": 0, "seconds": 2.5})
        write_json(attempt / "judgement.json", {"verdict": "good" if number == 2 else "empty", "reasons": ["x"]})
    (place / "result").symlink_to("attempts/2")
    write_json(place / "job.json", {"id": first.id})
    write_json(place / "result.json", {"verdict": "good"})
    done = call("capture", "status", folder)
    assert done.status == 1
    assert "2 jobs: 1 good, 1 waiting" in done.stdout
    document = json.loads(call("capture", "status", folder, "--json").stdout)
    assert document["counts"]["finished"] == 1
    assert [job["state"] for job in document["jobs"]] == ["finished", "waiting"]
    assert (document["jobs"][0]["gpu"], document["jobs"][0]["seconds"]) == ("3", 5.0)
    assert call("capture", "status", place).status == 0
    assert not job_folder(folder, second.id).exists()
    assert call("capture", "status", jobs.parent / "nothing").status == 2
    assert call("capture", "status", jobs).status == 2


def test_reference_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/jobs-file.md").read_text()
    for key in KEYS.values():
        assert f"| `{key.name}` |" in page
        assert f"| {key.form} | {key.meaning}" in page
