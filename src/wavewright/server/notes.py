"""Saving notes beside a document: the only thing that the page can write there, and only when the user asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from wavewright.base.scratch import scratch_folder
from wavewright.errors import UsageError, WavewrightError
from wavewright.page.protocol.notes import MOST_BYTES, decoded_notes, read_notes

__all__ = ["MOST_BYTES", "read_notes", "write_notes"]


def write_notes(file: str, content: bytes) -> dict[str, Any]:
    """Put notes as the page sent them into `file`, whole or not at all.

    Raises
    ------
    UsageError
        When they are not notes, or there is no place for them.
    WavewrightError
        When the file cannot be written, or holds something else.
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
