"""Cells of a workbook: values of frames as numbers or as text, number formats by unit, names of sheets.

A spreadsheet keeps numbers as 64-bit floats and cuts long texts without a word; what could not be written as it is, is
counted, so that the sheet *About* can say so.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.model.schema import ColumnSpec

MAX_TEXT = 32_767  #: Characters per cell.
MAX_NAME = 31  #: Characters of the name of a sheet.
_EXACT = 1 << 53  #: Whole numbers up to here are exact as 64-bit floats.
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")  #: In names of sheets.
_PERCENT, _COUNT, _DECIMAL, _ID = "0.0%", "#,##0", "#,##0.0", "0"  #: Number formats.


@dataclass
class Cuts:
    """Values that a sheet could not hold as they are."""

    counts: Counter[str] = field(default_factory=Counter)

    def words(self) -> list[str]:
        """One sentence per kind of cut."""
        return [f"{count:,} {what}" for what, count in self.counts.items()]


class SheetNames:
    """Names of sheets: allowed, short enough, and each only once."""

    def __init__(self) -> None:
        self._taken = {"history"}  # Excel reserves it

    def name(self, wish: str) -> str:
        """The name as asked for, if it can be had.

        >>> names = SheetNames()
        >>> names.name("hotspots: costs"), names.name("Hotspots: costs"), names.name("n" * 40)
        ('hotspots_ costs', 'Hotspots_ costs 2', 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn')
        """
        base = _FORBIDDEN.sub("_", printable(wish)).strip() or "table"
        name, number = base[:MAX_NAME].strip(), 1
        while name.casefold() in self._taken:
            number += 1
            ending = f" {number}"
            name = base[: MAX_NAME - len(ending)].strip() + ending
        self._taken.add(name.casefold())
        return name


def text_cell(text: str, cuts: Cuts | None = None) -> str:
    """A recorded text as a cell can hold it, on one line.

    >>> text_cell("=1+1"), len(text_cell("x" * 40_000))
    ('=1+1', 32767)
    """
    text = printable(text)
    if len(text) <= MAX_TEXT:
        return text
    if cuts is not None:
        cuts.counts[f"texts cut to {MAX_TEXT:,} characters"] += 1
    return f"{text[: MAX_TEXT - 1]}…"


def heading(name: str, unit: str) -> str:
    """The name of a column with its unit, where the name does not end in it.

    >>> heading("time_ns", "ns"), heading("begin", "ns"), heading("row", "")
    ('time_ns', 'begin (ns)', 'row')
    """
    return f"{name} ({unit})" if unit and not name.endswith(f"_{unit}") else name


def is_share(name: str, unit: str) -> bool:
    """True if a column of numbers is a share of a whole.

    >>> is_share("stall_share", ""), is_share("peak_share", "%"), is_share("line", "")
    (True, True, False)
    """
    return unit == "%" or name == "share" or name.endswith("_share")


def number_format(name: str, unit: str, dtype: pl.DataType) -> str:
    """The number format of a column; the stored values stay exact."""
    if is_share(name, unit):
        return '0.0"%"' if unit == "%" else _PERCENT
    if dtype.is_integer():
        return _COUNT if unit or name.endswith(("_count", "count", "_total")) else _ID
    return _DECIMAL if unit else "General"


def is_number(column: ColumnSpec | None, name: str, dtype: pl.DataType) -> bool:
    """True if a column is written as numbers; addresses are not, people read them in hexadecimal."""
    return dtype.is_numeric() and not _is_address(column, name)


def _is_address(column: ColumnSpec | None, name: str) -> bool:
    return (name == "address" or name.endswith("_address")) and not (column and column.unit)


def values(column: pl.Series, spec: ColumnSpec | None, cuts: Cuts) -> Iterator[float | str | None]:
    """The value of each cell of a column: a number, a text, or nothing (null, NaN, infinite)."""
    dtype = column.dtype
    if dtype.is_float():
        for value in column.to_list():
            yield value if value is not None and math.isfinite(value) else None
        return
    if dtype.is_integer() and _is_address(spec, column.name):
        yield from (None if value is None else f"{value:#x}" for value in column.to_list())
        return
    if dtype.is_integer():
        for value in column.to_list():
            if value is None or -_EXACT <= value <= _EXACT:
                yield value
            else:
                cuts.counts["integers beyond 2^53 as text"] += 1
                yield str(value)
        return
    for value in column.to_list():
        yield None if value is None else text_cell(_value_text(value), cuts)


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
