"""The list of recent inputs, which the user named on the command line and can open again from the page.

It is a file in the user's configuration folder that only the user can read. The page names an entry by its id, never
by a path: it can only open what was typed in a terminal before.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec

from wavewright.base.shown import is_text
from wavewright.errors import UsageError, WavewrightError
from wavewright.page.inputs import Reading, what_is
from wavewright.server.user_state import alone, config_folder, write_privately

MOST_ENTRIES = 20  #: Entries of the list; the oldest are dropped.
_MOST_BYTES = 1 << 20  #: Of the file: a larger one was not written here.
_NAME = "recent.json"
_VERSION = 1
_MOST_SIZED = 5_000  #: Files of an input whose sizes are added up; an input with more has no size.
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Inputs that were opened together."""

    paths: Annotated[tuple[_Path, ...], msgspec.Meta(min_length=1, max_length=1_000)]
    what: Annotated[str, msgspec.Meta(max_length=200)]  #: What the first of them is.
    opened: float  #: When, in seconds since 1970.
    reading: Reading = Reading()

    @property
    def id(self) -> str:
        """Identifier for the page."""
        content = msgspec.json.encode([self.paths, self.reading])
        return hashlib.sha256(content).hexdigest()[:16]


class _Recent(msgspec.Struct, forbid_unknown_fields=True):
    entries: Annotated[list[Entry], msgspec.Meta(max_length=1_000)]
    wavewright_recent: int = _VERSION


def remember(paths: Sequence[Path], reading: Reading) -> None:
    """Put inputs at the top of the list; errors are ignored.

    Inputs that need files of other folders (code objects, resources) or have names that are not UTF-8 are left out.
    """
    folder = config_folder()
    absolute_paths = [str(path.absolute()) for path in paths]
    if folder is None or reading.code_objects or reading.resources or not all(map(is_text, absolute_paths)):
        return
    root = reading.source_root
    reading = msgspec.structs.replace(reading, source_root=str(Path(root).absolute()) if root else None)
    with suppress(OSError, WavewrightError, msgspec.MsgspecError):
        entry = Entry(tuple(absolute_paths), what_is(paths[0]), time.time(), reading)
        with alone(folder):
            others = [other for other in _read(folder) if other.id != entry.id]
            _write(folder, [entry, *others][:MOST_ENTRIES])


def recent_lines(folder: Path | None) -> list[dict[str, Any]]:
    """The entries as the page gets them, the latest first."""
    return [_line(entry) for entry in _read(folder)] if folder else []


def entry_called(folder: Path | None, entry_id: str) -> Entry:
    """The entry with this id. Raises `UsageError` when there is none."""
    for entry in _read(folder) if folder else []:
        if entry.id == entry_id:
            return entry
    raise UsageError("this is not one of the recent inputs", advice="open it with `wavewright open PATH`")


def forget(folder: Path | None, entry_id: str) -> None:
    """Remove an entry from the list."""
    if folder is None:
        return
    with suppress(OSError), alone(folder):
        _write(folder, [entry for entry in _read(folder) if entry.id != entry_id])


def _line(entry: Entry) -> dict[str, Any]:
    first = Path(entry.paths[0])
    more = f" and {len(entry.paths) - 1:,} more" if len(entry.paths) > 1 else ""
    is_there = all(os.path.exists(path) for path in entry.paths)  # noqa: PTH110 - false where Path raises
    return {
        "id": entry.id,
        "label": first.name + more,
        "paths": entry.paths,
        "what": entry.what,
        "opened": entry.opened,
        "is_there": is_there,
        "bytes": _bytes_at(entry.paths) if is_there else None,
    }


def _bytes_at(paths: Sequence[str]) -> int | None:
    """The size of files and of all files in folders; None = there are too many."""
    total, entries_left, paths_left = 0, _MOST_SIZED, list(paths)
    while paths_left:
        path = paths_left.pop()
        with suppress(OSError):
            facts = os.stat(path, follow_symlinks=path in paths)  # noqa: PTH116 - texts are quicker
            total += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
            if stat.S_ISDIR(facts.st_mode):
                paths_left += [entry.path for entry in os.scandir(path)]
        entries_left -= 1
        if entries_left < 0 or len(paths_left) > entries_left:
            return None
    return total


def _read(folder: Path) -> list[Entry]:
    """The entries; none if the file does not exist, is damaged, or others can have written it."""
    try:
        handle = os.open(folder / _NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            facts = os.fstat(stream.fileno())
            if facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS_WRITE or not stat.S_ISREG(facts.st_mode):
                return []
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            return []
        return msgspec.json.decode(content, type=_Recent).entries[:MOST_ENTRIES]
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def _write(folder: Path, entries: list[Entry]) -> None:
    content = msgspec.json.format(msgspec.json.encode(_Recent(entries)), indent=1)
    write_privately(folder / _NAME, content)
