"""Files of Omniprobe (AMDResearch/omniprobe): reports, JSON documents and logs of messages, in one file or several.

A log on the console has the program's own lines between them, so each line is offered to the three readers in turn.
Heatmaps and the tables of basic blocks are not read.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from wavewright.errors import NotATraceError, UsageError
from wavewright.model.losses import Loss
from wavewright.model.schema import frame_of
from wavewright.readers.files.text import text_bytes
from wavewright.readers.trace.omniprobe.messages import Documents, Messages
from wavewright.readers.trace.omniprobe.output_tables import ACCESSES, LANE_ADDRESSES, MESSAGES, access_row

__all__ = ["OmniprobeLog", "read_omniprobe"]

MAX_BYTES: Final = 1 << 29  #: Of one file, unpacked.
_MAX_LINE_BYTES = 1 << 20


@dataclass(frozen=True)
class OmniprobeLog:
    """The content of one file of Omniprobe: tables `ACCESSES`, `MESSAGES` and `LANE_ADDRESSES` of `output_tables`."""

    where: str
    accesses: pl.DataFrame = field(repr=False)
    messages: pl.DataFrame = field(repr=False)
    lane_addresses: pl.DataFrame = field(repr=False)
    losses: tuple[Loss, ...] = ()


def read_omniprobe(path: str | os.PathLike[str]) -> OmniprobeLog:
    """Read a file that Omniprobe wrote, or a log of its console; packed ones as well.

    Raises `UsageError` when it cannot be read; `NotATraceError` when it is empty, too long, or nothing of it is from
    Omniprobe.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError("not a regular file" if file.exists() else "no such file", where=str(file))
    report, documents, messages = TextReport(), Documents(), Messages()
    long_count = 0
    for line, is_whole in _lines(text_bytes(file, MAX_BYTES)):
        if line is None:
            long_count += 1
        elif not is_whole:  # a number at its end may be cut, too
            messages.unread_count += messages.is_message(line)
        else:
            messages.feed(line) or documents.feed(line) or report.feed(line)
    report.end()
    documents.end()
    if not (report.report_count or documents.document_count or messages.header_count or messages.rows):
        advice = "give the log of MemoryAnalysis or AddressLogger"
        raise NotATraceError("nothing here is from Omniprobe", where=str(file), advice=advice)
    counts = {
        "accesses of the report": report.unread_count,
        "accesses of the JSON documents": documents.unread_count,
        "messages": messages.unread_count,
        "lines too long": long_count,
    }
    losses = tuple(Loss("omniprobe_unread", number, detail=detail) for detail, number in counts.items() if number)
    accesses = frame_of(ACCESSES, [*documents.rows, *report.rows])
    message_frame = frame_of(MESSAGES, [{"message": number, **row} for number, row in enumerate(messages.rows)])
    return OmniprobeLog(str(file), accesses, message_frame, _lane_addresses(messages), losses)


def _lines(data: bytes) -> Iterator[tuple[bytes | None, bool]]:
    """Pairs: a line without its end, or None if it is too long; and whether it has an end (the last one may be cut)."""
    stream, is_inside = io.BytesIO(data), False
    while piece := stream.readline(_MAX_LINE_BYTES):
        is_whole = piece.endswith(b"\n")
        if not is_inside:
            is_long = not is_whole and len(piece) == _MAX_LINE_BYTES
            yield None if is_long else piece.rstrip(b"\r\n"), is_whole
        is_inside = not is_whole


def _lane_addresses(messages: Messages) -> pl.DataFrame:
    counts = pl.Series("count", messages.lane_counts, pl.UInt32)
    numbers = pl.Series("message", range(len(counts)), pl.UInt32)
    message_numbers = pl.select(numbers.repeat_by(counts).explode().drop_nulls()) if len(counts) else numbers.to_frame()
    columns = [
        message_numbers["message"],
        pl.Series("lane", list(messages.lanes), pl.UInt8),
        pl.Series("address", messages.addresses, pl.UInt64),
    ]
    return pl.DataFrame(columns).cast(dict(LANE_ADDRESSES.dtypes))  # type: ignore[arg-type]


# --- the report for people: blocks of a place, its source line, and two lines of numbers that start with a tab ---
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
            self._fields |= {name: text for name, text in match.groupdict().items() if text is not None}
        elif match := _PLACE.fullmatch(line):
            self._fields |= match.groupdict()
            self._place_count += 1
        return True

    def end(self) -> None:
        """The log ends here; a block that has no numbers yet is lost."""
        self.unread_count += bool(self._fields)
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
