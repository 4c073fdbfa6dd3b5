"""What of captures can be removed without losing what they are for: replaced attempts, placeholders, dropped jobs."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.capture.jobs.folder import ATTEMPTS, JUDGEMENT, RAW, RESULT, files_below
from wavewright.capture.jobs.manifest import JobState, Manifest, is_locked, state_of
from wavewright.capture.jobs.stored import read_json
from wavewright.capture.pool.lease import worker_of
from wavewright.capture.pool.plan import JOBS, is_pool, job_folder, read_plan, work_folder
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DISPATCH = re.compile(r"_dispatch_(\d{1,12})$")


@dataclass(frozen=True, kw_only=True)
class Removable:
    """A folder or file that is not needed."""

    path: Path
    size_bytes: int
    reason: str


def removable(folder: Path) -> tuple[Removable, ...]:
    """What can go below the folder of a pool or of one capture; of jobs that are being worked on, nothing.

    Raises
    ------
    UsageError
        When the folder is neither.
    """
    if is_pool(folder):
        planned = {job.id for job in read_plan(folder)}
        parts: list[Removable] = []
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(folder / JOBS)):  # noqa: PTH208
                place = job_folder(folder, name)
                if place.is_symlink() or not place.is_dir() or worker_of(work_folder(folder, name)) is not None:
                    continue
                if name in planned:
                    parts += _of_job(place)
                elif not is_locked(place):
                    parts.append(_removable(place, "a job that is no longer in the plan"))
        return tuple(parts)
    if Manifest(folder).path.is_file():
        return tuple(_of_job(folder))
    what = "there is neither a pool nor a capture here" if folder.is_dir() else "there is no such folder"
    raise UsageError(what, where=str(folder), advice="give the FOLDER of `wavewright capture ... -o FOLDER`")


def _of_job(place: Path) -> Iterator[Removable]:
    """Raw data of attempts that are not the result of a finished job, and placeholders of the result."""
    events = Manifest(place).events()
    if is_locked(place) or state_of(events, is_worked_on=False) is not JobState.FINISHED:
        return
    try:
        result = (place / RESULT).resolve(strict=True)
        attempts = sorted((place / ATTEMPTS).iterdir())
    except OSError:
        return
    for attempt in attempts:
        raw = attempt / RAW
        if attempt.is_symlink() or raw.is_symlink() or not raw.is_dir():
            continue
        if attempt.resolve() != result:
            yield _removable(raw, "data of an attempt that another replaced")
        else:
            yield from _placeholders(attempt)


def _placeholders(attempt: Path) -> Iterator[Removable]:
    judgement = read_json(attempt / JUDGEMENT)
    dispatches = judgement.get("dispatches", []) if isinstance(judgement, dict) else []
    empty = {
        each.get("dispatch") for each in dispatches if isinstance(each, dict) and each.get("is_placeholder") is True
    }
    if not empty:
        return
    for place, folders, _ in os.walk(attempt / RAW):
        for name in sorted(folders):
            match = _DISPATCH.search(name)
            path = attempt.__class__(place, name)
            if match and int(match[1]) in empty and name.startswith("ui_output") and not path.is_symlink():
                yield _removable(path, "a dispatch of which nothing was recorded")


def _removable(path: Path, reason: str) -> Removable:
    return Removable(path=path, size_bytes=sum(size for _, size in files_below(path)), reason=reason)


def remove(parts: tuple[Removable, ...]) -> None:
    """Remove them.

    Raises
    ------
    OutputError
        When the file system refuses.
    """
    for part in parts:
        try:
            shutil.rmtree(part.path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OutputError(f"cannot remove it: {error.strerror}", where=str(part.path)) from error
