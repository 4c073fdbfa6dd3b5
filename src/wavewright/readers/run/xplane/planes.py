"""Planes, lines and events of an XSpace (TensorFlow's `xplane.proto`), as rows.

An event has the name of its metadata, and statistics (key and value) of its own and of its metadata. Its time is that
of its line plus an offset in picoseconds. Numbers of the fields that are read here:

    XSpace          1 planes, 2 errors, 3 warnings, 4 hostnames
    XPlane          2 name, 3 lines, 4 event_metadata (a map), 5 stat_metadata (a map), 6 stats
    XLine           1 id, 2 name, 3 timestamp_ns, 4 events, 11 display_name
    XEvent          1 metadata_id, 2 offset_ps, 3 duration_ps, 4 stats, 5 num_occurrences (instead of an offset)
    XStat           1 metadata_id, 2 double, 3 uint64, 4 int64, 5 string, 7 reference to the name of a stat_metadata
    XEventMetadata  2 name, 4 display_name, 5 stats;  XStatMetadata  2 name;  entries of maps  1 key, 2 value
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

Statistics: TypeAlias = "dict[str, Any]"
_EventFields: TypeAlias = "tuple[int, int | None, int, Statistics]"  #: Of `XEvent`: see `_event`.
_LARGEST_NS = 1 << 62
_USUAL_SHIFT = 56  #: Bits below the ninth byte of a varint, the last one of a number below 2^63.
_USUAL_BYTES = 3 + 9  #: The most of a usual statistic: two keys, a metadata id below 128, and such a number.
_UNREAD_BYTES = 1 << 16  #: Longer texts and bytes (programs) are not statistics to show.


@dataclass
class Space:
    """A file: one computer's planes."""

    planes: list[Plane] = field(default_factory=list)
    hostnames: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  #: Errors and warnings of the profiler.
    damage_count: int = 0
    timeless_count: int = 0  #: Events without a time: sums over events, or beyond any clock.


@dataclass
class Plane:
    """A device, the threads of the host, or facts about the recording."""

    name: str = ""
    statistics: Statistics = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)


@dataclass
class Line:
    """A stream or a thread."""

    number: int = 0
    name: str = ""
    events: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class Event:
    """One event; times in nanoseconds."""

    name: str
    start_ns: int
    end_ns: int
    statistics: Statistics


def read_space(data: bytes) -> Space:
    """The planes of a file; what cannot be read is counted and left out.

    >>> read_space(b"").planes
    []
    """
    wire, space = Wire(data), Space()
    for part in wire.fields(0, len(data)):
        if part.number == 1:
            space.planes.append(_PlaneReader(wire, part, space).plane)
        elif part.number in (2, 3):
            space.messages.append(wire.text(part))
        elif part.number == 4:
            space.hostnames.append(wire.text(part))
    space.damage_count += wire.damage_count
    return space


