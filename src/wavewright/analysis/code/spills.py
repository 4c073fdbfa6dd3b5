"""Spills: registers that a kernel keeps in scratch memory for a while, by place, with their stores and reloads.

A spill is an access of scratch at a fixed place (`off`, no address in a vector register). Targets before gfx940 reach
scratch through buffers, which data use as well: there nothing is told.
"""

from __future__ import annotations

import polars as pl

from wavewright.model.schema import packaged_spec

SPILLS = packaged_spec(__package__, "spills")
_TEXT = r"^scratch_(load|store)_\w+ (?:off, )?(?P<data>[va]\d+|[va]\[\d+:\d+\])(?:, off)?, (?P<base>off|s\d+)"
_OFFSET = r"\boffset:(-?\d+)"


def spills(rows: pl.DataFrame) -> pl.DataFrame:
    """The places of scratch (`SPILLS`) that rows of a kernel store to or load from, the most reloaded in loops first.

    `rows` has `row`, `text`, `is_reached`, `depth`.
    """
    found = (
        rows.filter(pl.col("is_reached") & pl.col("text").str.contains(_TEXT))
        .with_columns(
            register=pl.col("text").str.extract(_TEXT, 2),
            base=pl.col("text").str.extract(_TEXT, 3),
            offset_bytes=pl.col("text").str.extract(_OFFSET, 1).cast(pl.Int64).fill_null(0),
            is_store=pl.col("text").str.starts_with("scratch_store"),
            is_in_loop=pl.col("depth").fill_null(0) > 0,
        )
        .sort("row")
    )
    stores, loads = pl.col("is_store"), ~pl.col("is_store")
    return (
        found.group_by("base", "offset_bytes", maintain_order=True)
        .agg(
            registers=pl.col("register").unique(maintain_order=True).str.join(", "),
            store_count=stores.sum(),
            reload_count=loads.sum(),
            loop_store_count=(stores & pl.col("is_in_loop")).sum(),
            loop_reload_count=(loads & pl.col("is_in_loop")).sum(),
            store_row=pl.col("row").filter(stores).first(),
            reload_row=pl.col("row").filter(loads).first(),
        )
        .sort("loop_reload_count", "reload_count", "base", "offset_bytes", descending=[True, True, False, False])
        .select(pl.col(name).cast(dtype) for name, dtype in SPILLS.dtypes.items())
    )
