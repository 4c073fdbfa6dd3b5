"""Numbers of registers that the code names."""

from __future__ import annotations

import polars as pl

from wavewright.model.answer import once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

REGISTERS = packaged_spec(__package__, "registers")

_OF = {"vgprs": "v", "agprs": "a", "sgprs": "s"}


@once_per_trace
def registers(trace: ThreadTrace) -> pl.DataFrame:
    """Registers that the code names, per function: `v7` counts as 8, and so does `v[4:7]`.

    Code that has no text, and instructions that the tables do not know, use no registers here, so these are lower
    bounds. A kernel that calls functions needs at least what they need.

    Examples
    --------
    >>> import polars as pl
    >>> from wavewright.model.trace import ThreadTrace, TraceSource
    >>> code = pl.DataFrame({"row": [0], "function": ["k"], "text": ["..."], "writes": ["v[4:7]"], "reads": ["s2"]})
    >>> registers(ThreadTrace({"code": code}, TraceSource(path="made"))).row(0)
    ('k', 0, 1, 8, 0, 3)
    """
    return (
        trace.code.lazy()
        .filter(pl.col("text").is_not_null())
        .with_columns(operands=pl.concat_str("writes", "reads", separator=" ", ignore_nulls=True))
        .with_columns(_highest(letter).alias(name) for name, letter in _OF.items())
        .group_by("function", maintain_order=True)
        .agg(
            *(pl.col(name).max().fill_null(0).cast(pl.UInt32) for name in _OF),
            row_first=pl.col("row").min().cast(pl.Int32),
            row_count=pl.len().cast(pl.UInt32),
        )
        .select("function", "row_first", "row_count", *_OF)
        .collect()
    )


def _highest(letter: str) -> pl.Expr:
    """Highest register of one kind in the operands, plus one; 0 = none."""
    # The last number of `v12` and `v[12:15]`, as these columns spell them; `v12.h` is a half of v12.
    named = pl.col("operands").str.extract_all(rf"\b{letter}(?:\d{{1,4}}\b|\[\d{{1,4}}:\d{{1,4}}\])")
    last = pl.element().str.extract(r"(\d+)\]?$").cast(pl.UInt32)
    return (named.list.eval(last).list.max() + 1).fill_null(0)
