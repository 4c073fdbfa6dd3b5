"""Markers that the code of a trace wrote, and annotations of other tools.

A marker is a word of shader data that instrumented code writes: `id << 2 | enters << 1 | leaves`. The names of the ids
are in code.json's `sqtt_funcmap` (spec_ui_output 6). Annotations are the file annotations.json of ROCm WaveScope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, frame_of
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.parts import read_bytes, readable, whole

_FUNCTION, _SCOPE, _POINT, _KERNEL = 1, 2, 3, 4
_KINDS = {
    **dict.fromkeys(("f", "func", "function"), _FUNCTION),
    **dict.fromkeys(("k", "kernel"), _KERNEL),
    **dict.fromkeys(("u", "user", "user_scope", "userscope"), _SCOPE),
    **dict.fromkeys(("p", "point"), _POINT),
}
_LEAVE, _ENTER, _FIRST = 1, 2, 4  #: Bits of `markers.flags`. Words have the first two; 4 = first marker of its wave.
_ID_SHIFT, _VALUE_BITS = 2, 0xFFFFFFFF  #: The id is above the two bits of a word; words have 32 bits.
_BY_TRAP_HANDLER = 2  #: Bit of `shader_data.flags`: the code itself did not write the value.
_NOT_PAYLOAD = 0xFFFFFFFF  #: `markers.payload_index` of a word that is a marker itself.
_SLOT = ("se", "cu", "simd", "slot")


class Marker(NamedTuple):
    """The meaning of one id of one code object."""

    id: int
    kind: int
    name: str
    location: str | None


class MarkerNames:
    """Code object -> id -> marker; of an id that a code object names twice the last row counts."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.unreadable = 0
        self._names: dict[int, dict[int, Marker]] = {}
        for row in rows:
            if not self._add(row):
                self.unreadable += 1

    def __bool__(self) -> bool:
        return bool(self._names)

    def of(self, code_object: int | None) -> dict[int, Marker]:
        """The markers of a code object; where the trace does not say which one ran, those of the only one."""
        return self._names.get(self.object_of(code_object), {})

    def object_of(self, code_object: int | None) -> int:
        """The code object whose markers `of` returns."""
        return next(iter(self._names)) if not code_object and len(self._names) == 1 else code_object or 0

    def _add(self, row: object) -> bool:
        if not isinstance(row, list) or len(row) < 4:
            return False
        code_object, number, kind, name = whole(row[0]), whole(row[1]), row[2], row[3]
        location = row[4] if len(row) > 4 else None
        if not isinstance(kind, str) or not isinstance(name, str) or not isinstance(location, str | None):
            return False
        kind_number = _KINDS.get(kind.lower())
        if code_object is None or not 0 < code_object < 1 << 64 or number is None or not 0 <= number < 1 << 30:
            return False
        if kind_number is None or not name:
            return False
        if kind_number != _KERNEL:
            markers = self._names.setdefault(code_object, {})
            markers[number] = Marker(number, kind_number, readable(name), readable(location) if location else None)
        return True


@dataclass
class _Life:
    """One wave's stay in a slot: which scopes it has entered."""

    code_object: int | None = None
    scopes: list[Marker] = field(default_factory=list)
    has_marker: bool = False


class _Event(NamedTuple):
    """The start of a wave in a slot (`value` is None), or a value that the wave of the slot wrote."""

    se: int
    cu: int
    simd: int
    slot: int
    time_cycles: int
    value: int | None
    code_object: int | None  #: Only of starts; None = the trace does not say it.


def marker_table(names: MarkerNames, shader_data: pl.DataFrame, occupancy: pl.DataFrame) -> pl.DataFrame:
    """The `markers` table. The kernel of the wave that wrote a value decides which names are used.

    Payload words of markers are not told apart: the format does not say which markers have some.
    """
    rows = list(_markers(names, _in_order(shader_data, occupancy))) if names else []
    return frame_of(THREAD_TRACE["markers"], rows).sort("se", "time_cycles", maintain_order=True)


def _in_order(shader_data: pl.DataFrame, occupancy: pl.DataFrame) -> Iterable[_Event]:
    """Starts of waves and values by slot and time; of one time the start comes first, as its wave wrote the value."""
    place = (*_SLOT, "time_cycles")
    writes = shader_data.filter(pl.col("flags") & _BY_TRAP_HANDLER == 0)
    values = writes.select(*place, "value", code_object=pl.lit(None, pl.UInt64), is_value=pl.lit(1))
    starts = occupancy.filter("start").join(values.select(_SLOT).unique(), on=_SLOT, how="semi")
    begins = starts.select(*place, "code_object", value=pl.lit(None, pl.UInt64), is_value=pl.lit(0))
    together = pl.concat([begins, values.select(begins.columns)]).sort(*place, "is_value", maintain_order=True)
    return map(_Event._make, together.select(_Event._fields).iter_rows())


def _markers(names: MarkerNames, events: Iterable[_Event]) -> Iterator[dict[str, Any]]:
    """Rows of the `markers` table; values without a meaning have none."""
    slot: tuple[int | None, ...] = ()
    life = _Life()
    for event in events:
        if event.value is None or event[: len(_SLOT)] != slot:
            life, slot = _Life(event.code_object), event[: len(_SLOT)]
        meaning = None if event.value is None else _read(life, event.value & _VALUE_BITS, names.of(life.code_object))
        if meaning is not None:
            marker, flags = meaning
            row = {"marker_kind": marker.kind, "marker_id": marker.id, "name": marker.name, "location": marker.location}
            row |= {"flags": flags, "record_kind": 0, "payload_index": _NOT_PAYLOAD, "payload_count": 0}
            yield event._asdict() | row | {"code_object": names.object_of(life.code_object)}


def _read(life: _Life, word: int, markers: dict[int, Marker]) -> tuple[Marker, int] | None:
    """The marker of a value, and its flags; a bare exit means the scope that it leaves."""
    flags, number = word & (_LEAVE | _ENTER), word >> _ID_SHIFT
    marker = markers.get(number)
    is_exit = flags & _LEAVE and (marker or (number == 0 and flags == _LEAVE))
    left_scope = life.scopes.pop() if is_exit and life.scopes else None
    current = marker or left_scope
    if current is None:
        return None
    if marker and flags & _ENTER and marker.kind != _POINT:
        life.scopes.append(marker)
    if not life.has_marker:
        life.has_marker = True
        flags |= _FIRST
    return current, flags


# --- annotations.json of ROCm WaveScope: what others have to say about a trace, as text only ---
FILE_NAME = "annotations.json"
SEVERITIES = ("critical", "high", "medium", "low", "info")
MOST = 1_000  #: Annotations of a trace, and rows of an annotation.
_LONGEST = 4_000  #: Letters of a text.
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
