"""Omniprobe's report for people: blocks of a place, its source line, and two lines of numbers that start with a tab."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from wavewright.readers.trace.omniprobe.tables import access_row

_START: Final = {b"=== L2 cache line use report =": "memory", b"=== Bank conflicts report =": "lds"}
_END = b"=== End of "
_PLACE = re.compile(rb"(?P<file>.+):(?P<line>\d{1,10}):(?P<column>\d{1,10})")
_ACCESS = re.compile(
    rb"\t(?P<kind>[^\t]{1,64}) of (?P<ir_bytes>\d{1,10}) bytes at IR level"
    rb'(?: \((?P<isa_bytes>\d{1,10}) bytes at ISA level: "(?P<isa_instruction>[^"]*)"\))?'
)
_COUNTS = {
    "memory": re.compile(
        rb"\texecuted (?P<execution_count>\d{1,20}) times, (?P<cache_lines_least_count>\d{1,20}) cache lines needed, "
        rb"(?P<cache_lines_used_count>\d{1,20}) cache lines used"
    ),
    "lds": re.compile(
        rb"\texecuted (?P<execution_count>\d{1,20}) times, (?P<bank_conflict_count>\d{1,20}) bank conflicts in total"
    ),
}
_COUNTS_START = b"\texecuted "


class TextReport:
    """Reads the lines of text reports, among others: the program's own output goes to the same place.

    A block starts with `FILE:LINE:COLUMN`. The source line that may follow comes from the program and can look like
    anything, but never starts with a tab: Omniprobe replaces those. A block with two lines that could be its place is
    left out.
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.report_count = 0
        self.unread_count = 0
        self._space = ""
        self._fields: dict[str, bytes] = {}
        self._place_count = 0

    def feed(self, line: bytes) -> bool:
        """Take a line; False = it does not belong to a report."""
        if line.startswith(b"==="):
            return self._heading(line)
        if not self._space:
            return False
        if line.startswith(_COUNTS_START):
            self._counts(line)
        elif match := _ACCESS.fullmatch(line):
            self._fields |= _given(match.groupdict().items())
        elif match := _PLACE.fullmatch(line):
            self._fields |= match.groupdict()
            self._place_count += 1
        return True

    def end(self) -> None:
        """The log ends here; a block that has no numbers yet is lost."""
        if self._fields:
            self.unread_count += 1
        self._space, self._fields, self._place_count = "", {}, 0

    def _heading(self, line: bytes) -> bool:
        space = next((space for start, space in _START.items() if line.startswith(start)), "")
        if space:
            self.end()
            self.report_count += 1
            self._space = space
        elif line.startswith(_END):
            self.end()
        return bool(space) or line.startswith(_END)

    def _counts(self, line: bytes) -> None:
        match = _COUNTS[self._space].fullmatch(line)
        fields, self._fields = self._fields, {}
        is_clear, self._place_count = self._place_count == 1, 0
        row = access_row(fields | match.groupdict(), space=self._space) if match and is_clear else None
        if row is None:
            self.unread_count += 1
        else:
            self.rows.append(row)


def _given(fields: Iterable[tuple[str, bytes | None]]) -> dict[str, bytes]:
    return {name: text for name, text in fields if text is not None}
