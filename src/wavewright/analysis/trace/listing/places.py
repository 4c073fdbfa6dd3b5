"""Code rows by function name or address."""

from __future__ import annotations

import re

import polars as pl

from wavewright.errors import UsageError

_HANDLE = re.compile(r"i(?:(?P<code_object>\d{1,9}):)?(?P<address>0x[0-9a-fA-F]{1,16})")


def rows_of_function(code: pl.DataFrame, name: str) -> pl.Series:
    """Numbers of the rows of functions whose name contains `name`.

    Raises `UsageError` when there is no such function; the advice names those that are there.
    """
    rows = code.filter(pl.col("function").str.contains(name, literal=True))["row"]
    if not rows.len():
        functions = code["function"].drop_nulls().unique(maintain_order=True)
        names = ", ".join(function[:60] for function in functions.head(6).to_list()) or "none is known"
        what = f"no function has {name!r} in its name"
        raise UsageError(what, advice=f"functions: {names}{', ...' if functions.len() > 6 else ''}")
    return rows


def rows_at(code: pl.DataFrame, place: str) -> list[int]:
    """Numbers of the rows that `place` means: a row number, or an address (hexadecimal, or too large for a row).

    An address may be written as a handle: i0x104, or i1:0x104 with the number of its code object; without it, several
    code objects can have a row at one address. Raises `UsageError` when it is not a number, or nothing is there.
    """
    if handle := _HANDLE.fullmatch(place):
        place = handle["address"]
        if handle["code_object"]:
            code = code.filter(pl.col("code_object") == int(handle["code_object"]))
    try:
        number = int(place, 0)
    except ValueError:
        what = f"{place!r} is neither a row number nor an address"
        raise UsageError(what, advice="rows are decimal (row 471), addresses hexadecimal (0x2cb8)") from None
    if not place.lower().startswith("0x") and 0 <= number < code.height:
        return [number]
    rows: list[int] = []
    if 0 <= number < 1 << 64:
        length = pl.col("size").fill_null(1).clip(lower_bound=1)
        at = pl.lit(number, pl.UInt64)  # differences instead of ends, which may not fit
        rows = code.filter(pl.col("address") <= at, at - pl.col("address") < length)["row"].to_list()
    if not rows:
        addresses = code["address"].drop_nulls().sort().to_list()
        span = f", addresses {addresses[0]:#x} to {addresses[-1]:#x}" if addresses else ""
        raise UsageError(f"no code row at {place}", advice=f"rows 0 to {code.height - 1:,}{span}")
    return rows
