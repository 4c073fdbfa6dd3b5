"""The code rows that the directory lists, and the line number of each (docs/formats/ui_output.md)."""

from __future__ import annotations

import polars as pl

from wavewright.codeobj.names import demangle_all
from wavewright.model.trace import ThreadTrace


def listed_lines(trace: ThreadTrace) -> pl.DataFrame:
    """The rows of code.json: `line`, `row` (null on label rows), `text`, `source`, `code_object`, `address`.

    Functions follow each other in the order in which waves first touched them; each is listed whole, behind a label.
    Code outside of any function is listed as the whole range between two functions, without a label.
    """
    first_touches = (
        trace.instructions.lazy()
        .with_row_index("touched_at")
        .filter(pl.col("row") >= 0)
        .group_by("row")
        .agg(pl.col("touched_at").min())
    )
    code = (
        _with_ranges(trace.code)
        .join(first_touches, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("touched_at").min().over("range"))
        .filter(pl.col("touched_at").is_not_null())
        .collect()
    )
    instructions = code.select(
        *("touched_at", "row", "code_object", "address"),
        text=pl.col("text").fill_null(""),
        source=pl.col("inline_chain").fill_null(""),
        is_instruction=pl.lit(1, pl.Int8),
    )
    listing = pl.concat([_labels(code), instructions], how="diagonal").sort("touched_at", "is_instruction", "address")
    # Line 0 means "PC unknown" in wave files: only a label may have it.
    first = 0 if listing.is_empty() or listing["row"][0] is None else 1
    columns = ("row", "text", "source", "code_object", "address")
    return listing.select(*columns).with_row_index("line", offset=first)


def _with_ranges(code: pl.DataFrame) -> pl.LazyFrame:
    """`code` by address, with `range`: the number of the function, or of the gap between two, of each row."""
    sorted_code = code.lazy().sort("code_object", "address")
    return sorted_code.with_columns(range=pl.struct("code_object", "function").rle_id())


def _labels(code: pl.DataFrame) -> pl.DataFrame:
    """A row before each function: its symbol, and as source its C++ signature (empty if there is none)."""
    functions = (
        code.filter(pl.col("function").is_not_null())
        .group_by("range")
        .agg(pl.col("touched_at", "code_object", "function").first(), pl.col("address").min())
    )
    readable = demangle_all(functions["function"])
    signatures = ["" if readable[name] == name else readable[name] for name in functions["function"]]
    return functions.select(
        *("touched_at", "code_object", "address"),
        row=pl.lit(None, pl.Int32),
        text=pl.lit("; ") + pl.col("function"),
        source=pl.Series(signatures, dtype=pl.String),
        is_instruction=pl.lit(0, pl.Int8),
    )


def lines_of_rows(listing: pl.DataFrame, rows: pl.Series) -> pl.Series:
    """The line of each code row in `rows`; 0 for -1 (PC unknown) and for rows that are not listed."""
    row = pl.col("row").cast(pl.Int64)
    line_of_row = listing.lazy().drop_nulls("row").select(row, "line")
    row_keys = pl.LazyFrame({"row": rows}).select(row)
    return row_keys.join(line_of_row, on="row", how="left", maintain_order="left").collect()["line"].fill_null(0)


def function_starts(code: pl.DataFrame) -> dict[tuple[int, int], str]:
    """(code object, address) of the first instruction of every function -> its symbol."""
    starts = (
        _with_ranges(code)
        .filter(pl.col("function").is_not_null())
        .group_by("range", maintain_order=True)
        .agg(pl.col("code_object", "address", "function").first())
        .collect()
    )
    return {(code_object, address): name for _, code_object, address, name in starts.iter_rows()}
