"""The folder of a capture as input of every verb: it is read as its result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wavewright
from tests.cli.in_process import call


@pytest.fixture
def job(capture: Path, tmp_path: Path) -> Path:
    """A job folder with two attempts, of which the second is the result; the first holds half of a trace."""
    folder = tmp_path / "job"
    for number in (1, 2):
        (folder / "attempts" / str(number)).mkdir(parents=True)
    first = folder / "attempts" / "1" / "raw"
    first.mkdir()
    traces = sorted(capture.glob("*.att"))
    (first / traces[0].name).write_bytes(traces[0].read_bytes()[:64])
    capture.rename(folder / "attempts" / "2" / "raw")
    (folder / "job.json").write_text(json.dumps({"name": "saxpy"}), "utf-8")
    (folder / "result").symlink_to("attempts/2")
    return folder


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["info", "hotspots", "diagnose", "stalls", "coverage"])
def test_verbs_read_the_result(job: Path, verb: str) -> None:
    by_folder, by_data = call(verb, job, "--json"), call(verb, job / "attempts" / "2" / "raw", "--json")
    assert by_folder.status == by_data.status == 0, by_folder.stderr
    ours, theirs = json.loads(by_folder.stdout), json.loads(by_data.stdout)
    assert ours["inputs"] == [str(job / "result" / "raw")]
    assert ours.keys() == theirs.keys()
    assert ours["losses"] == theirs["losses"], "nothing of the first attempt is read"


def test_python_reads_the_result(job: Path) -> None:
    trace = wavewright.open(job)
    assert isinstance(trace, wavewright.ThreadTrace)
    assert trace.waves.height == wavewright.open(job / "attempts" / "2" / "raw").waves.height > 0


def test_a_job_without_result(job: Path) -> None:
    (job / "result").unlink()
    done = call("diagnose", job)
    assert done.status == 2
    assert "has no result" in done.stderr
    assert f"wavewright capture status {job}" in done.stderr


def test_a_result_that_leads_out_is_not_followed(job: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (job / "attempts" / "2").rename(elsewhere)
    (job / "result").unlink()
    (job / "result").symlink_to(elsewhere)
    done = call("info", job)
    assert done.status == 2
    assert "leads out of its folder" in done.stderr


def test_raw_data_that_lead_out_are_not_followed(job: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (job / "attempts" / "2" / "raw").rename(elsewhere)
    (job / "attempts" / "2" / "raw").symlink_to(elsewhere)
    assert "leads out of the folder" in call("info", job).stderr


def test_a_pool_lists_its_jobs(job: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    (pool / "jobs").mkdir(parents=True)
    job.rename(pool / "jobs" / "3f2a")
    done = call("diagnose", pool)
    assert done.status == 2
    assert "a pool of one capture" in done.stderr
    assert "3f2a (saxpy)" in done.stderr
    assert call("info", pool / "jobs" / "3f2a").status == 0


def test_output_is_not_turned_into_a_result(job: Path) -> None:
    done = call("decode", job, "--format", "parquet", "-o", job)
    assert done.status == 0
    assert (job / "wavewright_agent_1_dispatch_1").is_dir(), "where the user said"
