"""Memory that an allocator had reserved: over time, and what was in use of it when a snapshot was written."""

from __future__ import annotations

import polars as pl

from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

_BLOCKS_TABLE, _RESERVED_TABLE = "memory_blocks", "reserved_memory"  #: Extra tables of memory snapshots.
_BLOCKS = packaged_spec(__package__, "blocks")
_POINTS = packaged_spec(__package__, "reserved_points")


def reserved_points(run: Run, rows: pl.DataFrame) -> pl.DataFrame:
    """Bytes that an allocator holds from each moment on, by a snapshot, else by its calls (`allocation_rows`)."""
    points = rows.drop_nulls("reserved_bytes").rename({"end_ns": "time_ns"})
    if _RESERVED_TABLE in run.extra_names:
        points = run.table(_RESERVED_TABLE).with_columns(kind=pl.lit("GPU"), pool=pl.lit("FRAMEWORK"))
    return points.select(_POINTS.casts)


def reserved_blocks(run: Run) -> pl.DataFrame:
    """One row per block of a segment."""
    if _BLOCKS_TABLE not in run.extra_names:
        return empty_frame(_BLOCKS)
    blocks = run.table(_BLOCKS_TABLE).rename({"pool": "owner"})
    owner = pl.when(pl.col("owner") != "").then("owner")
    is_free = (pl.col("state") == "inactive").fill_null(value=False)
    blocks = blocks.with_columns(owner=owner, is_free=is_free, pool=pl.lit("FRAMEWORK"), kind=pl.lit("GPU"))
    return blocks.select(_BLOCKS.casts)


def reserved_pools(blocks: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Sums of blocks by `keys`, their owner, stream and type of segment."""
    pools = [*keys, "owner", "segment_type", "stream"]
    free = pl.col("size_bytes").filter("is_free")
    alive = pl.col("size_bytes").filter(~pl.col("is_free"))
    segments = blocks.group_by(*pools, "segment", maintain_order=True).agg(
        reserved_bytes=pl.col("segment_bytes").first(),
        used_bytes=alive.sum(),
        requested_bytes=pl.col("requested_bytes").filter(~pl.col("is_free")).sum(),
        free_bytes=free.sum(),
        largest_free_bytes=free.max().fill_null(0),
    )
    is_used = pl.col("used_bytes") > 0
    return segments.group_by(pools, maintain_order=True).agg(
        pl.col("reserved_bytes", "used_bytes", "requested_bytes").sum(),
        pl.col("largest_free_bytes").max(),
        segment_count=pl.len().cast(pl.Int64),
        fragmented_bytes=pl.col("free_bytes").filter(is_used).sum(),
        cached_bytes=pl.col("free_bytes").filter(~is_used).sum(),
    )
