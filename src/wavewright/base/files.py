"""Confinement of inputs: regular files are read, and links that stay inside of the input. Every reader asks here.

Inputs are untrusted. A pipe would block, a device never ends, and a link could lead to any file that the user may
read, whose content would end up in a report that is passed on.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wavewright.base.words import some_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LEADS_OUT = "a link that leads out of the folder"
TO_NOTHING = "a link to nothing"
NO_FILE = "neither a file nor a folder"
_NAMED = 4  #: Names that one line lists.


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file; never blocks on a pipe. Raises `OSError` when it cannot be opened, or is something else."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file. Raises `OSError` when it cannot be read, or is something else."""
    with open_regular(path) as stream:
        return stream.read()


def is_inside(path: str | os.PathLike[str], root: str | os.PathLike[str]) -> bool:
    """True if a path stays below `root` when all links are followed.

    >>> is_inside("/usr/../etc", "/usr"), is_inside("/usr/nothing", "/usr")
    (False, True)
    """
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    except ValueError:  # a name with a NUL character
        return False


def not_read(path: str | os.PathLike[str], root: str | os.PathLike[str]) -> str:
    """Reason for not reading a file or folder found below `root`; empty = it may be read.

    >>> not_read("/dev/null", "/dev"), not_read("/usr", "/etc"), not_read("/usr", "/")
    ('neither a file nor a folder', 'a link that leads out of the folder', '')
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - `path` may be text
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
            return TO_NOTHING if os.path.lexists(path) else "no such file"
        return f"cannot be read ({error.strerror})"
    except ValueError:  # a name with a NUL character
        return TO_NOTHING
    if not is_inside(path, root):
        return LEADS_OUT
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else NO_FILE


def not_read_here(entry: os.DirEntry[str] | Path, root: str | os.PathLike[str]) -> str:
    """`not_read` for an entry of a folder that is known to be inside of `root`; only links need the full check."""
    if isinstance(entry, os.DirEntry):  # the folder lists the types, so no file is asked
        is_plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    else:
        is_plain = not entry.is_symlink() and (entry.is_file() or entry.is_dir())
    return "" if is_plain else not_read(entry, root)


def listed(reasons: Mapping[str, str]) -> str:
    """One line with the first names that were not read and the reason for each."""
    return some_of(reasons.items(), _NAMED, ": ".join)
