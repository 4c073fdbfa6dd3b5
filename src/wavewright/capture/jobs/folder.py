"""The folder of a job: made, locked, checked, gone on with. `job.py` lists what is in it.

The right to work on a job is a lock of a file in its folder, which goes with its process, however that ends.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from wavewright.base.bounds import integer_of
from wavewright.base.files import open_regular
from wavewright.base.own_folders import link_in, make_below, remove_below
from wavewright.base.shown import json_bytes, shown
from wavewright.capture.jobs.job import Job
from wavewright.errors import BusyError, OutputError, UsageError

JOB, MACHINE, ATTEMPTS, DISCOVERIES, RESULT = "job.json", "machine.json", "attempts", "discovery", "result"
COMMAND, ENDING, JUDGEMENT, FINISHED = "command.json", "ending.json", "judgement.json", "result.json"
STDOUT, STDERR, RAW, LOCK = "stdout.txt", "stderr.txt", "raw", ".lock"
_TWIN = re.compile(rf"\.{RESULT}\.[0-9]{{1,10}}")  #: Left by a process that was killed before it replaced the result.
_RESULT_TARGET = re.compile(rf"{ATTEMPTS}/[0-9]{{1,9}}")
_JSON_BYTES_MAX = 64 << 20  #: Of a file of the folder, which is not read further.
_LOCK_SECONDS = 10.0  #: A capture that is being stopped needs some time.
#: Errors of a file system without locks, on which everybody may work.
_WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL)
_ADVICE = {
    errno.ENOSPC: "free some space, or choose a folder on another disk with -o",
    errno.EROFS: "choose a folder on a disk that can be written with -o",
    errno.EACCES: "choose a folder that you may write with -o",
    errno.ENOTDIR: "a part of the path is a file: choose another -o",
}


class WorkedOnError(BusyError):
    """Another process works on the capture."""

    exit_code = 76


class JobFolder:
    """The folder of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def attempt(self, number: int) -> Path:
        """The folder of an attempt, counted from 1."""
        return self.path / ATTEMPTS / str(number)

    def numbered(self, name: str) -> dict[int, Path]:
        """The folders of attempts (ATTEMPTS) or of discoveries before them (DISCOVERIES) by their numbers, in order."""
        folder = self.path / name
        try:
            numbers = [integer_of(name) for name in os.listdir(folder)]  # noqa: PTH208
        except OSError:
            return {}
        return {number: folder / str(number) for number in sorted(number for number in numbers if number is not None)}

    @property
    def is_finished(self) -> bool:
        """True when nothing is left to be done."""
        return (self.path / FINISHED).is_file()

    def check(self, job: Job, *, resume: bool, force: bool) -> None:
        """Refuse a path at which this job cannot be taken, before anything is written there."""
        where = shown(str(self.path))
        if not os.path.lexists(self.path):
            return
        if not self.path.is_dir():
            raise UsageError("a capture needs a folder, and this is none", where=where, advice="choose another -o")
        if not (self.path / JOB).is_file():
            if any(not entry.name.startswith(".") for entry in self.path.iterdir()):
                what = "the folder is not empty, and holds no capture of wavewright"
                raise UsageError(what, where=where, advice="choose another -o")
            return
        refuse_links(self.path, not_below=[RAW])
        if resume:
            before = str(read_object(self.path / JOB).get("id", ""))
            if before != job.id:
                what = "the capture in this folder is of another job" if before else "job.json cannot be read"
                advice = "give the same program and options as before, or choose another -o"
                raise UsageError(what, where=where, advice=advice)
        elif not force:
            advice = "go on with --resume, replace it with --force, or choose another -o"
            raise UsageError("a capture is here already", where=where, advice=advice)

    def open_for(self, job: Job, *, resume: bool, force: bool) -> None:
        """Write the job into the folder, or go on with the same one. The lock of the job is ours."""
        self.check(job, resume=resume, force=force)
        if (self.path / JOB).is_file():
            if resume:
                return
            self.remove()
        write_json(self.path / JOB, job.as_json())
        self.make(self.path / ATTEMPTS)

    def stored_job(self) -> Job:
        """The job that the folder holds; UsageError when it holds none."""
        try:
            job: Job = converted(read_json(self.path / JOB), Job)
        except UsageError as error:
            raise UsageError(f"no job is here: {error.what}", where=shown(str(self.path / JOB))) from None
        return job

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

    def remove(self) -> None:
        """Remove what a job left here, and nothing else."""
        try:
            for name in (ATTEMPTS, DISCOVERIES):
                with suppress(FileNotFoundError):
                    remove_below(self.path, self.path / name)
            for name in (RESULT, FINISHED, MACHINE, JOB):  # the job last: until then the folder is one of ours
                with suppress(FileNotFoundError):
                    (self.path / name).unlink()
        except OSError as error:
            raise refused("remove the earlier capture", error, self.path) from None


