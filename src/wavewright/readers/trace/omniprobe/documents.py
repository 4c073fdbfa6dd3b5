"""Omniprobe's analysis as JSON, read line by line.

It is JSON in shape only: the array that holds the kernels is never closed and sometimes never opened, several runs may
follow one another, and strings (source lines, names) are not escaped. But every field stands on a line of its own, in
a fixed order, so that what is between the first and the last quote of a line is its value.
"""

from __future__ import annotations

import re
from typing import Any, Final

from wavewright.readers.trace.omniprobe.tables import access_row, count, readable

_FIELD = re.compile(rb'\s{0,64}"([a-z_]{1,32})": (.*)')
_SECTIONS: Final = {b"cache_analysis": "memory", b"bank_conflicts": "lds"}
_START, _PLACE, _METADATA = b"kernel_analysis", b"source_location", b"metadata"
#: Fields of an access -> those of `access_row`.
_ACCESS_FIELDS: Final = {
    b"file": "file",
    b"line": "line",
    b"column": "column",
    b"type": "kind",
    b"execution_count": "execution_count",
    b"ir_bytes": "ir_bytes",
    b"isa_bytes": "isa_bytes",
    b"isa_instruction": "isa_instruction",
    b"needed": "cache_lines_least_count",
    b"used": "cache_lines_used_count",
    b"total_conflicts": "bank_conflict_count",
}
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
            if row is None:
                self.unread_count += 1
            else:
                self.rows.append(row)
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
