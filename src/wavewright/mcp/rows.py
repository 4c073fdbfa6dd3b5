"""Rows of answers as fields of a reply, and cursors: where they go on."""

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
_DIGITS = 5  #: That are significant: no measurement has more.
_ADDRESSES = ("address", "producer_address")


@dataclass(frozen=True)
class Rows:
    """Some rows of a table."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int  #: Rows of the whole table.
    start: int = 0  #: The place of the first of these in it.

    @property
    def fields(self) -> dict[str, Any]:
        """The table as a program reads it."""
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows], "total": self.total}


def rows_of(name: str, frame: pl.DataFrame, *, start: int = 0, limit: int = 10) -> Rows:
    """Rows of a frame; columns that say nothing here are left out, addresses become handles.

    >>> import polars as pl
    >>> rows_of("units", pl.DataFrame({"address": [6164], "file": [None], "share": [1 / 3]})).fields
    {'columns': ['address', 'share'], 'rows': [['i0x1814', 0.33333]], 'total': 1}
    """
    page = frame.slice(start, limit)
    columns = [column for column in page.columns if _says_something(page, column)] or page.columns
    kinds = [column in _ADDRESSES for column in columns]
    rows = tuple(
        tuple(_handle(value) if is_address else cell(value) for value, is_address in zip(row, kinds, strict=True))
        for row in page.select(columns).iter_rows()
    )
    return Rows(name, tuple(map(printable, columns)), rows, frame.height, start)


def _says_something(page: pl.DataFrame, column: str) -> bool:
    """True if a column has values other than null and 0, and not only what other columns have already."""
    values = page[column].to_list()
    if not any(value is not None and value != 0 for value in values):
        return False
    if column == "unit" and {"first_row", "file", "line"} <= set(page.columns):
        names = [(f"row {row}", f"{file}:{line}") for row, file, line in page["first_row", "file", "line"].iter_rows()]
        return any(value not in both for value, both in zip(values, names, strict=True))
    return True


def rows_of_table(name: str, table: Table) -> Rows:
    """A table as people read it: units are in its cells."""
    columns = tuple(column.heading for column in table.columns)
    return Rows(name, columns, tuple(tuple(map(cell, row)) for row in table.rows), len(table.rows))


def rows_of_findings(findings: Sequence[Finding], start: int = 0, limit: int = 10) -> Rows:
    """Findings with their handles, what they were seen at first, and what to do first."""
    rows = [
        (
            finding.handle or f"f{finding.number}",
            finding.verdict,
            finding.gain,
            _first(finding, "see"),
            _first(finding, "do"),
        )
        for finding in findings[start : start + limit]
    ]
    columns = ("handle", "verdict", "gain", "see", "do")
    return Rows("findings", columns, tuple(tuple(map(cell, row)) for row in rows), len(findings), start)


def _first(finding: Finding, label: str) -> str | None:
    return next((part.text for part in finding.paragraphs if part.label == label), None)


def cell(value: Any) -> str | int | float | bool | None:
    """A value for JSON: texts without control characters and of bounded length, numbers with the digits they have.

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


_NOT_ASKED = ("cursor", "limit")
_DIGEST_BYTES = 6


def cursor(tool: str, arguments: Mapping[str, Any], start: int) -> str:
    """The cursor of the row at a place."""
    return base64.urlsafe_b64encode(_digest(tool, arguments) + start.to_bytes(6)).decode()


def start_of(given: str, tool: str, arguments: Mapping[str, Any]) -> int:
    """The place of the row that a cursor names. Raises `UsageError` when it came with another question.

    >>> start_of(cursor("hotspots", {"by": "line"}, 20), "hotspots", {"by": "line", "limit": 5})
    20
    """
    try:
        content = base64.b64decode(given.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != _DIGEST_BYTES + 6 or content[:_DIGEST_BYTES] != _digest(tool, arguments):
        what = "this cursor did not come with an answer to this question"
        raise UsageError(what, advice="give next_cursor of the answer before, and the same other arguments")
    return int.from_bytes(content[_DIGEST_BYTES:])


def _digest(tool: str, arguments: Mapping[str, Any]) -> bytes:
    asked = {name: value for name, value in arguments.items() if name not in _NOT_ASKED}
    return hashlib.sha256(json.dumps([tool, asked], sort_keys=True).encode()).digest()[:_DIGEST_BYTES]
