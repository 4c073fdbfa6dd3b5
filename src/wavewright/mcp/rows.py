"""Tables of answers as fields of a reply, and the cursors that continue them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.errors import UsageError
from wavewright.model.blocks import Finding, Table
from wavewright.words.kit.handles import instruction_handle

_LONGEST = 160  #: Characters of a cell.
_DIGITS = 5  #: Significant digits: no measurement has more.
_ADDRESSES = ("address", "producer_address")  #: Columns with addresses of instructions.


@dataclass(frozen=True)
class Rows:
    """Some rows of a table."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int  #: Rows of the whole table.
    start: int = 0  #: Number of the first of these rows in the table.

    @property
    def fields(self) -> dict[str, Any]:
        """The table as a program reads it."""
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows], "total": self.total}


def rows_of(name: str, frame: pl.DataFrame, *, start: int = 0, limit: int = 10) -> Rows:
    """Rows of a frame without columns that carry no information; addresses become handles.

    >>> import polars as pl
    >>> rows_of("units", pl.DataFrame({"address": [6164], "file": [None], "share": [1 / 3]})).fields
    {'columns': ['address', 'share'], 'rows': [['i0x1814', 0.33333]], 'total': 1}
    """
    page = frame.slice(start, limit)
    columns = [column for column in page.columns if _is_informative(page, column)] or page.columns
    has_address = [column in _ADDRESSES for column in columns]
    rows = tuple(
        tuple(_handle(value) if is_address else cell(value) for value, is_address in zip(row, has_address, strict=True))
        for row in page.select(columns).iter_rows()
    )
    return Rows(name, tuple(map(printable, columns)), rows, frame.height, start)


def _is_informative(page: pl.DataFrame, column: str) -> bool:
    """True if a column has values other than null and 0, and does not repeat other columns."""
    values = page[column].to_list()
    if not any(value is not None and value != 0 for value in values):
        return False
    # A unit of code can be named after its first row, or its file and line, which other columns have.
    if column == "unit" and {"first_row", "file", "line"} <= set(page.columns):
        names = [(f"row {row}", f"{file}:{line}") for row, file, line in page["first_row", "file", "line"].iter_rows()]
        return any(value not in both for value, both in zip(values, names, strict=True))
    return True


def rows_of_table(name: str, table: Table) -> Rows:
    """A table for people, with units in its cells."""
    columns = tuple(column.heading for column in table.columns)
    return Rows(name, columns, tuple(tuple(map(cell, row)) for row in table.rows), len(table.rows))


def rows_of_findings(findings: Sequence[Finding], start: int = 0, limit: int = 10) -> Rows:
    """Findings with their handles, the first evidence and the first remedy."""
    rows = []
    for finding in findings[start : start + limit]:
        handle = finding.handle or f"f{finding.number}"
        values = (handle, finding.verdict, finding.gain, _first(finding, "see"), _first(finding, "do"))
        rows.append(tuple(map(cell, values)))
    return Rows("findings", ("handle", "verdict", "gain", "see", "do"), tuple(rows), len(findings), start)


def _first(finding: Finding, label: str) -> str | None:
    return next((part.text for part in finding.paragraphs if part.label == label), None)


def cell(value: Any) -> str | int | float | bool | None:
    """A value for JSON: texts of bounded length without control characters, numbers with 5 significant digits.

    >>> cell(0.123456789), cell(float("nan")), cell("a" * 200)[-3:], cell(7)
    (0.12346, None, 'aa…', 7)
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    text = printable(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _handle(value: Any) -> str | None:
    return instruction_handle(value) if isinstance(value, int) else value


_OF_PAGES = ("cursor", "limit")  #: Arguments that choose rows of an answer, and not the answer.
_DIGEST_BYTES, _START_BYTES = 6, 6  #: A cursor is a hash of the question, so that it fits no other, and a row number.


def cursor(tool: str, arguments: Mapping[str, Any], start: int) -> str:
    """The cursor of an answer that starts at a row; clients see it as a text without a meaning."""
    return base64.urlsafe_b64encode(_digest(tool, arguments) + start.to_bytes(_START_BYTES)).decode()


def start_of(tool: str, arguments: Mapping[str, Any]) -> int:
    """The first row of an answer: that of the argument `cursor`, else 0.

    Raises `UsageError` when the cursor belongs to another question.

    >>> start_of("hotspots", {"by": "line", "limit": 5, "cursor": cursor("hotspots", {"by": "line"}, 20)})
    20
    """
    text = arguments.get("cursor")
    if not text:
        return 0
    try:
        content = base64.b64decode(text.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != _DIGEST_BYTES + _START_BYTES or content[:_DIGEST_BYTES] != _digest(tool, arguments):
        what = "this cursor did not come with an answer to this question"
        raise UsageError(what, advice="give next_cursor of the answer before, and the same other arguments")
    return int.from_bytes(content[_DIGEST_BYTES:])


def _digest(tool: str, arguments: Mapping[str, Any]) -> bytes:
    question = {name: value for name, value in arguments.items() if name not in _OF_PAGES}
    return hashlib.sha256(json.dumps([tool, question], sort_keys=True).encode()).digest()[:_DIGEST_BYTES]
