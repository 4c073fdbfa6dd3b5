"""Answers of analyses as the page reads them: frames and dataclasses become JSON values and doubles here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import polars as pl

from wavewright.model.answer import to_builtins


def doubles(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with 64-bit integers as doubles, which JavaScript's numbers are."""
    return frame.with_columns(pl.col(pl.Int64, pl.UInt64).cast(pl.Float64))


MOST_ROWS = 5000  #: Rows of one table that an answer carries; its `row_count` tells how many there are.
_ADDRESSES = ("address", "producer_address")  #: Columns with addresses of code.


def serialize(
    answer: Any, *, top: int | None = MOST_ROWS, prepare: Callable[[pl.DataFrame], pl.DataFrame] | None = None
) -> Any:
    """An answer for JSON: at most `top` rows per table (None = all), each table of it changed by `prepare`.

    What the columns mean is not sent: the page knows it from the declared tables (`tools/page_shapes.toml`). Addresses
    become strings, because JavaScript's numbers end at 2**53.

    >>> import polars as pl
    >>> serialize(pl.DataFrame({"address": [1 << 60, 2]}), top=1)
    {'row_count': 2, 'rows': [{'address': '0x1000000000000000'}]}
    """
    if prepare and is_dataclass(answer) and not isinstance(answer, type):
        values = {item.name: getattr(answer, item.name) for item in fields(answer)}
        frames = {name: prepare(value) for name, value in values.items() if isinstance(value, pl.DataFrame)}
        answer = replace(answer, **frames)
    return _addresses_as_text(to_builtins(answer, top=top))


def _addresses_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: f"0x{item:x}" if key in _ADDRESSES and isinstance(item, int) else _addresses_as_text(item)
            for key, item in value.items()
        }
    return [_addresses_as_text(item) for item in value] if isinstance(value, list) else value
