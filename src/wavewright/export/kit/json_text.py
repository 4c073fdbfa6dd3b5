"""JSON as bytes: values by msgspec, and long lists of integers by polars' CSV writer, which is faster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from wavewright.base.shown import json_bytes

#: Rows that become text at once: many, so that calls cost little; not too many for the memory.
_WINDOW_ROWS = 1 << 17


def encode(value: Any) -> bytes:
    """Compact JSON with keys in alphabetical order, as AMD's writer has it."""
    return json_bytes(value, order="sorted")


def integer_rows(frame: pl.DataFrame) -> bytes:
    """Rows of integer columns without nulls as a JSON list of lists; no rows give `null`, as in AMD's files."""
    return next(integer_rows_of_slices(frame, [(0, frame.height)]))


def integer_rows_of_slices(frame: pl.DataFrame, slices: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """`integer_rows` of each slice (first row, number of rows); fast for many small slices in row order.

    >>> import polars as pl
    >>> list(integer_rows_of_slices(pl.DataFrame({"time": [8, 12, 16]}), [(0, 2), (2, 1), (3, 0)]))
    [b'[[8],[12]]', b'[[16]]', b'null']
    """
    window_start, lines = 0, [""]
    for first, count in slices:
        if count and not window_start <= first <= first + count < window_start + len(lines):
            # Integers need no quotes, so CSV differs from JSON only between rows.
            window = frame.slice(first, max(count, _WINDOW_ROWS))
            window_start, lines = first, window.write_csv(include_header=False).split("\n")
        slice_text = "],[".join(lines[first - window_start : first - window_start + count])
        yield f"[[{slice_text}]]".encode() if count else b"null"
