"""What of captures can be removed without losing what they are for: replaced attempts, placeholders, dropped jobs."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.base.job_folders import is_job_folder
from wavewright.base.own_folders import is_own_folder, remove_below
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
    """A folder that is not needed."""

    root: Path  #: The folder that was asked about; no link leads from it to `path`.
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
                if not is_own_folder(folder, place) or worker_of(work_folder(folder, name)) is not None:
                    continue
                if name in planned:
                    parts += _of_job(folder, place)
                elif is_job_folder(str(place)) and not is_locked(place):
                    parts.append(_removable(folder, place, "a job that is no longer in the plan"))
        return tuple(parts)
    if Manifest(folder).path.is_file():
        return tuple(_of_job(folder, folder))
    what = "there is neither a pool nor a capture here" if folder.is_dir() else "there is no such folder"
    raise UsageError(what, where=str(folder), advice="give the FOLDER of `wavewright capture ... -o FOLDER`")


def _of_job(root: Path, place: Path) -> Iterator[Removable]:
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
        if not is_own_folder(root, raw):
            continue
        if attempt.resolve() != result:
            yield _removable(root, raw, "data of an attempt that another replaced")
        else:
            yield from _placeholders(root, attempt)


def _placeholders(root: Path, attempt: Path) -> Iterator[Removable]:
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
                yield _removable(root, path, "a dispatch of which nothing was recorded")


def _removable(root: Path, path: Path, reason: str) -> Removable:
    return Removable(root=root, path=path, size_bytes=sum(size for _, size in files_below(path)), reason=reason)


def remove(parts: tuple[Removable, ...]) -> None:
    """Remove them.

    Raises
    ------
    OutputError
        When the file system refuses.
    """
    for part in parts:
        try:
            remove_below(part.root, part.path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OutputError(f"cannot remove it: {error.strerror}", where=str(part.path)) from error
