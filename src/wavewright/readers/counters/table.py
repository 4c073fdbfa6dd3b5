"""One CSV file as columns: numbers where the header names counters, text elsewhere; what cannot be read is counted.

Polars parses a chunk at a time. A chunk that it refuses, or in which some number is no valid count, is parsed again by
Python's csv module, which is slower and tells which rows and numbers are bad. A file whose last row was cut loses that
row, or its last cell where digits may be missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from wavewright.base.compression import PackedError, opened_unpacked
from wavewright.base.files import open_regular
from wavewright.errors import NotATraceError, UsageError
from wavewright.model.losses import Loss
from wavewright.readers.counters.names import LARGEST, SMALLEST, is_count, is_counter, number

_MAX_COLUMNS = 100_000
_TINY = b"0.00000000"  #: In the text of any positive number below `SMALLEST` that is written without exponent.
_LONG_VALUE = "counter_value"
_NULLS = frozenset(("", "na", "n/a", "nan", "none", "null", "-"))  #: Words that say that there is no value.
_SHORT_FRACTION = 1  #: Digits; fractions of one digit may differ in length, longer ones are all alike.
_TIME_DIGITS = 9  #: Numbers with more digits in the last column are times, which are all of one length.


@dataclass
class Table:
    """A CSV file: column i of `frame` is named str(i), its header is header[i]."""

    file: Path
    header: list[str]
    frame: pl.DataFrame
    losses: list[Loss] = field(default_factory=list)

    def index(self, *names: str) -> int | None:
        """The first column with one of these names, in small letters."""
        return next((self._places[name] for name in names if name in self._places), None)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name.lower(): place for place, name in reversed(list(enumerate(self.header)))}


def read_table(file: Path, convert: Callable[[Table], pl.DataFrame] | None = None) -> Table:
    """The table in a CSV file, plain or gzip; `convert` makes something smaller of each chunk.

    Raises `UsageError` when it cannot be read; `NotATraceError` when it is not a table.
    """
    reading = _Reading(file)
    parts = list(reading.parts(convert))
    if not reading.header:
        raise NotATraceError("this file is empty", where=str(file), advice="collect the counters again")
    if not parts:
        table = Table(file, reading.header, pl.DataFrame(schema=reading.schema))
        parts = [convert(table) if convert else table.frame]
    return Table(file, reading.header, pl.concat(parts, how="vertical_relaxed"), reading.losses())


class _Reading:
    """State while a file is read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.header: list[str] = []
        self.schema: dict[str, pl.DataType] = {}
        self.separator = ","
        self.is_number: list[bool] = []
        self.may_lack_digits = False  # Whether the file ends without a line end, in a number that may be longer.
        self.bad_row_count = 0
        self.bad_number_count = 0
        self.bad_columns: set[str] = set()
        self._above = b""  # The last line of the chunk before.

    def parts(self, convert: Callable[[Table], pl.DataFrame] | None) -> Iterator[pl.DataFrame]:
        for text in chunks(self.file):
            if (part := self.part(text)) is not None:
                yield convert(Table(self.file, self.header, part)) if convert else part

    def part(self, text: bytes) -> pl.DataFrame | None:
        if not self.header:
            text = self._take_header(text)
        lines = text if text.endswith(b"\n") else self._trusted(text)
        self._above = lines[lines.rfind(b"\n", 0, -1) + 1 :]
        if not lines or lines.isspace():
            return None
        try:
            shape: dict[str, Any] = {"has_header": False, "schema": self.schema, "separator": self.separator}
            frame = pl.read_csv(lines, **shape, encoding="utf8-lossy", low_memory=True)
        except (pl.exceptions.PolarsError, ValueError, OSError):
            return self._field_by_field(lines)
        if not frame.to_series(-1).null_count() and not _is_unsound(frame, may_be_tiny=b"-" in lines or _TINY in lines):
            return frame.rechunk()
        return self._field_by_field(lines)

    def losses(self) -> list[Loss]:
        losses = []
        if self.bad_row_count:
            losses.append(Loss("counter_rows", self.bad_row_count, detail=self.file.name))
        if self.may_lack_digits:
            losses.append(Loss("counter_cut", detail=self.file.name))
        if self.bad_number_count:
            names = ", ".join(sorted(self.bad_columns)[:6])
            losses.append(Loss("counter_numbers", self.bad_number_count, detail=f"{self.file.name} ({names})"))
        return losses

    def _take_header(self, text: bytes) -> bytes:
        text = text.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
        line, _, remainder = text.partition(b"\n")
        words = line.decode("utf-8", "replace").strip("\r\n")
        self.separator = max(",;\t", key=words.count)
        self.header = [name.strip() for name in self._cells(words)]
        if not any(self.header) or len(self.header) > _MAX_COLUMNS:
            raise no_table(self.file)
        self.is_number = is_number = [is_counter(name) or name.lower() == _LONG_VALUE for name in self.header]
        self.schema = {str(i): pl.Float64() if n else pl.String() for i, n in enumerate(is_number)}
        return remainder

    def _trusted(self, text: bytes) -> bytes:
        """The text without its last row, if that row was cut."""
        body, end, last = text.rpartition(b"\n")
        above = body[body.rfind(b"\n") + 1 :] if end else self._above
        cells, before = (self._cells(line.decode("utf-8", "replace")) for line in (last, above))
        if not last.strip():
            return text + b"\n"
        is_cut = len(cells) < len(self.header) or last.count(b'"') % 2 == 1
        if is_cut or (len(before) == len(cells) and _is_shorter(cells[-1], before[-1].rstrip("\r\n"))):
            self.bad_row_count += 1
            return body + end
        if not self._may_lack_digits(last, cells[-1], before[-1] if before else ""):
            return text + b"\n"
        self.may_lack_digits = True
        separator = self.separator.encode()
        return body + end + last.rpartition(separator)[0] + separator + b"\n"

    def _may_lack_digits(self, line: bytes, cell: str, above: str) -> bool:
        """True if a row ends with a number of a counter whose last digits may have been cut off."""
        if len(self.header) < 2 or not self.is_number[-1] or line[-1:] in (b'"', b"\r"):
            return False
        fraction, usual = (number.strip().partition(".")[2] for number in (cell, above))
        return not fraction or len(fraction) != len(usual)

    def _cells(self, line: str) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=self.separator), [])
        except csv.Error:
            return []

    def _field_by_field(self, text: bytes) -> pl.DataFrame:
        """Parse with the csv module: slower than polars, but counts bad rows and numbers."""
        rows = list(self._rows(text))
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.header)
        values = [
            [self._number(cell, header) if is_number else cell or None for cell in cells]
            for header, is_number, cells in zip(self.header, self.is_number, columns, strict=True)
        ]
        return pl.DataFrame(values, schema=self.schema, orient="col")

    def _rows(self, text: bytes) -> Iterator[list[str]]:
        reader = csv.reader(io.StringIO(text.decode("utf-8", "replace")), delimiter=self.separator)
        width = len(self.header)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:  # a gigantic field
                self.bad_row_count += 1
                continue
            if len(row) == width:
                yield row
            elif row:
                self.bad_row_count += 1

    def _number(self, cell: str, header: str) -> float | None:
        value = number(cell)
        if value is not None and is_count(value):
            return value
        if cell.strip().lower() in _NULLS:
            return None
        self.bad_number_count += 1
        self.bad_columns.add(header)
        return None


