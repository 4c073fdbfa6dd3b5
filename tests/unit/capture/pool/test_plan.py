"""The plan of a pool, the order of its jobs, and their states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.capture.pool.test_jobs_file import FULL, read
from wavewright.capture.jobs.folder import write_json
from wavewright.capture.jobs.job import Job
from wavewright.capture.kinds import Discovery
from wavewright.capture.pool.folder import (
    ERROR_FILE,
    State,
    job_folder,
    planned_job,
    prepare,
    read_plan,
    status_of,
    work_folder,
)
from wavewright.capture.pool.jobs_file import PoolJob
from wavewright.capture.pool.schedule import longest_first
from wavewright.errors import UsageError


def job(name: str, **values: object) -> PoolJob:
    return PoolJob(id=name, job=Job(recording=Discovery(program=("true",)), name=name), **values)  # type: ignore[arg-type]


def test_plan_comes_back(tmp_path: Path) -> None:
    jobs, folder = read(tmp_path, FULL), tmp_path / "pool"
    prepare(folder, jobs, is_resumed=False)
    assert read_plan(folder) == jobs
    for each in jobs:
        assert planned_job(folder, each.id) == each
    with pytest.raises(UsageError, match="no job 'abc'"):
        planned_job(folder, "abc")
    assert sorted(path.name for path in folder.iterdir()) == ["jobs", "plan.jsonl", "workers"]


@pytest.mark.parametrize("line", ["", "{", "[]", '{"id": "x"}', '{"v":1,"id":"a","job":{"wanted":{"kind":"y"}}}'])
def test_damaged_plan(tmp_path: Path, line: str) -> None:
    (tmp_path / "plan.jsonl").write_text(line + "\n")
    with pytest.raises(UsageError, match="not understood"):
        read_plan(tmp_path)


def test_folders(tmp_path: Path) -> None:
    jobs = [job("a")]
    prepare(tmp_path / "new", jobs, is_resumed=False)
    with pytest.raises(UsageError, match="--resume"):
        prepare(tmp_path / "new", jobs, is_resumed=False)
    prepare(tmp_path / "new", jobs, is_resumed=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(UsageError, match="not that of a pool"):
        prepare(tmp_path / "other", jobs, is_resumed=True)
    with pytest.raises(UsageError, match="cannot use"):
        prepare(tmp_path / "other" / "file", jobs, is_resumed=False)
    with pytest.raises(UsageError, match="not the folder of a pool"):
        read_plan(tmp_path)


def test_longest_first(tmp_path: Path) -> None:
    """By the jobs file, by what the same job took here; else the mean."""
    jobs = [job("short", expected_seconds=1), job("unknown"), job("here"), job("long", expected_seconds=99)]
    attempted(job_folder(tmp_path, "here"), 60.0, 1.0)
    assert [each.name for each in longest_first(jobs, tmp_path)] == ["long", "here", "unknown", "short"]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def attempted(place: Path, *seconds: float | None) -> None:
    """Attempts that took some time; None = it has not ended."""
    for number, taken in enumerate(seconds, 1):
        folder = _made(place / "attempts" / str(number))
        write_json(folder / "command.json", {})
        if taken is not None:
            write_json(folder / "ending.json", {"status": 0, "seconds": taken})


def test_states(tmp_path: Path) -> None:
    names = ("waiting", "interrupted", "good", "empty", "error", "judged")
    prepare(tmp_path, [job(name) for name in names], is_resumed=True)
    for name in names[1:]:
        if name == "error":
            problem = {"status": 2, "what": "no such option"}
            (_made(work_folder(tmp_path, name)) / ERROR_FILE).write_text(json.dumps(problem))
            continue
        place = job_folder(tmp_path, name)
        attempted(place, None if name == "interrupted" else 2.5)
        if name in ("good", "empty", "judged"):
            verdict = "good" if name == "judged" else name
            write_json(place / "attempts/1/judgement.json", {"verdict": verdict, "reasons": ["because"]})
            (place / "result").symlink_to("attempts/1")
        if name in ("good", "empty"):
            write_json(place / "job.json", {})
            write_json(place / "result.json", {})
    status = status_of(tmp_path)
    states = {each.name: each.state for each in status.jobs}
    assert states == {
        "waiting": State.WAITING,
        "interrupted": State.INTERRUPTED,
        "good": State.FINISHED,
        "empty": State.FINISHED,
        "error": State.ERROR,
        "judged": State.INTERRUPTED,
    }
    by_name = {each.name: each for each in status.jobs}
    assert (by_name["good"].seconds, by_name["good"].is_good) == (2.5, True)
    assert (by_name["empty"].reason, by_name["empty"].is_kept) == ("because", False)
    assert by_name["error"].reason == "no such option"
    assert status.exit_code == 1
    assert status.verdicts == {"good": 1, "empty": 1}
    single = status_of(job_folder(tmp_path, "good"))
    assert [each.verdict for each in single.jobs] == ["good"]
    for folder in (tmp_path / "nothing", work_folder(tmp_path, "error")):
        with pytest.raises(UsageError):
            status_of(folder)
