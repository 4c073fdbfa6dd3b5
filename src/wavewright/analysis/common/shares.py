"""Parts of wholes."""

from __future__ import annotations

import polars as pl


def share_of(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """`part` / `whole`; null where the whole is 0.

    >>> import polars as pl
    >>> pl.DataFrame({"a": [1, 0], "b": [4, 0]}).select(share_of(pl.col("a"), pl.col("b"))).to_series().to_list()
    [0.25, None]
    """
    return pl.when(whole != 0).then(part / whole)
