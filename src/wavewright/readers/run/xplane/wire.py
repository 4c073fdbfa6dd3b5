"""Fields of messages in the wire format of Protocol Buffers; damage is counted, never raised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_LONGEST_SHIFT = 63  #: Of the tenth byte of a varint, the last one.
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

    Examples
    --------
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

    Examples
    --------
    >>> signed(5), signed((1 << 64) - 1)
    (5, -1)
    """
    return value - (1 << 64) if value & _SIGN else value
