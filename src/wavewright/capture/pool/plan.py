"""The plan of a pool: every job, one line each, in `plan.jsonl` of its folder; whoever works there reads it.

FOLDER/
  plan.jsonl            what is to be done, in the order of the jobs file
  jobs/<id>/            one folder per job, as that of a single capture
  workers/<id>/         what its process printed (log), why it could not be taken (error.json)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from wavewright.base.files import read_regular
from wavewright.capture.jobs.folder import ATTEMPTS, DISCOVERIES, refuse_links, write_once
from wavewright.capture.pool.jobs_file import PoolJob
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILE = "plan.jsonl"
JOBS, WORKERS = "jobs", "workers"


def job_folder(folder: Path, job_id: str) -> Path:
    """The folder of one job."""
    return folder / JOBS / job_id


def work_folder(folder: Path, job_id: str) -> Path:
    """The folder of the process that works on a job."""
    return folder / WORKERS / job_id


def prepare(folder: Path, jobs: Sequence[PoolJob], *, is_resumed: bool) -> None:
    """Write the plan into the folder of a pool; UsageError when the folder is to be none, or not to be gone on with."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise UsageError(f"cannot use the folder: {error.strerror}", where=str(folder)) from error
    if names and FILE not in names:
        raise UsageError("this folder exists and is not that of a pool", where=str(folder), advice="choose another: -o")
    if names and not is_resumed:
        raise UsageError("this pool exists", where=str(folder), advice="go on with it: --resume; or choose another: -o")
    refuse_links(folder, not_below=[ATTEMPTS, DISCOVERIES])  # what is in these, each job looks at
    try:
        for name in (JOBS, WORKERS):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder: {error.strerror}", where=str(folder)) from error
    write_once(folder / FILE, b"".join(msgspec.json.encode(job) + b"\n" for job in jobs))


def read_plan(folder: Path) -> tuple[PoolJob, ...]:
    """The jobs of the pool of a folder; UsageError when there is no plan, or one that is not understood."""
    return tuple(_job(line, folder) for line in _lines(folder))


def planned_job(folder: Path, job_id: str) -> PoolJob:
    """One job of the plan, without reading the others."""
    head = f'{{"id":"{job_id}"'.encode()
    for line in _lines(folder):
        if line.startswith(head):
            return _job(line, folder)
    raise UsageError(f"the plan has no job {job_id[:40]!r}", where=str(folder / FILE))


def _lines(folder: Path) -> list[bytes]:
    try:
        return read_regular(folder / FILE).splitlines()
    except OSError as error:
        what = "this is not the folder of a pool: it has no plan"
        advice = "wavewright capture pool JOBS.toml -o FOLDER makes one"
        raise UsageError(what, where=str(folder), advice=advice) from error


def _job(line: bytes, folder: Path) -> PoolJob:
    try:
        return msgspec.json.decode(line, type=PoolJob)
    except (msgspec.MsgspecError, ValueError) as error:
        what = f"the plan has a line that is not understood ({type(error).__name__})"
        advice = "write it again: wavewright capture pool JOBS.toml --resume -o FOLDER"
        raise UsageError(what, where=str(folder / FILE), advice=advice) from error
