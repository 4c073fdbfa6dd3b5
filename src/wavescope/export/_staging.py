"""Outputs appear whole or not at all: they are built in a temporary sibling folder and renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["staged"]

_ATTEMPTS, _PAUSE_SECONDS = 40, 0.05


@contextlib.contextmanager
def staged(targets: Sequence[Path], *, force: bool, mark: str | None = None) -> Iterator[list[Path]]:
    """Give a temporary twin for each of `targets` (all in one folder); move them there when the block ends well.

    With `force`, existing targets are replaced; a directory only if it holds the file `mark` (an earlier output) or
    nothing, so that a mistyped path cannot remove foreign files.

    Raises
    ------
    UsageError
        When a target exists and must not be replaced.
    WavescopeError
        When the file system refuses.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with staged([target], force=False) as (twin,):
    ...     _ = twin.write_text("42")
    >>> target.read_text()
    '42'
    """
    folder = targets[0].parent
    for target in targets:
        _check_replaceable(target, force=force, mark=mark)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    staging = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".wavescope-", dir=folder))
        twins = [staging / target.name for target in targets]
        yield twins
        _publish(list(zip(twins, targets, strict=True)), staging)
    except OSError as error:
        what = f"cannot write the output: {error.strerror or error}"
        raise OutputError(what, where=str(folder), advice="check the path, its permissions and free space") from error
    finally:
        if staging is not None:
            _remove(staging)
        with contextlib.suppress(OSError):  # those that hold what was written stay
            for parent in made:
                parent.rmdir()


def _remove(staging: Path) -> None:
    """Remove it even if a thread of polars, whose query failed, still creates a file in it."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(staging, ignore_errors=True)
        if not staging.exists():
            return
        time.sleep(_PAUSE_SECONDS)


def _check_replaceable(target: Path, *, force: bool, mark: str | None) -> None:
    if not os.path.lexists(target):
        return
    if not force:
        what = "the output exists already"
        raise UsageError(what, where=str(target), advice="give another place, or --force to replace it")
    is_directory = target.is_dir() and not target.is_symlink()
    if is_directory and any(target.iterdir()) and not (mark and (target / mark).is_file()):
        what = "this directory holds something else and is not replaced"
        raise UsageError(what, where=str(target), advice="give another place")


def _publish(pairs: list[tuple[Path, Path]], staging: Path) -> None:
    """Swap every twin in; on failure put back what was there."""
    replaced = [(target, staging / f"replaced-{number}") for number, (_, target) in enumerate(pairs)]
    published: list[Path] = []
    try:
        for (twin, target), (_, old) in zip(pairs, replaced, strict=True):
            if os.path.lexists(target):
                target.rename(old)
            twin.rename(target)
            published.append(target)
    except OSError:
        for target, old in replaced:
            if target in published:
                target.rename(staging / f"withdrawn-{target.name}")
            if os.path.lexists(old):
                old.rename(target)
        raise
