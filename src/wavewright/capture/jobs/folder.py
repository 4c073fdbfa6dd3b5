"""The folder of a job: made, checked, gone on with, and cleared of what nobody wants. `job.py` lists what is in it."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from wavewright.base.own_folders import is_own_folder, link_in, make_below, remove_below
from wavewright.base.shown import shown
from wavewright.capture.jobs.stored import job_id, job_of, job_values, read_json, write_json
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.capture.jobs.job import Job

JOB, MACHINE, ATTEMPTS, DISCOVERIES, RESULT = "job.json", "machine.json", "attempts", "discovery", "result"
COMMAND, ENDING, JUDGEMENT, FINISHED = "command.json", "ending.json", "judgement.json", "result.json"
STDOUT, STDERR, RAW = "stdout.txt", "stderr.txt", "raw"
#: Bytes without which no attempt begins: a log and a small trace.
FREE_BYTES_MIN = 64 << 20
_TWIN = re.compile(rf"\.{RESULT}\.[0-9]{{1,10}}")  #: Left by a process that was killed before it replaced the result.
_RESULT_TARGET = re.compile(rf"{ATTEMPTS}/[0-9]{{1,9}}")


class JobFolder:
    """The folder of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def attempt(self, number: int) -> Path:
        """The folder of an attempt, counted from 1."""
        return self.path / ATTEMPTS / str(number)

    def discovery(self, number: int) -> Path:
        """The folder of a discovery that came before attempts, counted from 1."""
        return self.path / DISCOVERIES / str(number)

    def attempt_folders(self) -> dict[int, Path]:
        """The folders of attempts by their numbers, in order."""
        return _numbered(self.path / ATTEMPTS)

    def discovery_folders(self) -> dict[int, Path]:
        """The folders of discoveries by their numbers, in order."""
        return _numbered(self.path / DISCOVERIES)

    def check(self, job: Job, *, resume: bool, force: bool, identifier: str = "") -> None:
        """Refuse a path at which this job cannot be taken, before anything is written there.

        Raises
        ------
        UsageError
            When something else is there.
        """
        where = shown(str(self.path))
        if not os.path.lexists(self.path):
            return
        if not self.path.is_dir():
            raise UsageError("a capture needs a folder, and this is none", where=where, advice="choose another -o")
        if self._holds_job():
            refuse_links(self.path, not_below=[RAW])
            if resume:
                self._check_same(identifier or job_id(job))
            elif not force:
                advice = "go on with --resume, replace it with --force, or choose another -o"
                raise UsageError("a capture is here already", where=where, advice=advice)
        elif not identifier and any(not entry.name.startswith(".") for entry in self.path.iterdir()):
            what = "the folder is not empty, and holds no capture of wavewright"
            raise UsageError(what, where=where, advice="choose another -o")

    def open_for(self, job: Job, *, resume: bool, force: bool, identifier: str = "") -> str:
        """Make the folder, or go on with one of the same job; the job's id. The lock of the job is ours.

        Raises
        ------
        UsageError
            When something else is there.
        OutputError
            When the file system refuses.
        """
        self.check(job, resume=resume, force=force, identifier=identifier)
        identifier = identifier or job_id(job)
        if self._holds_job():
            if resume:
                return identifier
            self.remove()
        write_json(self.path / JOB, job_values(job) | {"id": identifier})
        self.make(self.path / ATTEMPTS)
        return identifier

    def _holds_job(self) -> bool:
        return (self.path / JOB).is_file()

    def _check_same(self, identifier: str) -> None:
        values = read_json(self.path / JOB)
        before = str(values.get("id")) if isinstance(values, dict) else ""
        if before != identifier:
            raise UsageError(
                "the capture in this folder is of another job" if before else "job.json cannot be read",
                where=shown(str(self.path)),
                advice="give the same program and options as before, or choose another -o",
            )

    def stored_job(self) -> tuple[str, Job]:
        """Id and job as the folder holds them.

        Raises
        ------
        UsageError
            When it holds none.
        """
        try:
            return job_of(read_json(self.path / JOB))
        except UsageError as error:
            raise UsageError(f"no job is here: {error.what}", where=shown(str(self.path / JOB))) from None

    def make(self, folder: Path) -> Path:
        """A folder below this one."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            make_below(self.path, folder)
        except OSError as error:
            raise refused("create a folder of the capture", error, folder) from None
        return folder

    def link_result(self, number: int) -> None:
        """Let `result` lead to the best attempt; it changes at one instant."""
        twin = self.path / f".{RESULT}.{os.getpid()}"
        try:
            twin.unlink(missing_ok=True)
            twin.symlink_to(f"{ATTEMPTS}/{number}")
            twin.replace(self.path / RESULT)
        except OSError as error:
            raise refused("link the result", error, self.path) from None

    def remove_raw(self, number: int) -> int:
        """Remove the raw data of an attempt, and keep its logs; how many bytes that frees."""
        raw = self.attempt(number) / RAW
        size = sum(size for _, size in files_below(raw))
        with suppress(OSError):
            remove_below(self.path, raw)
        return size

    @staticmethod
    def remove_placeholder(raw: Path, dispatch: int) -> int:
        """Remove decoded folders of a dispatch without waves, and the tables beside them; how many bytes that frees."""
        freed = 0
        for folder in sorted(raw.rglob(f"ui_output_agent_*_dispatch_{dispatch}")):
            if is_own_folder(raw, folder):
                freed += sum(size for _, size in files_below(folder))
                with suppress(OSError):
                    remove_below(raw, folder)
                table = folder.with_name(f"stats_{folder.name}.csv")
                if table.is_file():
                    freed += table.stat().st_size
                    table.unlink(missing_ok=True)
        return freed

    def remove(self) -> None:
        """Remove what a job left here, and nothing else.

        Raises
        ------
        OutputError
            When the file system refuses.
        """
        try:
            for name in (ATTEMPTS, DISCOVERIES):
                with suppress(FileNotFoundError):
                    remove_below(self.path, self.path / name)
            for name in (RESULT, FINISHED, MACHINE, JOB):  # the job last: until then the folder is one of ours
                with suppress(FileNotFoundError):
                    (self.path / name).unlink()
        except OSError as error:
            raise refused("remove the earlier capture", error, self.path) from None


def _numbered(folder: Path) -> dict[int, Path]:
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if name.isascii() and name.isdigit() and len(name) < 10]  # noqa: PTH208
        return {number: folder / str(number) for number in sorted(map(int, names))}
    return {}


def refuse_links(folder: Path, *, not_below: Sequence[str]) -> None:
    """Refuse a folder in which links would lead elsewhere what we write: the only ones that we make are results.

    Raises
    ------
    UsageError
        When it holds another.
    """
    link = link_in(folder, is_ours=_is_result, not_below=not_below)
    if link is not None:
        what = "this folder holds a link that wavewright did not make"
        raise UsageError(what, where=shown(str(link)), advice="choose another -o, or remove the link")


def _is_result(link: Path) -> bool:
    is_named = link.name == RESULT or _TWIN.fullmatch(link.name) is not None
    return is_named and _RESULT_TARGET.fullmatch(os.readlink(link)) is not None  # noqa: PTH115


def files_below(folder: Path) -> list[tuple[Path, int]]:
    """Regular files below a folder with their sizes, in the order of their names; links are not followed."""
    files = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = folder.__class__(place, name)
            with suppress(OSError):
                if path.is_file() and not path.is_symlink():
                    files.append((path, path.stat().st_size))
    return files


def refused(what: str, error: OSError, where: Path) -> OutputError:
    """The sentence for a file system that refuses."""
    advice = {
        errno.ENOSPC: "free some space, or choose a folder on another disk with -o",
        errno.EROFS: "choose a folder on a disk that can be written with -o",
        errno.EACCES: "choose a folder that you may write with -o",
        errno.ENOTDIR: "a part of the path is a file: choose another -o",
    }.get(error.errno or 0, "choose another folder with -o")
    return OutputError(f"cannot {what}: {error.strerror}", where=shown(str(where)), advice=advice)
