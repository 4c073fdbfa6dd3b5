"""Packets of a Perfetto trace: track descriptors and interned strings are encoded here, events by the native core."""

from __future__ import annotations

from typing import IO

import polars as pl

TrackKind = bytes  #: The field of a descriptor that makes a track a process, a thread or a counter.

# Fields of InternedData; in each of them iid is field 1 and the text field 2.
CATEGORY, NAME, ANNOTATION, TEXT = 1, 2, 3, 29

_SEQUENCE = 1  #: trusted_packet_sequence_id of all packets.
_FIRST_CHILD = 1 << 19  #: From the first uuid of our tracks to the first of the native core.
_STATE_CLEARED, _NEEDS_STATE = 1, 2  #: Bits of TracePacket.sequence_flags, about interned strings.
_UNIT_COUNT, _UNIT_BYTES = 2, 3  #: CounterDescriptor.unit.
_EXPLICIT_ORDER = 3  #: TrackDescriptor.child_ordering: by rank.


def varint(value: int) -> bytes:
    """An integer of at most 64 bits; negative ones as two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(value)


def message(field: int, content: bytes | str) -> bytes:
    """A field with bytes, a string or a message."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def process_track(pid: int, name: str, command: str, start_ns: int | None) -> TrackKind:
    """TrackDescriptor.process."""
    words = b"".join(message(2, word) for word in command.split())
    start = b"" if start_ns is None or start_ns < 0 else number(7, start_ns)
    return message(3, number(1, pid) + words + message(6, name) + start)


def thread_track(pid: int, tid: int, name: str) -> TrackKind:
    """TrackDescriptor.thread."""
    return message(4, number(1, pid) + number(2, tid) + message(5, name))


def counter_track(*, is_bytes: bool) -> TrackKind:
    """TrackDescriptor.counter."""
    return message(8, number(3, _UNIT_BYTES if is_bytes else _UNIT_COUNT))


class Packets:
    """The packets of one trace, written as they come. Texts are written once, before the packets that use them."""

    def __init__(self, stream: IO[bytes], first_track: int) -> None:
        self._stream = stream
        self._texts: dict[int, dict[str, int]] = {CATEGORY: {}, NAME: {}, ANNOTATION: {}, TEXT: {}}
        self._new_texts: list[bytes] = []
        self._next_track = first_track
        self.next_child = first_track + _FIRST_CHILD  # The uuid of the next track that the native core may make.
        self.track_count = 0
        self._packet(number(13, _STATE_CLEARED | _NEEDS_STATE))

    def write(self, packets: bytes) -> None:
        """Append packets that the native core made."""
        if self._new_texts:
            self._packet(number(13, _NEEDS_STATE) + message(12, b"".join(self._new_texts)))
            self._new_texts.clear()
        self._stream.write(packets)

    def track(self, name: str = "", parent: int = 0, kind: TrackKind = b"", rank: int | None = None) -> int:
        """Describe a new track; returns its uuid. `rank` is its place among the children of its parent."""
        uuid = self._next_track
        self._next_track += 1
        self.track_count += 1
        fields = number(1, uuid) + kind
        if name:
            fields += message(2, name)
        if parent:
            fields += number(5, parent)
        if rank is not None:
            fields += number(12, rank)
        self._packet(message(60, fields + number(11, _EXPLICIT_ORDER)))
        return uuid

    def text_id(self, kind: int, text: str) -> int:
        """The number of an interned string."""
        ids = self._texts[kind]
        if text not in ids:
            ids[text] = len(ids) + 1
            self._new_texts.append(message(kind, number(1, ids[text]) + message(2, text)))
        return ids[text]

    def text_ids(self, kind: int, texts: pl.Series) -> pl.Series:
        """The numbers of strings (String or Categorical) as UInt64; null stays null."""
        codes = texts if texts.dtype == pl.Categorical else texts.cast(pl.Categorical)
        distinct = codes.unique(maintain_order=True).drop_nulls()
        ids = [self.text_id(kind, text) for text in distinct.cast(pl.String)]
        return codes.to_physical().replace_strict(distinct.to_physical(), ids, default=None, return_dtype=pl.UInt64)

    def _packet(self, fields: bytes) -> None:
        self._stream.write(message(1, number(10, _SEQUENCE) + fields))
