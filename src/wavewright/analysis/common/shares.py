"""Parts of wholes."""

from __future__ import annotations

import polars as pl


def share_of(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """`part` / `whole`; null where the whole is 0."""
    return pl.when(whole != 0).then(part / whole)
