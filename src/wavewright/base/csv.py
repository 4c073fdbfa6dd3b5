"""CSV output that a spreadsheet does not run as formulas and a terminal does not obey."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.base.shown import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

_FORMULA = r"^[=+\-@\t\r]"  #: Beginnings of texts that spreadsheets run.
_CONTROLS = rf"[\x00-\x08\x0b\x0c\x0e-\x1f{COMMANDS}]"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?%?")


def harmless_text(text: str) -> str:
    """A cell or header as `harmless` writes it; numbers stay as they are.

    >>> harmless_text("=1+1"), harmless_text("\\x1b[2J"), harmless_text("-1.5")
    ("'=1+1", '\ufffd[2J', '-1.5')
    """
    clean = re.sub(_CONTROLS, "\ufffd", text)
    return f"'{clean}" if re.match(_FORMULA, clean) and not _NUMBER.fullmatch(clean) else clean


def harmless_rows(rows: Iterable[Sequence[object]]) -> Iterator[list[object]]:
    """Rows for a CSV writer, headers included, with every text harmless."""
    for row in rows:
        yield [harmless_text(cell) if isinstance(cell, str) else cell for cell in row]


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before texts that spreadsheets would run as formulas, and with U+FFFD for control
    characters other than tabs and ends of lines; names of columns too.

    >>> import polars as pl
    >>> harmless(pl.DataFrame({"name": ["=1+1", "gemm", "\\x1b[2J"]}))["name"].to_list()
    ["'=1+1", 'gemm', '\ufffd[2J']
    """
    import polars as pl
    import polars.selectors as cs

    columns = []
    for name in frame.select(cs.string() | cs.categorical()).columns:
        distinct = frame[name].unique().cast(pl.String)  # far fewer than rows where names repeat
        if distinct.str.contains(f"{_FORMULA}|{_CONTROLS}").any():
            cell = pl.col(name).cast(pl.String).str.replace_all(_CONTROLS, "\ufffd")
            columns.append(pl.when(cell.str.contains(_FORMULA)).then("'" + cell).otherwise(cell).alias(name))
    lists = frame.select(cs.by_dtype(pl.List)).columns
    columns += [pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists]
    headers = _headers(frame.columns)
    return frame.with_columns(columns).rename(headers) if headers else frame.with_columns(columns)


def _headers(names: Sequence[str]) -> dict[str, str]:
    """Column -> its harmless name, where the two differ; new names are unique."""
    used_names = set(names)
    names_by_column = {}
    for name in names:
        clean = harmless_text(name)
        if clean == name:
            continue
        number = 2
        while clean in used_names:
            clean, number = f"{harmless_text(name)}_{number}", number + 1
        used_names.add(clean)
        names_by_column[name] = clean
    return names_by_column


def write_csv(frame: pl.DataFrame) -> str:
    """The frame as CSV with a header; see `harmless`."""
    return harmless(frame).write_csv()