def refuse_links(folder: Path, *, not_below: Sequence[str]) -> None:
    """Refuse a folder in which links would lead elsewhere what we write: the only ones that we make are results."""
    link = link_in(folder, is_ours=_is_result, not_below=not_below)
    if link is not None:
        what = "this folder holds a link that wavewright did not make"
        raise UsageError(what, where=shown(str(link)), advice="choose another -o, or remove the link")


def _is_result(link: Path) -> bool:
    is_named = link.name == RESULT or _TWIN.fullmatch(link.name) is not None
    return is_named and _RESULT_TARGET.fullmatch(os.readlink(link)) is not None  # noqa: PTH115


def refused(what: str, error: OSError, where: Path) -> OutputError:
    """The sentence for a file system that refuses."""
    advice = _ADVICE.get(error.errno or 0, "choose another folder with -o")
    return OutputError(f"cannot {what}: {error.strerror}", where=shown(str(where)), advice=advice)


@contextmanager
def job_lock(folder: Path, *, wait_seconds: float = _LOCK_SECONDS) -> Iterator[None]:
    """Be the only process that works on a job; WorkedOnError when another does."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise OutputError(f"cannot write into the folder: {error.strerror}", where=shown(str(folder))) from None
    try:
        deadline = time.monotonic() + wait_seconds
        while not _is_ours(descriptor):
            if time.monotonic() >= deadline:
                advice = "wait for it, or look at it with wavewright capture status"
                raise WorkedOnError("another process works on this capture", where=shown(str(folder)), advice=advice)
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """True while a process works on a job."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _is_ours(descriptor)
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            raise
    return True


def write_json(path: Path, value: Any) -> None:
    """Write a file that is there whole or not at all, and is on the disk when this returns.

    Only its owner can read it: jobs and commands hold the variables that the user gave, and such are often secrets.
    """
    content = msgspec.json.format(json_bytes(msgspec.to_builtins(value)), indent=2) + b"\n"
    write_once(path, content)


def write_once(path: Path, content: bytes) -> None:
    """Write a file of the owner alone that is there whole or not at all."""
    twin = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        twin.unlink(missing_ok=True)  # of a process of the same number that was killed
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(twin, flags, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        twin.replace(path)
    except OSError as error:
        twin.unlink(missing_ok=True)
        raise OutputError(f"cannot write the file: {error.strerror}", where=shown(str(path))) from None


def read_json(path: Path) -> Any:
    """The content of a file; None when there is none or it holds no JSON."""
    try:
        with open_regular(path) as stream:
            return msgspec.json.decode(stream.read(_JSON_BYTES_MAX))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty when it holds something else."""
    values = read_json(path)
    return values if isinstance(values, dict) else {}


def converted(values: object, kind: Any) -> Any:
    """A struct or dataclass from plain values; keys that it does not have are ignored: a later version wrote them."""
    try:
        return msgspec.convert(values, kind)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise UsageError(f"this is not what wavewright wrote: {error}") from None
