"""Folders that wavewright writes, resumes and clears, without following links out of them.

Such a folder may be untrusted, with links where files would be written or removed. Only the folder that the user named
may be a link itself.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def _opened(root: Path, names: Iterable[str], *, is_made: bool = False) -> Iterator[int]:
    """The descriptor of a folder below `root`, reached name by name; a link on the way raises OSError."""
    descriptor = os.open(root, _FOLDER)
    try:
        for name in names:
            if is_made:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def is_own_folder(root: Path, folder: Path) -> bool:
    """True if `folder` is a folder below `root`, with no link between them."""
    try:
        with _opened(root, folder.relative_to(root).parts):
            return True
    except OSError:
        return False


def make_below(root: Path, folder: Path) -> None:
    """Make a folder below `root`, with its parents.

    Raises `OSError` when the file system refuses, or a component of the path is a link or a file.
    """
    with _opened(root, folder.relative_to(root).parts, is_made=True):
        pass


def remove_below(root: Path, folder: Path) -> None:
    """Remove a folder below `root` with its content; links in it are removed, not followed.

    Raises `OSError` when the file system refuses, or a component of the path is a link.
    """
    *names, last = folder.relative_to(root).parts
    with _opened(root, names) as descriptor:
        shutil.rmtree(last, dir_fd=descriptor)


def link_in(root: Path, *, is_ours: Callable[[Path], bool], not_below: Iterable[str] = ()) -> Path | None:
    """The first link below `root` for which `is_ours` is false; folders with a name of `not_below` are not entered."""
    closed_folders = set(not_below)
    for place, folders, files in os.walk(root):
        folders.sort()
        for name in (*folders, *sorted(files)):
            path = Path(place, name)
            if path.is_symlink() and not is_ours(path):
                return path
        folders[:] = [name for name in folders if name not in closed_folders]
    return None