class _PlaneReader:
    """Reads a plane: first its names, which may come after its lines in the file."""

    def __init__(self, wire: Wire, field: Field, space: Space) -> None:
        self._wire, self._space = wire, space
        self._keys: dict[int, str] = {}  #: Id in stat_metadata -> name.
        self._names: dict[int, str] = {}  #: Id in event_metadata -> name.
        self._shared: dict[int, Statistics] = {}  #: Id in event_metadata -> what all its events have.
        self._decoded: dict[bytes, tuple[str, Any]] = {}  #: Bytes of an `XStat` -> key and value.
        self.plane = Plane()
        parts = list(wire.fields(field.begin, field.end))
        for key, fields in (self._entry(part) for part in parts if part.number == 5):
            self._keys[key] = next((wire.text(field) for field in fields if field.number == 2), "")
        for part in parts:
            if part.number == 2:
                self.plane.name = wire.text(part)
            elif part.number == 4:
                self._read_name(part)
            elif part.number == 6:
                self._add(part.begin, part.end, self.plane.statistics)
        self.plane.lines = [self._line(part) for part in parts if part.number == 3]

    def _entry(self, part: Field) -> tuple[int, list[Field]]:
        """Key and value of an entry of a map."""
        key, fields = 0, []
        for item in self._wire.fields(part.begin, part.end):
            if item.number == 1:
                key = signed(item.value)
            elif item.number == 2:
                fields = list(self._wire.fields(item.begin, item.end))
        return key, fields

    def _read_name(self, part: Field) -> None:
        """The name of a metadata of events, and the statistics that all its events share."""
        key, fields = self._entry(part)
        texts = {item.number: self._wire.text(item) for item in fields if item.number in (2, 4)}
        self._names[key] = texts.get(2) or texts.get(4) or ""
        values: Statistics = {}
        for item in fields:
            if item.number == 5 and item.end - item.begin < _UNREAD_BYTES:
                self._add(item.begin, item.end, values)
        if values:
            self._shared[key] = values

    def _line(self, part: Field) -> Line:
        line, start_ns, events = Line(), 0, []
        label = ""
        for item in self._wire.fields(part.begin, part.end):
            if item.number == 1:
                line.number = signed(item.value)
            elif item.number == 2:
                line.name = self._wire.text(item)
            elif item.number == 3:
                start_ns = signed(item.value)
            elif item.number == 4:
                events.append(item)
            elif item.number == 11:
                label = self._wire.text(item)
        line.name = label or line.name
        line.events = list(self._events(events, start_ns))
        return line

    def _events(self, parts: list[Field], line_ns: int) -> Iterator[Event]:
        """The events of a line that starts at `line_ns`."""
        for _, _, begin, end in parts:
            metadata, offset_ps, duration_ps, statistics = self._usual_event(begin, end) or self._event(begin, end)
            start_ns, end_ns = line_ns + (offset_ps or 0) // 1000, line_ns + ((offset_ps or 0) + duration_ps) // 1000
            if offset_ps is None or max(abs(start_ns), abs(end_ns)) >= _LARGEST_NS:
                self._space.timeless_count += 1
                continue
            if metadata in self._shared:
                statistics = self._shared[metadata] | statistics
            yield Event(self._names.get(metadata, ""), start_ns, end_ns, statistics)

    def _event(self, begin: int, end: int) -> _EventFields:
        """Metadata, offset, duration and statistics of any event; the offset is None for a sum over events."""
        offset: int | None = 0
        metadata = duration = 0
        statistics: Statistics = {}
        for item in self._wire.fields(begin, end):
            if item.number == 1:
                metadata = signed(item.value)
            elif item.number == 2:
                offset = signed(item.value)
            elif item.number == 3:
                duration = signed(item.value)
            elif item.number == 4:
                self._add(item.begin, item.end, statistics)
            elif item.number == 5:
                offset = None
        return metadata, offset, duration, statistics

    def _usual_event(self, begin: int, end: int) -> _EventFields | None:
        """The result of `_event` in a fraction of the time, for the fields of nearly all events; None = it has more."""
        data, at = self._wire.data, begin
        numbers = [0, 0, 0]
        statistics: Statistics = {}
        while at < end:
            key = data[at]
            at += 1
            if key == 0x22:  # field 4, of bytes: statistics
                size = data[at] if at < end else 0x80
                stop = at + 1 + size
                if size >= 0x80 or stop > end:
                    return None
                self._add(at + 1, stop, statistics)
                at = stop
                continue
            if key not in (0x08, 0x10, 0x18):  # fields 1 to 3, varints
                return None
            value = shift = 0
            while True:
                if at >= end or shift > _USUAL_SHIFT:
                    return None
                byte = data[at]
                at += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
                shift += 7
            numbers[(key >> 3) - 1] = value
        metadata, offset, duration = numbers
        return metadata, offset, duration, statistics

    def _add(self, begin: int, end: int, statistics: Statistics) -> None:
        """Add the `XStat` between two offsets to statistics."""
        content = self._wire.data[begin:end]
        pair = self._decoded.get(content)
        if pair is None:
            pair, is_name = self._usual_statistic(content) or self._statistic(begin, end)
            if is_name:  # names repeat, so caching them pays; numbers rarely do
                self._decoded[content] = pair
        key, value = pair
        if key:
            statistics[key] = value

    def _usual_statistic(self, content: bytes) -> tuple[tuple[str, Any], bool] | None:
        """The result of `_statistic` for a key below 128 and a number from 0 on; None = it is another one."""
        is_usual = 4 <= len(content) <= _USUAL_BYTES and content[0] == 0x08 and content[1] < 0x80
        if not is_usual or content[2] not in (0x18, 0x20):  # fields 3 and 4, varints
            return None
        value = shift = 0
        for byte in content[3:]:
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return ((self._keys.get(content[1], ""), value), False) if shift == 7 * (len(content) - 3) else None
        return None

    def _statistic(self, begin: int, end: int) -> tuple[tuple[str, Any], bool]:
        """Key and value of any `XStat`, and whether the value is a name that the plane stores once."""
        key, value, is_name = 0, None, False
        wire = self._wire
        for item in wire.fields(begin, end):
            if item.number == 1:
                key = signed(item.value)
            elif item.number == 2 and item.end - item.begin == 8:
                value = struct.unpack_from("<d", wire.data, item.begin)[0]
            elif item.number == 3:
                value = item.value
            elif item.number == 4:
                value = signed(item.value)
            elif item.number == 5:
                value = wire.text(item)
            elif item.number == 7:
                value, is_name = self._keys.get(signed(item.value), ""), True
        return (self._keys.get(key, ""), value), is_name


