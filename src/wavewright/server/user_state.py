"""The state of the page that lasts: settings, layouts, bookmarks, named sets of counters.

It is a file in the user's configuration folder, changed key by key, so that two pages do not overwrite each other's
changes.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec

from wavewright.errors import UsageError, WavewrightError

MOST_BYTES = 4 << 20  #: The whole file, and one request of the page.
_NAME = "page.json"
_VERSION = 1
_Key = Annotated[str, msgspec.Meta(min_length=1, max_length=5_000)]


class _State(msgspec.Struct, forbid_unknown_fields=True):
    entries: Annotated[dict[_Key, Any], msgspec.Meta(max_length=5_000)]
    wavewright_page: int = _VERSION


def config_folder() -> Path | None:
    """Folder of the state: `WAVEWRIGHT_CONFIG`, else below `XDG_CONFIG_HOME` or `~/.config`; None = switched off."""
    variable = os.environ.get("WAVEWRIGHT_CONFIG")
    if variable is not None:
        return Path(variable).absolute() if variable else None
    base = os.environ.get("XDG_CONFIG_HOME", "")
    with suppress(RuntimeError):
        return (Path(base) if Path(base).is_absolute() else Path.home() / ".config") / "wavewright"
    return None


def read_state(folder: Path | None) -> dict[str, Any]:
    """The entries of the state, their file, and the reason if the file could not be read."""
    if folder is None:
        return {"entries": {}, "place": None, "problem": ""}
    file = folder / _NAME
    entries, problem = _read(file)
    if problem:
        problem = f"settings and bookmarks could not be read: {problem}; the next change starts new ones"
        problem += f" and leaves the old file as {_beside(file).name}"
    return {"entries": entries, "place": str(file), "problem": problem}


def change_state(folder: Path | None, content: bytes) -> dict[str, Any]:
    """Change the keys that the page sent, all or none; a value of null removes its key.

    Raises `UsageError` when the content is no state, or too large; `WavewrightError` when it cannot be written.
    """
    if folder is None:
        raise UsageError("there is no folder to keep settings in")
    changes = _decoded(content).entries
    file = folder / _NAME
    try:
        with alone(folder):
            entries, problem = _read(file)
            if problem:
                file.replace(_beside(file))
            entries = {key: value for key, value in (entries | changes).items() if value is not None}
            _write(file, entries)
    except OSError as error:
        what = f"settings and bookmarks cannot be kept: {error.strerror or error}"
        advice = "they stay in this browser; WAVEWRIGHT_CONFIG=FOLDER keeps them elsewhere"
        raise WavewrightError(what, where=str(file), advice=advice) from error
    return {"place": str(file)}


def _beside(file: Path) -> Path:
    return file.with_suffix(".unreadable.json")


def _read(file: Path) -> tuple[dict[str, Any], str]:
    """The entries, and the reason if an existing file could not be read."""
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        return _decoded(content).entries, ""
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{file}: {error.strerror or error}"
    except UsageError as error:
        return {}, f"{file}: {error.what}"


def _write(file: Path, entries: dict[str, Any]) -> None:
    content = msgspec.json.format(msgspec.json.encode(_State(entries)), indent=1)
    _decoded(content)  # raises if it could not be read again
    write_privately(file, content)


def write_privately(file: Path, content: bytes) -> None:
    """Write a file completely or not at all, readable by the user only (0600)."""
    handle, twin = tempfile.mkstemp(prefix=f".{file.stem}-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(twin).replace(file)
    except BaseException:
        Path(twin).unlink(missing_ok=True)
        raise


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder, made if it is missing, against other processes of `wavewright open`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _decoded(content: bytes) -> _State:
    if len(content) > MOST_BYTES:
        problem = f"more than {MOST_BYTES:,} bytes of settings and bookmarks"
        advice = "remove bookmarks that are no longer needed, or save them next to their traces"
        raise UsageError(problem, advice=advice)
    try:
        return msgspec.json.decode(content, type=_State)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"not settings of wavewright: {error}") from error
