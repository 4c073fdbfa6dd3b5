"""Second records of gfx9 barriers, by the text of the code: two records are one execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace


def without_releases(trace: ThreadTrace, instructions: pl.DataFrame) -> pl.DataFrame:
    """Instructions without the release of each `s_barrier` whose arrival is the record before it."""
    rows = trace.code.filter(pl.col("text").str.starts_with("s_barrier"))["row"]
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in ("wave", "row"))
    return instructions.filter(~(same & pl.col("row").is_in(rows.implode())).fill_null(value=False))
