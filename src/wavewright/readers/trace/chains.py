"""Inline chains of debug lines (`file:line -> file:line`, the innermost first): their places as columns."""

from __future__ import annotations

import polars as pl


def innermost_place() -> tuple[pl.Expr, pl.Expr]:
    """`file` and `line` of the innermost frame of `inline_chain`; null = no debug line, or a line without a number.

    >>> pl.DataFrame({"inline_chain": ["a.h:3 -> b.hip:70", "c.hip:?"]}).select(innermost_place()).rows()
    [('a.h', 3), ('c.hip', None)]
    """
    innermost = pl.col("inline_chain").str.split(" -> ").list.first()
    number = innermost.str.extract(r":(\d+)$").cast(pl.UInt32, strict=False)
    return innermost.str.replace(r":[^:]*$", "").alias("file"), pl.when(number > 0).then(number).alias("line")
