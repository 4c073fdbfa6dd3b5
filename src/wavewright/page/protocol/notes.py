"""Bookmarks and flags of the user about a document: one file beside it, written only when the user asks for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec

from wavewright.base.files import open_regular
from wavewright.base.scratch import scratch_folder
from wavewright.errors import UsageError, WavewrightError

MOST_BYTES = 1 << 20
_VERSION = 1


class Note(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A bookmark: a place in the page with a text of the user; a flag when it has a time."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    text: Annotated[str, msgspec.Meta(max_length=10_000)]
    address: Annotated[str, msgspec.Meta(max_length=10_000)]  #: The part of the page's URL behind `#`.
    created: Annotated[str, msgspec.Meta(max_length=40)]
    time: float | None = None  #: Of a flag: where it stands, in the unit of the document.
    colour: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None  #: Of a flag: number of its colour.
    author: Annotated[str, msgspec.Meta(max_length=100)] | None = None  #: Who wrote it; None = not said.
    change_time: Annotated[str, msgspec.Meta(max_length=40)] | None = None  #: Of the last change; None = unchanged.


class Notes(msgspec.Struct, forbid_unknown_fields=True):
    """Contents of the file of notes."""

    notes: Annotated[list[Note], msgspec.Meta(max_length=2_000)]
    wavewright_notes: int = _VERSION


def read_notes(file: str) -> dict[str, Any]:
    """The notes in `file` (none when it does not exist), where they are saved, and whether they can be.

    Raises `WavewrightError` when the file holds something else.
    """
    path = Path(file)
    can_save = bool(file) and os.access(path.absolute().parent, os.W_OK)
    if not file or not os.path.exists(path):  # noqa: PTH110 - false for what may not be looked at, where Path raises
        return {"notes": [], "saved_at": None, "can_save": can_save}
    try:
        with open_regular(path) as stream:
            content = stream.read(MOST_BYTES + 1)
        notes = decoded_notes(content).notes
    except (OSError, UsageError) as error:
        problem = f"the notes cannot be read: {error}"
        raise WavewrightError(problem, where=file, advice="move the file away to start new ones") from error
    return {"notes": notes, "saved_at": file, "can_save": can_save}


def decoded_notes(content: bytes) -> Notes:
    """Notes as the page or the file has them. Raises `UsageError` when they are not notes, or too many."""
    if len(content) > MOST_BYTES:
        raise UsageError(f"more than {MOST_BYTES:,} bytes of notes", advice="remove some")
    try:
        return msgspec.json.decode(content, type=Notes)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"not notes of wavewright: {error}") from error


def write_notes(file: str, content: bytes) -> dict[str, Any]:
    """Put notes as the page sent them into `file`, whole or not at all.

    Raises `UsageError` when they are not notes, or there is no place for them; `WavewrightError` when the file cannot
    be written, or holds something else.
    """
    if not file:
        raise UsageError("there is no place to save notes at")
    notes = decoded_notes(content)
    read_notes(file)  # what is there and is no file of notes is not replaced
    path = Path(file).absolute()
    try:
        with scratch_folder(path.parent) as folder:
            twin = folder / path.name
            twin.write_bytes(msgspec.json.format(msgspec.json.encode(notes), indent=1))
            twin.replace(path)
    except OSError as error:
        problem = f"the notes cannot be written: {error.strerror or error}"
        advice = "they stay in this browser; `wavewright open --notes FILE` saves them elsewhere"
        raise WavewrightError(problem, where=file, advice=advice) from error
    return {"notes": notes.notes, "saved_at": file, "can_save": True}


def notes_beside(path: str | Path, which: str = "") -> str:
    """The file of notes beside the document at a path; empty = a root folder, beside which nothing can stand.

    `which` tells several documents at one path apart: ".counters", ".dispatch_3".
    """
    place = Path(path).resolve()
    return str(place.with_name(f"{place.name}{which}.wavewright-notes.json")) if place.name else ""
