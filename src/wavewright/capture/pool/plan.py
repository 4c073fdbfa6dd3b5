"""The plan of a pool: every job, one line each, in `plan.jsonl` of its folder; whoever works there reads it.

FOLDER/
  plan.jsonl            what is to be done, in the order of the jobs file
  jobs/<id>/            one folder per job, as that of a single capture
  workers/<id>/         what its process printed (log), why it could not be taken (error.json)
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from wavewright.base.files import read_regular
from wavewright.capture.jobs.stored import job_of, job_values
from wavewright.capture.pool.jobs_file import PoolJob
from wavewright.errors import OutputError, UsageError, WavewrightError

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "plan.jsonl"
JOBS, WORKERS = "jobs", "workers"
_VERSION = 1


def job_folder(folder: Path, job_id: str) -> Path:
    """The folder of one job."""
    return folder / JOBS / job_id


def work_folder(folder: Path, job_id: str) -> Path:
    """The folder of the process that works on a job."""
    return folder / WORKERS / job_id


def is_pool(folder: Path) -> bool:
    """Whether a folder is that of a pool."""
    return (folder / FILE).is_file()


def write_plan(folder: Path, jobs: Iterable[PoolJob]) -> None:
    """Write the plan, as a whole or not at all.

    Raises
    ------
    OutputError
        When the file system refuses.
    """
    content = b"".join(msgspec.json.encode(_line(job)) + b"\n" for job in jobs)
    path = folder / FILE
    with suppress(OSError):
        if path.read_bytes() == content:
            return
    try:
        for name in (JOBS, WORKERS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        descriptor, staged = tempfile.mkstemp(dir=folder, prefix=".plan-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(staged).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(staged).unlink()
            raise
    except OSError as error:
        raise OutputError(f"cannot write the plan of the pool: {error.strerror}", where=str(folder)) from error


def _line(job: PoolJob) -> dict[str, Any]:
    effort = {"after": job.after, "expected_seconds": job.expected_seconds, "disk_bytes": job.disk_bytes}
    return {"v": _VERSION, "id": job.id, **effort, "job": job_values(job.job)}


def read_plan(folder: Path) -> tuple[PoolJob, ...]:
    """The jobs of the pool of a folder.

    Raises
    ------
    UsageError
        When there is no plan, or one that is not understood.
    """
    return tuple(_job(line, folder) for line in _lines(folder))


def planned_job(folder: Path, job_id: str) -> PoolJob:
    """One job of the plan, without reading the others.

    Raises
    ------
    UsageError
        When there is none.
    """
    head = f'{{"v":{_VERSION},"id":"{job_id}"'.encode()
    for line in _lines(folder):
        if line.startswith(head):
            return _job(line, folder)
    raise UsageError(f"the plan has no job {job_id[:40]!r}", where=str(folder / FILE))


def _lines(folder: Path) -> list[bytes]:
    try:
        return read_regular(folder / FILE).splitlines()
    except OSError as error:
        what = "this is not the folder of a pool: it has no plan"
        raise UsageError(
            what, where=str(folder), advice="wavewright capture pool JOBS.toml -o FOLDER makes one"
        ) from error


def _job(line: bytes, folder: Path) -> PoolJob:
    try:
        content = msgspec.json.decode(line)
        _, job = job_of(content["job"])
        return PoolJob(
            id=str(content["id"]),
            job=job,
            after=tuple(map(str, content["after"])),
            expected_seconds=content["expected_seconds"],
            disk_bytes=int(content["disk_bytes"]),
        )
    except (WavewrightError, msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        what = f"the plan has a line that is not understood ({type(error).__name__})"
        advice = "write it again: wavewright capture pool JOBS.toml --resume -o FOLDER"
        raise UsageError(what, where=str(folder / FILE), advice=advice) from error