def _is_unsound(frame: pl.DataFrame, *, may_be_tiny: bool) -> bool:
    """True where a number is not a valid count: negative, too large, too small or NaN."""
    numbers = [column for column in frame.iter_columns() if column.dtype == pl.Float64]
    if not all(column.sum() <= LARGEST for column in numbers):  # an expression over a thousand columns takes longer
        return True
    if not may_be_tiny or not numbers:
        return False
    has_tiny = pl.DataFrame(numbers).select(pl.any_horizontal((pl.all() != 0) & (pl.all() < SMALLEST)).any()).item()
    return bool(has_tiny)


def _is_shorter(cell: str, above: str) -> bool:
    """True if a last field looks truncated: fractions and times all have one length."""
    if "." in above:
        _, point, fraction = cell.partition(".")
        return not point or not fraction or (len(above.partition(".")[2]) > _SHORT_FRACTION and len(cell) < len(above))
    return len(above) > _TIME_DIGITS and len(cell) < len(above)


def no_table(file: Path) -> NotATraceError:
    """The error for a file that has no counters of dispatches."""
    advice = "give *_counter_collection.csv of rocprofv3, or pmc_perf.csv"
    return NotATraceError("not a table of counters", where=str(file), advice=advice)


# --- a CSV file in chunks of complete lines, so that a large one is never in memory at once ---
MAX_BYTES = 1 << 31  #: Of one file, unpacked.
_CHUNK_BYTES = 4 << 20
_MAX_LINE = 32 << 20
#: Packed once more: polars would unpack zstd and zlib itself, without a bound.
_OTHER_PACKED = (b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")


def chunks(file: Path, size: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Chunks of about `size` bytes that end at a line end outside of quotes; the last may be cut.

    Raises `UsageError` when it cannot be read; `NotATraceError` when it is not text, damaged where it is packed, or too
    long.
    """
    try:
        with open_regular(file) as stream:
            yield from _cut(opened_unpacked(stream), file, size)
    except PackedError as error:
        raise NotATraceError("a damaged packed file", where=str(file), advice="copy it again") from error
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from error


def _cut(stream: BinaryIO, file: Path, size: int) -> Iterator[bytes]:
    total, partial_line = 0, b""
    while text := stream.read(size):
        if not total and (b"\0" in text[:4096] or text.startswith(_OTHER_PACKED)):
            problem = "not a table of counters"
            raise NotATraceError(problem, where=str(file), advice="give the CSV files that the profiler wrote")
        total += len(text)
        if total > MAX_BYTES:
            problem = f"more than {MAX_BYTES >> 30} GiB of CSV"
            raise NotATraceError(problem, where=str(file), advice="filter the rows of one kernel first")
        partial_line += text
        end = _last_line_end(partial_line)
        if end:
            yield partial_line[:end]
            partial_line = partial_line[end:]
        elif len(partial_line) > _MAX_LINE:
            problem = f"a line of more than {_MAX_LINE >> 20} MiB: a quote that never closes, or no table"
            raise NotATraceError(problem, where=str(file), advice="copy the file again")
    if partial_line:
        yield partial_line


def _last_line_end(text: bytes) -> int:
    """Offset of the end of the last complete line; 0 = there is none."""
    end = text.rfind(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:  # inside quotes: those that open there are the last
        end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
    return end
