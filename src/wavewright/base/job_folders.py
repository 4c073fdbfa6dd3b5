"""Job folders as inputs: where one is named as a capture, its result is read.

FOLDER/job.json and FOLDER/attempts make a folder one of a job (`capture/jobs/job.py`), FOLDER/result leads to its
best attempt, whose data are in `raw`. A pool has such folders in FOLDER/jobs.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from wavewright.base.files import is_inside, open_regular
from wavewright.base.shown import quoted
from wavewright.base.words import some_of
from wavewright.errors import UsageError

JOB, ATTEMPTS, RESULT, RAW, JOBS = "job.json", "attempts", "result", "raw", "jobs"
_SHOWN_JOBS, _SHOWN_LETTERS = 8, 40
_MOST_JOBS = 10_000
_NAME_BYTES = 1 << 20  #: Read of a job file for its name.


def read_instead(path: str) -> str:
    """The path that is read in place of the folder of a job; any other path as it is.

    Raises `UsageError` when the job has no result yet, the result leads out of the folder, or the folder is a pool.
    """
    try:
        if not is_job_folder(path):
            _refuse_pool(path)
            return path
    except (OSError, ValueError):  # no valid path: opening it gives the error
        return path
    result = os.path.join(path, RESULT)  # noqa: PTH118 - the path stays as the user spelled it
    if not os.path.isdir(result):  # noqa: PTH112
        advice = f"wavewright capture status {quoted(path)} says how far it is"
        raise UsageError("the capture in this folder has no result", where=path, advice=advice)
    if not is_inside(result, path):
        raise UsageError("the result of this capture leads out of its folder", where=path, advice="name the data")
    raw = os.path.join(result, RAW)  # noqa: PTH118
    return raw if os.path.isdir(raw) and is_inside(raw, path) else result  # noqa: PTH112


def is_job_folder(path: str) -> bool:
    """True if a path is the folder of a job."""
    place = Path(path)
    return (place / JOB).is_file() and (place / ATTEMPTS).is_dir()


def jobs_below(path: str) -> list[str]:
    """The job folders of a pool, sorted by name; empty = `path` is not a pool."""
    place = Path(path) / JOBS
    if not place.is_dir() or not is_inside(place, path):
        return []
    folders = sorted(place.iterdir())[:_MOST_JOBS]
    return [str(folder) for folder in folders if is_job_folder(str(folder)) and is_inside(folder, path)]


def _refuse_pool(path: str) -> None:
    jobs = jobs_below(path)
    if not jobs:
        return
    job_names = some_of(jobs, _SHOWN_JOBS, lambda job: f"{Path(job).name}{_name(job)}")
    problem = f"a pool of {len(jobs):,} captures" if len(jobs) > 1 else "a pool of one capture"
    raise UsageError(problem, where=path, advice=f"name one, as {jobs[0]}: {job_names}")


def _name(job: str) -> str:
    """The name of a job in parentheses, with a space before them; empty if the job has none."""
    with suppress(OSError, ValueError, AttributeError, RecursionError), open_regular(Path(job) / JOB) as file:
        name = json.loads(file.read(_NAME_BYTES)).get("name")
        return f" ({name[:_SHOWN_LETTERS]})" if isinstance(name, str) and name else ""
    return ""
