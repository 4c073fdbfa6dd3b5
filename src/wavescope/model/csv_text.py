"""A frame as CSV text that no spreadsheet takes for a formula and no terminal for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["harmless", "write_csv"]

_FORMULA = r"^[=+\-@\t\r]"
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before texts that spreadsheets would run as formulas, and with U+FFFD for control
    characters other than tabs and ends of lines.

    Examples
    --------
    >>> import polars as pl
    >>> harmless(pl.DataFrame({"name": ["=1+1", "gemm", "\\x1b[2J"]}))["name"].to_list()
    ["'=1+1", 'gemm', '\ufffd[2J']
    """
    import polars as pl
    import polars.selectors as cs

    made = []
    for name in frame.select(cs.string() | cs.categorical()).columns:
        distinct = frame[name].unique().cast(pl.String)  # far fewer than rows where names repeat
        if distinct.str.contains(f"{_FORMULA}|{_CONTROLS}").any():
            cell = pl.col(name).cast(pl.String).str.replace_all(_CONTROLS, "\ufffd")
            made.append(pl.when(cell.str.contains(_FORMULA)).then("'" + cell).otherwise(cell).alias(name))
    return frame.with_columns(made)


def write_csv(frame: pl.DataFrame) -> str:
    """The frame as CSV with a header; see `harmless`.

    Examples
    --------
    >>> import polars as pl
    >>> write_csv(pl.DataFrame({"name": ["a,b"], "calls": [2]}))
    'name,calls\\n"a,b",2\\n'
    """
    return harmless(frame).write_csv()
