"""`wavewright capture pool`, `status` and `clean` as a user calls them; what they run is tested with the pool."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.in_process import call
from wavewright.capture.jobs.manifest import Manifest
from wavewright.capture.pool.keys import KEYS
from wavewright.capture.pool.plan import job_folder, read_plan

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
        ([], "which jobs?"),
        (["nothing.toml"], "cannot be read"),
        (["--worker"], "--worker needs the folder"),
        (["--worker", "-o", "nothing"], "not the folder of a pool"),
        (["--worker", "-o", "x", "JOBS.toml"], "reads no jobs file"),
        (["JOBS.toml", "--element", "0/2"], "--element is for workers"),
        (["JOBS.toml", "--dask", "--slurm", "x"], "--slurm and --dask are different ways"),
        (["JOBS.toml", "--max-per-device", "0"], "--max-per-device"),
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


def test_script_for_slurm(jobs: Path) -> None:
    done = call("capture", "pool", jobs, "--slurm", "a.sbatch", "-o", "p", "--at-once", 1, "--wait", 9)
    assert done.status == 0
    assert "sbatch a.sbatch" in done.stderr
    text = Path("a.sbatch").read_text()
    assert "#SBATCH --array=0-1%1\n" in text
    assert "--wait 9 --element" in text
    assert os.stat("a.sbatch").st_mode & stat.S_IXUSR  # noqa: PTH116
    assert len(read_plan(Path("p"))) == 2
    assert call("capture", "pool", jobs, "--slurm", "a.sbatch", "-o", "p", "--resume").status == 2
    assert call("capture", "pool", jobs, "--slurm", "a.sbatch", "-o", "p", "--resume", "--force").status == 0


def test_status_and_clean(jobs: Path) -> None:
    call("capture", "pool", "JOBS.toml", "--slurm", "x")
    folder = jobs.parent / "JOBS-pool"
    first, second = read_plan(folder)
    place = job_folder(folder, first.id)
    for number in (1, 2):
        raw = place / "attempts" / str(number) / "raw"
        raw.mkdir(parents=True)
        (raw / "a\x1b[2J.db").write_bytes(b"x" * 2000)
    (place / "result").symlink_to("attempts/2")
    manifest = Manifest(place)
    manifest.append(first.id, "started", attempt=2)
    manifest.append(first.id, "judged", attempt=2, verdict="good", reasons=[])
    manifest.append(first.id, "finished", attempt=2, verdict="good")
    with manifest.path.open("ab") as stream:
        stream.write(b'{"torn')
    done = call("capture", "status", folder)
    assert done.status == 1
    assert "2 jobs: 1 good, 1 waiting" in done.stdout
    document = json.loads(call("capture", "status", folder, "--json").stdout)
    assert document["counts"]["finished"] == 1
    assert [job["state"] for job in document["jobs"]] == ["finished", "waiting"]
    assert call("capture", "status", place).status == 0
    assert call("capture", "status", place, "--watch").stdout == "1 job: 1 good\n"
    listed = call("capture", "clean", folder)
    assert listed.status == 0
    assert "2.00 kB" in listed.stdout
    assert "--yes" in listed.stdout
    assert (place / "attempts/1/raw").exists()
    assert json.loads(call("capture", "clean", folder, "--json", "--yes").stdout)["is_removed"]
    assert not (place / "attempts/1/raw").exists()
    assert (place / "attempts/2/raw").exists()
    assert "nothing to remove" in call("capture", "clean", folder).stdout
    assert not job_folder(folder, second.id).exists()
    for verb in ("status", "clean"):
        assert call("capture", verb, jobs.parent / "nothing").status == 2
        assert call("capture", verb, jobs).status == 2


def test_reference_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/jobs-file.md").read_text()
    for key in KEYS.values():
        assert f"| `{key.name}` |" in page
        assert f"| {key.form} | {key.meaning}" in page
