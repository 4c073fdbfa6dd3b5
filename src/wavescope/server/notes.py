"""Notes beside a trace: the only thing that the page can write, in one file, and only when the user asks for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec

from wavescope.base.files import open_regular
from wavescope.base.scratch import scratch_folder
from wavescope.errors import UsageError, WavescopeError

MOST_BYTES = 1 << 20
_VERSION = 1


class Note(msgspec.Struct, forbid_unknown_fields=True):
    """A bookmark: where in the page, and what the user has to say about it."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    text: Annotated[str, msgspec.Meta(max_length=10_000)]
    address: Annotated[str, msgspec.Meta(max_length=10_000)]  #: The part of the page's URL behind `#`.
    created: Annotated[str, msgspec.Meta(max_length=40)]


class _Notes(msgspec.Struct, forbid_unknown_fields=True):
    notes: Annotated[list[Note], msgspec.Meta(max_length=2_000)]
    wavescope_notes: int = _VERSION


def read_notes(file: str) -> dict[str, Any]:
    """What the page is told: the notes in `file`, whether it is there, and whether it can be written.

    Raises
    ------
    WavescopeError
        When the file is there but holds something else.

    Examples
    --------
    >>> read_notes("")
    {'notes': [], 'saved_at': None, 'can_save': False}
    """
    path = Path(file)
    can_save = bool(file) and os.access(path.absolute().parent, os.W_OK)
    if not file or not os.path.exists(path):  # noqa: PTH110 - false for what may not be looked at, where Path raises
        return {"notes": [], "saved_at": None, "can_save": can_save}
    try:
        with open_regular(path) as stream:
            content = stream.read(MOST_BYTES + 1)
        notes = _decoded(content).notes
    except (OSError, UsageError) as error:
        what = f"the notes cannot be read: {error}"
        raise WavescopeError(what, where=file, advice="move the file away to start new ones") from error
    return {"notes": notes, "saved_at": file, "can_save": can_save}


def write_notes(file: str, content: bytes) -> dict[str, Any]:
    """Put notes as the page sent them into `file`, whole or not at all.

    Raises
    ------
    UsageError
        When they are not notes, or there is no place for them.
    WavescopeError
        When the file cannot be written, or holds something else.
    """
    if not file:
        raise UsageError("there is no place to save notes at")
    notes = _decoded(content)
    read_notes(file)  # what is there and is no file of notes is not replaced
    path = Path(file).absolute()
    try:
        with scratch_folder(path.parent) as folder:
            twin = folder / path.name
            twin.write_bytes(msgspec.json.format(msgspec.json.encode(notes), indent=1))
            twin.replace(path)
    except OSError as error:
        what = f"the notes cannot be written: {error.strerror or error}"
        advice = "they stay in this browser; `wavescope open --notes FILE` saves them elsewhere"
        raise WavescopeError(what, where=file, advice=advice) from error
    return {"notes": notes.notes, "saved_at": file, "can_save": True}


def _decoded(content: bytes) -> _Notes:
    if len(content) > MOST_BYTES:
        raise UsageError(f"more than {MOST_BYTES:,} bytes of notes", advice="remove some")
    try:
        return msgspec.json.decode(content, type=_Notes)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"not notes of wavescope: {error}") from error
