"""Folders of captures: what programs leave, until it was brought to the other end."""
# ruff: noqa: PTH102, PTH103, PTH111, PTH112, PTH118, PTH119, PTH120, PTH123, PTH207, PTH208
# ruff: noqa: UP006, UP035, UP045

import glob
import hashlib
import os
import re
import signal
import stat
import time
from typing import Any, Dict, List, Optional, Tuple

from wavewright.capture.remote.agent.looking import kind_of
from wavewright.capture.remote.agent.programs import kill_rest, process_start, read_state, send_signal
from wavewright.capture.remote.agent.wire import decoded, encoded

FILES_MAX = 200000  # of one folder, in one list
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_MODE = 0o700


def base_folders() -> List[bytes]:
    """Where folders of captures may be, the best first."""
    home = os.environb.get(b"HOME") or os.path.expanduser(b"~")
    places = [os.environb.get(b"WAVEWRIGHT_REMOTE_FOLDER"), os.environb.get(b"XDG_CACHE_HOME")]
    places = [place if place and place.startswith(b"/") else None for place in places]
    first, cache = places
    candidates = [first] if first else []
    if cache:
        candidates.append(cache + b"/wavewright/remote")
    if home.startswith(b"/") and home != b"/":
        candidates.append(home + b"/.cache/wavewright/remote")
    return [*candidates, b"/var/tmp/wavewright-%d" % os.geteuid(), b"/tmp/wavewright-%d" % os.geteuid()]


def is_private(folder: bytes) -> bool:
    """Whether nobody else can have put files into a folder."""
    status = os.lstat(folder)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def capture_folder(token: str, *, is_new: bool) -> Optional[bytes]:
    """The folder of a capture; None = there is none and it is not to be made."""
    if not NAME.match(token):
        raise ValueError(f"no name of a capture: {token!r}")
    problems = []
    for base in base_folders():
        folder = os.path.join(base, encoded(token))
        if os.path.isdir(folder) and is_private(folder):
            return folder
    for base in base_folders() if is_new else []:
        folder = os.path.join(base, encoded(token))
        try:
            os.makedirs(base, mode=_MODE, exist_ok=True)
            if not is_private(base):
                problems.append(f"{decoded(base)} belongs to somebody else")
                continue
            os.mkdir(folder, _MODE)
            os.mkdir(os.path.join(folder, b"data"), _MODE)
            os.mkdir(os.path.join(folder, b"runs"), _MODE)
        except OSError as error:
            problems.append(f"{decoded(base)}: {error.strerror}")
            continue
        return folder
    if is_new:
        raise ValueError(f"no folder for the data can be made there ({'; '.join(problems)})")
    return None


def files_of(data: bytes) -> Tuple[List[List[Any]], bool]:
    """Name, kind, bytes and time of change of all below a folder, links not followed, and whether that is all."""
    entries: List[List[Any]] = []
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        try:
            content = os.listdir(os.path.join(data, folder))
        except OSError:
            continue
        for name in sorted(content):
            relative = os.path.join(folder, name)
            try:
                status = os.lstat(os.path.join(data, relative))
            except OSError:
                continue
            kind = "link" if stat.S_ISLNK(status.st_mode) else kind_of(status.st_mode)
            if kind == "folder":
                waiting.append(relative)
            entries.append([decoded(relative), kind, status.st_size, status.st_mtime_ns])
            if len(entries) >= FILES_MAX:
                return entries, False
    return entries, True


def path_below(data: bytes, name: str) -> bytes:
    """The path of a file below a folder."""
    parts = encoded(name).split(b"/")
    if any(part in (b"", b".", b"..") for part in parts):
        raise ValueError(f"no name of a file: {name!r}")
    return os.path.join(data, *parts)


def write(data: bytes, name: str, content: bytes) -> bytes:
    """Write a small file that a program needs; its path."""
    path = path_below(data, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def opened(data: bytes, name: str) -> Any:
    """A regular file below a folder, open for reading."""
    descriptor = os.open(path_below(data, name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{name!r} is not a regular file")
    return os.fdopen(descriptor, "rb", 0)


def hash_of(data: bytes, name: str, length: int) -> Dict[str, Any]:
    """SHA-256 of the first `length` bytes of a file, and how many there were."""
    digest = hashlib.sha256()
    rest = length
    with opened(data, name) as file:
        while rest > 0:
            part = file.read(min(1 << 20, rest))
            if not part:
                break
            digest.update(part)
            rest -= len(part)
    return {"sha256": digest.hexdigest(), "bytes": length - rest}


def wait_for(mark: str) -> None:
    """Wait for programs with a mark that an agent of an earlier connection is stopping: a second SIGINT would mean to
    many that they must not write their data.
    """
    end = time.monotonic() + 900.0
    for base in base_folders():
        for place in glob.glob(os.path.join(glob.escape(base), b"*", b"runs", b"*.json")):
            state = read_state(place[: -len(b".json")])
            if mark and state and state.get("mark") == mark:
                folder, number = os.path.dirname(os.path.dirname(place)), os.path.basename(place)[: -len(b".json")]
                while remains(folder, int(number))["alive"] and time.monotonic() < end:
                    time.sleep(0.1)


def remains(folder: bytes, number: int) -> Dict[str, Any]:
    """What became of a run whose connection was lost: `alive` while it is being stopped, else its ending.

    A program whose agent was killed is stopped here.
    """
    place = os.path.join(folder, b"runs", b"%d" % number)
    state = read_state(place)
    if state is None:
        return {"alive": False, "ending": None}
    if state.get("ending") is not None:
        return {"alive": False, "ending": state["ending"]}
    if state.get("agent_start") and process_start(int(state["agent"])) == state["agent_start"]:
        return {"alive": True, "ending": None}
    group = int(state["pid"])
    if not state.get("start") or process_start(group) != state["start"]:
        return {"alive": False, "ending": None}
    send_signal(group, signal.SIGINT)
    end = time.monotonic() + float(state.get("grace_seconds", 10.0))
    while time.monotonic() < end and process_start(group) == state["start"]:
        time.sleep(0.1)
    kill_rest(group, str(state.get("mark", "")))
    return {"alive": False, "ending": None}
