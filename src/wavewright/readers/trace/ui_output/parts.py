"""Parsing of untrusted JSON and of rows that must fit the tables, for all files of decoded directories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.base.bounds import integer_of
from wavewright.base.shown import shown
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.folder import Folder

#: polars type -> smallest and largest value.
INTEGER_RANGES = {f"UInt{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)}
INTEGER_RANGES |= {f"Int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (32, 64)}

_MOST_ENGINES = 1 << 16


def read_bytes(folder: Folder, name: str, losses: list[Loss]) -> bytes | None:
    """The content of a file that the folder should have; None and a loss when it cannot be had."""
    if name not in folder.names():
        losses.append(Loss("missing_files", detail=readable(name)))
        return None
    try:
        return folder.read(name)
    except OSError as error:
        losses.append(Loss("unreadable_json", detail=f"{readable(name)} cannot be read ({error.strerror or error})"))
        return None


def load_json(folder: Folder, name: str, losses: list[Loss]) -> Any:
    """The content of a JSON file; None and a loss when there is none."""
    content = read_bytes(folder, name, losses)
    return None if content is None else decoded(content, name, losses)


def decoded(content: bytes, name: str, losses: list[Loss]) -> Any:
    """JSON text as objects; None and a loss when it is none."""
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        problem = f"{readable(name)} is not valid JSON ({error.msg} at byte {error.pos})"
        losses.append(Loss("unreadable_json", detail=problem, byte_offset=error.pos))
    except (ValueError, RecursionError) as error:  # no UTF-8, a number of thousands of digits, absurd nesting
        losses.append(Loss("unreadable_json", detail=f"{readable(name)} is not valid JSON ({type(error).__name__})"))
    return None


def json_members(content: bytes, name: str, losses: list[Loss], note: str = "") -> list[tuple[bytes, bytes]]:
    """Keys and texts of the members of a JSON object, up to where it is damaged, which is a loss ending in `note`."""
    members, fault = _core.split_json_object(content)
    if fault is not None:
        problem = f"{readable(name)} is not valid JSON (error at byte {fault}){note}"
        losses.append(Loss("unreadable_json", detail=problem, byte_offset=fault))
    return members


def whole(value: object) -> int | None:
    """An integer, also where it is written as 3.0; None for everything else.

    >>> whole(3.0), whole("3"), whole(True), whole(None)
    (3, None, None, None)
    """
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    return None


def readable(text: str) -> str:
    """A string that fits UTF-8 and a terminal: bytes are escaped, other characters become a `?`.

    >>> readable("caf\\udce9\\x1b[31m")
    'caf\\\\xe9?[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else "?" for c in shown(text))


def engine_number(text: str | bytes) -> int | None:
    """The number of a shader engine from a key; None when the key is something else.

    >>> engine_number("12"), engine_number("version"), engine_number("-1")
    (12, None, None)
    """
    if isinstance(text, bytes):
        text = text.decode("ascii", "replace")
    return integer_of(text, below=_MOST_ENGINES)


def fitting(
    table: str, rows: pl.DataFrame, positions: Mapping[str, int], names: Sequence[str] = ()
) -> tuple[pl.DataFrame, int]:
    """Rows of the native reader with the columns of `table` at `positions`, and how many did not fit their types.

    Columns in `names` are there by name already. All others are missing in the result.
    """
    types = {column.name: column.dtype for column in THREAD_TRACE[table].columns}
    fits = []
    for name, at in positions.items():
        if types[name] in INTEGER_RANGES and types[name] != "Int64":
            low, high = INTEGER_RANGES[types[name]]
            # The native reader delivers Int64.
            fits.append(pl.col(f"c{at}").is_between(low, min(high, INTEGER_RANGES["Int64"][1])))
    all_fit = rows.select(pl.all_horizontal(fits).all()).item()
    valid = rows if all_fit else rows.filter(fits)
    cast = {name: name for name in names} | {f"c{at}": name for name, at in positions.items()}
    columns = [pl.col(source).cast(getattr(pl, types[name])).alias(name) for source, name in cast.items()]
    return valid.select(columns), rows.height - valid.height


def fitting_rows(table: str, rows: Iterable[Mapping[str, Any]]) -> tuple[pl.DataFrame, int]:
    """Rows of Python values as a frame of `table`, and how many were left out because a value does not fit.

    Missing keys and None are null.
    """
    columns = THREAD_TRACE[table].columns
    valid, dropped_count = [], 0
    for row in rows:
        values = [row.get(column.name) for column in columns]
        if all(_fits(value, column.dtype) for value, column in zip(values, columns, strict=True)):
            valid.append(values)
        else:
            dropped_count += 1
    return pl.DataFrame(valid, schema=THREAD_TRACE[table].dtypes, orient="row"), dropped_count


def _fits(value: object, dtype: str) -> bool:
    if value is None or dtype not in INTEGER_RANGES:
        return True
    low, high = INTEGER_RANGES[dtype]
    return type(value) is int and low <= value <= high
