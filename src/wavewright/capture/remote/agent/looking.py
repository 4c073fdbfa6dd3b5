"""Questions about the machine; nothing is changed."""
# ruff: noqa: PTH100, PTH113, PTH116, PTH120, PTH207, PTH208
# ruff: noqa: UP006, UP035, UP045

import errno
import glob
import os
import platform
import re
import stat
from contextlib import suppress
from typing import Any, Dict, List, Optional, Tuple

from wavewright.capture.remote.agent.wire import decoded, encoded

READ_BYTES_MAX = 4 << 20  # as in capture/machines/machine.py
PREFETCH_FILES_MAX = 20000
PREFETCH_BYTES_MAX = 8 << 20  # of all files that are sent ahead together
PREFETCH_FILE_BYTES_MAX = 64 << 10
_BLOCK = 1 << 16
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"


def identity() -> Dict[str, Any]:
    """Who runs here, and on what."""
    import grp

    system = os.uname()
    gids = sorted(set(os.getgroups()) | {os.getegid()})
    names = {}
    for gid in gids:
        with suppress(KeyError):
            names[str(gid)] = grp.getgrgid(gid).gr_name
    return {
        "hostname": system.nodename,
        "system": system.sysname,
        "kernel": system.release,
        "processor": system.machine,
        "uid": os.geteuid(),
        "gids": gids,
        "group_names": names,
        "python": platform.python_version(),
    }


def read(path: bytes, most: int = READ_BYTES_MAX) -> Optional[bytes]:
    """The first bytes of a regular file; None = it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        parts = []
        while most > 0:
            part = os.read(descriptor, min(_BLOCK, most))
            if not part:
                break
            parts.append(part)
            most -= len(part)
        return b"".join(parts)
    except OSError:  # files of sysfs and proc may refuse to be read after they were opened
        return None
    finally:
        os.close(descriptor)


def names(folder: bytes) -> List[str]:
    """Sorted names of the entries of a folder."""
    try:
        return sorted(map(decoded, os.listdir(folder)))
    except (OSError, ValueError):
        return []


def kind_of(mode: int) -> str:
    """The kind of a file, as messages name it."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "device" if stat.S_ISCHR(mode) else "other"


def facts(path: bytes) -> Optional[List[Any]]:
    """Kind, permission bits, uid, gid, bytes and time of change; None = there is nothing."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    mode = status.st_mode
    return [kind_of(mode), stat.S_IMODE(mode), status.st_uid, status.st_gid, status.st_size, status.st_mtime_ns]


def real_path(path: bytes) -> str:
    """The path with all links followed."""
    try:
        return decoded(os.path.realpath(path))
    except (OSError, ValueError):
        return decoded(path)


def refusal(path: bytes) -> str:
    """Why a file cannot be opened for reading and writing; empty = it can."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "EIO")
    except ValueError:  # a NUL in the path
        return "EINVAL"
    return ""


def free_bytes(path: bytes) -> Optional[int]:
    """Free bytes of the file system of a path or of its nearest parent that exists."""
    while True:
        try:
            system = os.statvfs(path)
        except OSError as error:
            if error.errno != errno.ENOENT or path in (b"/", b""):
                return None
            path = os.path.dirname(path)
        except ValueError:
            return None
        else:
            return system.f_bavail * system.f_frsize


def program(name: bytes) -> Optional[str]:
    """The absolute path of a program on PATH, or of a path to one."""
    if b"/" in name:
        return decoded(os.path.abspath(name)) if _is_program(name) else None
    for folder in os.environb.get(b"PATH", _DEFAULT_PATH).split(b":"):
        path = folder.rstrip(b"/") + b"/" + name
        if folder.startswith(b"/") and name and _is_program(path):
            return decoded(path)
    return None


def _is_program(path: bytes) -> bool:
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def sent_ahead(patterns: List[str]) -> Tuple[Dict[str, Any], bytes]:
    """Everything about the paths of glob patterns and the folders on the way to them, in one answer.

    Files are read: a pattern must not reach files of sysfs at which reading does something (zram-control/hot_add).
    """
    paths = set()
    for pattern in patterns:
        if glob.has_magic(pattern):
            matches = _matches(encoded(pattern))
            fixed = os.path.dirname(encoded(re.split(r"[*?[]", pattern)[0]))
            paths.add(fixed)
            for path in matches:  # and the folders on the way, which are asked for their names
                while len(path) > len(fixed) and path not in paths:
                    paths.add(path)
                    path = os.path.dirname(path)
        else:
            paths.add(encoded(pattern))
        if len(paths) > PREFETCH_FILES_MAX:
            break
    answer = {}
    contents = []
    rest = PREFETCH_BYTES_MAX
    for path in sorted(paths)[:PREFETCH_FILES_MAX]:
        about = facts(path)
        entry: Dict[str, Any] = {"facts": about, "real_path": real_path(path)}
        if about is None:
            entry["bytes"] = None
            entry["names"] = []
        elif about[0] == "folder":
            entry["bytes"] = None
            entry["names"] = names(path)
        elif about[0] == "file":
            entry["names"] = []
            content = read(path, min(PREFETCH_FILE_BYTES_MAX, rest) + 1)
            if content is None or len(content) <= min(PREFETCH_FILE_BYTES_MAX, rest):  # larger ones are asked for
                entry["bytes"] = None if content is None else len(content)
                contents.append(content or b"")
                rest -= len(content or b"")
        answer[decoded(path)] = entry
    return answer, b"".join(contents)


def _matches(pattern: bytes) -> List[bytes]:
    matches = []
    try:
        for path in glob.iglob(pattern):
            matches.append(path)
            if len(matches) > PREFETCH_FILES_MAX:
                break
    except (OSError, ValueError):
        pass
    return matches
