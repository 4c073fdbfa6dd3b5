"""Outputs appear completely or not at all: they are built in a temporary sibling folder and moved at the end."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from wavewright.base import stopping
from wavewright.base.scratch import scratch_folder
from wavewright.errors import OutputError, UsageError, WavewrightError

#: Error numbers of the file system when the name of a new output is taken.
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  #: The form of system errors in Rust libraries.
_PROBE_BYTES = 1 << 16  #: Written to learn whether the disk is full.
_WITHOUT_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)  #: No link can be made.


@contextlib.contextmanager
def staged(targets: Sequence[Path], *, force: bool, mark: str | None = None) -> Iterator[list[Path]]:
    """Yield a temporary path for each of `targets` (all in one folder); move them there when the block succeeds.

    With `force`, existing targets are replaced; a directory only if it holds the file `mark` (an earlier output) or
    nothing, so that a mistyped path cannot remove foreign files. Without it, of several processes that write the same
    target one succeeds. Raises `UsageError` when a target exists and must not be replaced; `WavewrightError` when the
    file system refuses.
    """
    folder = targets[0].parent
    _check_folder(folder, targets[0])
    where = str(targets[0] if len(targets) == 1 else folder)
    for target in targets:
        _check_replaceable(target, force=force, mark=mark)
    try:
        with _new_folders(folder), scratch_folder(folder) as staging:
            twins = [staging / target.name for target in targets]
            with _system_errors(staging, where):
                yield twins
            with stopping.unstopped():
                for target in targets:
                    _check_replaceable(target, force=force, mark=mark)
                _publish(list(zip(twins, targets, strict=True)), staging, force=force)
    except OutputError as error:  # the writer of the temporary file does not know the target
        raise OutputError(error.what, where=where, advice=error.advice) from error
    except OSError as error:
        raise _refused(error.strerror or str(error), where) from error


def _refused(reason: str, where: str) -> OutputError:
    advice = "check the path, its permissions and free space"
    return OutputError(f"cannot write the output: {reason}", where=where, advice=advice)


def _check_folder(folder: Path, target: Path) -> None:
    """One new folder is made; of several in a row the path is more likely wrong."""
    above = folder.parent
    if not folder.exists() and not above.exists():
        problem = f"there is no folder {above}"
        raise UsageError(problem, where=str(target), advice="correct the path, or make the folder first")


@contextlib.contextmanager
def _system_errors(staging: Path, where: str) -> Iterator[None]:
    """Report a full disk as such, where libraries report a broken file or a panic."""
    try:
        yield
    except (OSError, WavewrightError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # a panic inside polars is not an Exception
        if reason := _refusal(error, staging):
            raise _refused(reason, where) from error
        raise


def _refusal(error: BaseException, staging: Path) -> str:
    """The reason why the file system cannot write; empty = the error has another cause."""
    if match := _SYSTEM_ERROR.search(str(error)):
        return os.strerror(int(match[1]))
    try:
        with (staging / "probe").open("wb") as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as refusal:
        return refusal.strerror or str(refusal)
    return ""


@contextlib.contextmanager
def _new_folders(folder: Path) -> Iterator[None]:
    """Create the folder and its parents; new ones that stay empty are removed."""

    def remove() -> None:
        with contextlib.suppress(OSError):  # folders with outputs stay
            for parent in missing_folders:
                parent.rmdir()

    with stopping.unstopped():
        missing_folders = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        forget = stopping.add(remove)
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        remove()
        forget()


def _check_replaceable(target: Path, *, force: bool, mark: str | None) -> None:
    if not os.path.lexists(target):
        return
    if not force:
        raise _exists(target)
    is_directory = target.is_dir() and not target.is_symlink()
    if is_directory and any(target.iterdir()) and not (mark and (target / mark).is_file()):
        problem = "this directory contains other files and is not replaced"
        raise UsageError(problem, where=str(target), advice="choose another path")


def _exists(target: Path) -> UsageError:
    problem = "the output exists already"
    return UsageError(problem, where=str(target), advice="choose another path, or --force to replace it")


def _publish(pairs: list[tuple[Path, Path]], staging: Path, *, force: bool) -> None:
    """Move every temporary file to its target; on failure restore the old targets."""
    replacements = [(target, staging / f"replaced-{number}") for number, (_, target) in enumerate(pairs)]
    published_paths: list[Path] = []
    try:
        for (twin, target), (_, old) in zip(pairs, replacements, strict=True):
            if force and os.path.lexists(target):
                target.rename(old)
            _put(twin, target)
            published_paths.append(target)
    except (OSError, UsageError):
        for target, old in replacements:
            if target in published_paths:
                target.rename(staging / f"withdrawn-{target.name}")
            if os.path.lexists(old):
                old.rename(target)
        raise


def _put(twin: Path, target: Path) -> None:
    """Move the temporary file to its free name; if another process takes the name meanwhile, it keeps it.

    A directory replaces no file, and only an empty directory; a file would replace a file, a link to it does not.
    """
    try:
        if twin.is_dir():
            twin.rename(target)
            return
        try:
            os.link(twin, target)
        except OSError as error:
            if error.errno not in _WITHOUT_LINKS:
                raise
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # reserves the name if it is free
            twin.rename(target)
    except OSError as error:
        if error.errno in _TAKEN:
            raise _exists(target) from error
        raise
