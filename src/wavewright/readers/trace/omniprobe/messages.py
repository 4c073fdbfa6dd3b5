"""Omniprobe's log of single messages: lines of CSV, lines of JSON, or both in turn.

With CSV every address message is a CSV line with the addresses of the active lanes, followed by a JSON line with the
rest of its header. With JSON the addresses are in that line. Names of kernels are not escaped in either.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec

from wavewright.readers.trace.omniprobe.tables import KINDS, count, readable

_CSV, _CSV_HEADER, _JSON = b"ADDRESS_MESSAGE,", b"ADDRESS_MESSAGE,timestamp,", b'{"kernel_name": "'
_JSON_REST = b'","dispatch_id": '
_CSV_FIELDS = 8  # behind the kernel, before the addresses: line, dispatch, mask, XCC, SE, CU, kind, first address
_CSV_KINDS = {b"0": None, b"1": "read", b"2": "write", b"3": "read_write"}
_TYPES: Final = {0: "address", 1: "time interval", 2: "basic block start"}
_LANES_MAX = 64
_MAX_UINT32, _MAX_UINT64 = (1 << 32) - 1, (1 << 64) - 1
_CACHED_MASKS = 1 << 12

_Byte = Annotated[int, msgspec.Meta(ge=0, le=0xFF)]
_Short = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]
_Word = Annotated[int, msgspec.Meta(ge=0, le=_MAX_UINT32)]


class _Header(msgspec.Struct):
    dispatch_id: int
    exec: int
    timestamp: int
    dwarf_line: _Word
    dwarf_column: _Word
    block_idx_x: _Short
    block_idx_y: _Short
    block_idx_z: _Short
    wave_num: _Byte
    xcc_id: _Byte
    se_id: _Byte
    cu_id: _Byte
    user_type: _Short
    op_type: str = ""
    addresses: Annotated[list[int], msgspec.Meta(max_length=_LANES_MAX)] | None = None


class Messages:
    """Reads the lines of logged messages, among others."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.lane_counts = array("B")  # active lanes with an address, per message
        self.lanes = bytearray()
        self.addresses = array("Q")
        self.header_count = 0
        self.unread_count = 0
        self._pending: dict[str, Any] | None = None  # of CSV, the rest of which may be in the next line

    @staticmethod
    def is_message(line: bytes) -> bool:
        """True if a line is a message, or the start of one."""
        return line.startswith((_CSV, _JSON))

    def feed(self, line: bytes) -> bool:
        """Take a line; False = it is not a message."""
        if line.startswith(_CSV):
            self._pending = None
            if line.startswith(_CSV_HEADER):
                self.header_count += 1
            elif not self._csv(line):
                self.unread_count += 1
            return True
        if line.startswith(_JSON):
            if not self._json(line):
                self.unread_count += 1
            self._pending = None
            return True
        return False

    def _csv(self, line: bytes) -> bool:
        head, quote, tail = line[len(_CSV) :].rpartition(b'",')
        time_text, comma, kernel = head.partition(b',"')
        fields = tail.split(b",")
        if not quote or not comma or not _CSV_FIELDS <= len(fields) < _CSV_FIELDS + _LANES_MAX:
            return False
        timestamp = count(time_text, _MAX_UINT64)
        line_number, dispatch = count(fields[0], _MAX_UINT32), count(fields[1], _MAX_UINT64)
        places = [count(field, 0xFF) for field in fields[3:6]]
        mask, *addresses = (_hexadecimal(field) for field in (fields[2], *fields[7:]))
        numbers = (timestamp, line_number, dispatch, mask, *places, *addresses)
        if None in numbers or fields[6] not in _CSV_KINDS:
            return False
        row = {
            "kernel": readable(kernel),
            "dispatch": dispatch,
            "type": _TYPES[0],
            "line": line_number,
            "timestamp": timestamp,
            "exec_mask": mask,
            "kind": _CSV_KINDS[fields[6]],
        }
        row |= dict(zip(("xcc", "se", "cu"), places, strict=True))
        if not self._add(row, addresses):
            return False
        self._pending = row
        return True

    def _json(self, line: bytes) -> bool:
        end = line.rfind(_JSON_REST)
        try:
            header = msgspec.json.decode(b'{"dispatch_id": ' + line[end + len(_JSON_REST) :], type=_Header)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return False
        addresses = header.addresses or []
        wide = (header.dispatch_id, header.exec, header.timestamp, *addresses)
        if end < 0 or not all(0 <= number <= _MAX_UINT64 for number in wide):
            return False
        row = {
            "kernel": readable(line[len(_JSON) : end]),
            "dispatch": header.dispatch_id,
            "type": _TYPES.get(header.user_type),
            "line": header.dwarf_line,
            "timestamp": header.timestamp,
            "exec_mask": header.exec,
            "kind": KINDS.get(header.op_type),
            "xcc": header.xcc_id,
            "se": header.se_id,
            "cu": header.cu_id,
        }
        facts = {
            "column": header.dwarf_column,
            "workgroup_x": header.block_idx_x,
            "workgroup_y": header.block_idx_y,
            "workgroup_z": header.block_idx_z,
            "wave": header.wave_num,
        }
        if self._pending is not None and header.addresses is None and row == self._pending:
            self._pending |= facts
            return True
        return self._add(row | facts, addresses)

    def _add(self, row: dict[str, Any], addresses: list[Any]) -> bool:
        """Add a message, whose addresses must be those of its active lanes."""
        lanes = _lanes(row["exec_mask"])
        if len(addresses) != (len(lanes) if row["type"] == _TYPES[0] else 0):
            return False
        self.rows.append(row)
        self.lane_counts.append(len(addresses))
        if addresses:
            self.lanes += lanes
            self.addresses.extend(addresses)
        return True


@lru_cache(maxsize=_CACHED_MASKS)
def _lanes(mask: int) -> bytes:
    return bytes(lane for lane in range(_LANES_MAX) if mask >> lane & 1)


def _hexadecimal(digits: bytes) -> int | None:
    try:
        return int(digits, 16) if digits.startswith(b"0x") and len(digits) <= 18 else None
    except ValueError:
        return None