# --- fields of messages in the wire format of Protocol Buffers; damage is counted, never raised ---


_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_LONGEST_SHIFT = 63  #: Bits below the tenth byte of a varint, which is the last one.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}


class Field(NamedTuple):
    """One field: its value where that is a varint, else the bytes from `begin` to `end` of the message's data."""

    number: int
    value: int
    begin: int
    end: int


class Wire:
    """A file whose messages are read in place; `damage_count` is the number of messages that could not be read whole.

    >>> wire = Wire(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69]))
    >>> [(field.number, field.value, wire.text(field)) for field in wire.fields(0, 7)]
    [(1, 150, ''), (2, 0, 'hi')]
    >>> [field.number for field in Wire(bytes([0x08, 0x01, 0x0B])).fields(0, 3)]
    [1]
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.damage_count = 0

    def fields(self, begin: int, end: int) -> Iterator[Field]:
        """The fields of the message between two offsets; a last one that is cut ends where the message ends."""
        data, at = self.data, begin
        while at < end:
            key, at = self._varint(at, end)
            number, kind = key >> 3, key & 7
            if at < 0 or not number:
                break
            if kind == _VARINT:
                value, at = self._varint(at, end)
                if at < 0:
                    break
                yield Field(number, value, at, at)
                continue
            width = _WIDTHS.get(kind)
            if kind == _BYTES:
                width, at = (data[at], at + 1) if at < end and data[at] < 0x80 else self._varint(at, end)
            if width is None or at < 0:
                break
            stop = at + width
            if stop > end:
                self.damage_count += 1
                if kind == _BYTES:
                    yield Field(number, 0, at, end)
                return
            yield Field(number, 0, at, stop)
            at = stop
        else:
            return
        self.damage_count += 1

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        """An integer and the offset after it; the offset is negative where there is none."""
        value = shift = 0
        data = self.data
        while at < end and shift <= _LONGEST_SHIFT:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & _MASK, at
            shift += 7
        return 0, -1

    def text(self, field: Field) -> str:
        """The bytes of a field as text."""
        return self.data[field.begin : field.end].decode("utf-8", "replace")


def signed(value: int) -> int:
    """A varint as the signed number that it stands for.

    >>> signed(5), signed((1 << 64) - 1)
    (5, -1)
    """
    return value - (1 << 64) if value & _SIGN else value
