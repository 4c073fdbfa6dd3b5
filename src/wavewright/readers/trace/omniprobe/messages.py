"""Omniprobe's log of single messages: lines of CSV, lines of JSON, or both in turn.

With CSV every address message is a CSV line with the addresses of the active lanes, followed by a JSON line with the
rest of its header. With JSON the addresses are in that line. Names of kernels are not escaped in either.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec

from wavewright.base.toml import packaged
from wavewright.readers.trace.omniprobe.output_tables import KINDS, access_row, count, readable

_CSV, _CSV_HEADER, _JSON = b"ADDRESS_MESSAGE,", b"ADDRESS_MESSAGE,timestamp,", b'{"kernel_name": "'
_JSON_REST = b'","dispatch_id": '
_CSV_FIELDS = 8  # behind the kernel, before the addresses: line, dispatch, mask, XCC, SE, CU, kind, first address
_CSV_KINDS = {b"0": None, b"1": "read", b"2": "write", b"3": "read_write"}
_TYPES: Final = {0: "address", 1: "time interval", 2: "basic block start"}
_LANES_MAX = 64
_MAX_UINT32, _MAX_UINT64 = (1 << 32) - 1, (1 << 64) - 1
_CACHED_MASKS = 1 << 12
_FACTS = packaged("names.toml", __package__)
_HEADER_COLUMNS: dict[str, dict[str, str]] = _FACTS["header"]  #: Our columns -> fields of a header in JSON.

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
            self.unread_count += not self._json(line)
            self._pending = None
            return True
        return False

    def _csv(self, line: bytes) -> bool:
        # timestamp,"kernel",line,dispatch,...: the name is not escaped, so its last quote is looked for.
        head, quote, tail = line[len(_CSV) :].rpartition(b'",')
        time_text, comma, kernel = head.partition(b',"')
        fields = tail.split(b",")
        if not quote or not comma or not _CSV_FIELDS <= len(fields) < _CSV_FIELDS + _LANES_MAX:
            return False
        timestamp = count(time_text, _MAX_UINT64)
        line_number, dispatch = count(fields[0], _MAX_UINT32), count(fields[1], _MAX_UINT64)
        places = [count(field, 0xFF) for field in fields[3:6]]
        mask, *addresses = (_hexadecimal(field) for field in (fields[2], *fields[7:]))
        if None in (timestamp, line_number, dispatch, mask, *places, *addresses) or fields[6] not in _CSV_KINDS:
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
        row = {name: getattr(header, field) for name, field in _HEADER_COLUMNS["shared"].items()}
        row |= {"kernel": readable(line[len(_JSON) : end]), "type": _TYPES.get(header.user_type)}
        row["kind"] = KINDS.get(header.op_type)
        facts = {name: getattr(header, field) for name, field in _HEADER_COLUMNS["more"].items()}
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


# --- Omniprobe's analysis as JSON, read line by line ---
# It is JSON in shape only: the array that holds the kernels is never closed and sometimes never opened, several runs
# may follow one another, and strings (source lines, names) are not escaped. But every field stands on a line of its
# own, in a fixed order, so that what is between the first and the last quote of a line is its value.

_FIELD = re.compile(rb'\s{0,64}"([a-z_]{1,32})": (.*)')
_SECTIONS: Final = {b"cache_analysis": "memory", b"bank_conflicts": "lds"}
_START, _PLACE, _METADATA = b"kernel_analysis", b"source_location", b"metadata"
#: Fields of an access -> those of `access_row`.
_ACCESS_FIELDS: Final = {name.encode(): ours for name, ours in _FACTS["access"].items()}
_UNKNOWN_TARGET = "unknown"
_MAX_LINE_BYTES = 1 << 16


class Documents:
    """Reads the lines of JSON documents, among others."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.document_count = 0
        self.unread_count = 0
        self._kernel: dict[str, Any] = {}
        self._first_row = 0
        self._section = ""
        self._fields: dict[str, bytes] | None = None

    def feed(self, line: bytes) -> bool:
        """Take a line; False = it does not belong to a document."""
        match = _FIELD.match(line)
        if match is None:
            return False
        key, value = match[1], match[2].strip().removesuffix(b",")
        if key == _START:
            self.end()
            self.document_count += 1
        elif not self.document_count:
            return False
        elif key in _SECTIONS or key == _METADATA:
            self._finish_access()
            self._section = _SECTIONS.get(key, "")
        elif key == _PLACE:
            self._finish_access()
            self._fields = {}
        elif self._fields is not None and key in _ACCESS_FIELDS:
            self._fields[_ACCESS_FIELDS[key]] = _unquoted(value)
        else:
            self._note(key, value)
        return True

    def end(self) -> None:
        """The document ends here; an access that is incomplete is lost."""
        self._finish_access()
        self._kernel, self._section, self._first_row = {}, "", len(self.rows)

    def _finish_access(self) -> None:
        if self._fields is not None and self._section:
            row = access_row(self._fields, space=self._section, **self._kernel)
            self.unread_count += row is None
            self.rows += [row] if row else []
        self._fields = None

    def _note(self, key: bytes, value: bytes) -> None:
        """Note facts of the document about its kernel, before the accesses, and about the GPU, after them."""
        if key == b"name" and not self._section:
            self._kernel["kernel"] = readable(_unquoted(value)) or None
        elif key == b"dispatch_id":
            self._kernel["dispatch"] = count(value)
        elif key == b"architecture":
            target = readable(_unquoted(value))
            self._kernel["target"] = None if target == _UNKNOWN_TARGET else target or None
        elif key == b"cache_line_size" and self._kernel.get("target"):  # without a target it is a default
            for row in self.rows[self._first_row :]:
                row |= {"target": self._kernel["target"], "cache_line_bytes": count(value, _MAX_LINE_BYTES)}


def _unquoted(value: bytes) -> bytes:
    return value[1:-1] if len(value) > 1 and value.startswith(b'"') and value.endswith(b'"') else value
