"""annotations.json of ROCm WaveScope: what others have to say about a trace, as text only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, frame_of
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.parts import read_bytes, readable

FILE_NAME = "annotations.json"
SEVERITIES = ("critical", "high", "medium", "low", "info")
MOST = 1_000  #: Annotations of a trace, and rows of an annotation.
_LONGEST = 4_000
_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
_Unit = Annotated[int, msgspec.Meta(ge=0, le=(1 << 16) - 1)]
_Cycle = Annotated[float, msgspec.Meta(ge=-(1 << 53), le=1 << 53)]


class _Source(msgspec.Struct, rename="camel"):
    file: str
    line: _Count
    end_line: _Count | None = None


class _Wave(msgspec.Struct):
    se: _Unit
    sm: _Unit
    slot: _Unit


class _Anchor(msgspec.Struct, rename={"positions": "instIdxs"}):
    positions: list[int] | None = None
    source: _Source | None = None
    wave: _Wave | None = None
    time: tuple[_Cycle, _Cycle] | None = None


class _Annotation(msgspec.Struct):
    title: Annotated[str, msgspec.Meta(pattern=r"\S")]
    severity: str | None = None
    note: str | None = None
    suggestion: str | None = None
    category: str | None = None
    confidence: float | None = None
    metric: float | None = None
    anchor: _Anchor | None = None


class _File(msgspec.Struct):
    annotations: list[Any]


def read_annotations(folder: Folder, positions: Sequence[int], losses: list[Loss]) -> pl.DataFrame:
    """The `annotations` table; `positions` are those of the rows in code.json. What cannot be read is a loss."""
    content = read_bytes(folder, FILE_NAME, losses) if FILE_NAME in folder.names() else None
    entries: list[Any] = []
    try:
        document = msgspec.json.decode(content, type=_File | list[Any]) if content is not None else []
        entries = document.annotations if isinstance(document, _File) else document
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        losses.append(Loss("annotations", detail=f"the file cannot be read ({error})"))
    row_of = {position: row for row, position in enumerate(positions)}
    rows = [row for entry in entries[:MOST] if (row := _row(entry, row_of)) is not None]
    if len(rows) < len(entries):
        losses.append(Loss("annotations", len(entries) - len(rows), detail=f"of {len(entries):,}, {MOST:,} at most"))
    rows.sort(key=lambda row: (SEVERITIES.index(row["severity"]), -(row["metric"] or 0)))
    return frame_of(THREAD_TRACE["annotations"], rows)


def _row(entry: Any, row_of: dict[int, int]) -> dict[str, Any] | None:
    """A row of the table; None = the entry has another form."""
    try:
        value = msgspec.convert(entry, _Annotation)
    except (msgspec.MsgspecError, RecursionError):
        return None
    anchor = value.anchor or _Anchor()
    row: dict[str, Any] = {name: _text(getattr(value, name)) for name in ("title", "note", "suggestion", "category")}
    row["severity"] = value.severity if value.severity in SEVERITIES else "info"
    row["confidence"] = None if value.confidence is None else min(1.0, max(0.0, value.confidence))
    row["metric"] = value.metric
    rows = [row_of[position] for position in (anchor.positions or [])[:MOST] if position in row_of]
    row["rows"] = " ".join(map(str, rows)) or None
    if anchor.source:
        row |= {"file": readable(anchor.source.file), "line": anchor.source.line, "end_line": anchor.source.end_line}
    if anchor.wave and anchor.time:
        start, end = (round(time) for time in anchor.time)
        row |= {"se": anchor.wave.se, "simd": anchor.wave.sm, "slot": anchor.wave.slot}
        row |= {"start_cycles": min(start, end), "end_cycles": max(start, end)}
    return row


def _text(text: str | None) -> str | None:
    """Text of others: bounded, nothing in it that a terminal obeys."""
    return None if text is None else "\n".join(map(readable, text[:_LONGEST].split("\n")))
