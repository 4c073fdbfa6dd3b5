"""Lane addresses of memory instructions as one Parquet file, for analyses by other tools."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from wavewright.analysis.trace.lanes import lane_patterns
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.selection import check_whole_waves
from wavewright.export.kit.staging import staged
from wavewright.model.trace import ThreadTrace


def write_lane_addresses(trace: ThreadTrace, path: Path, options: LaneOptions | None = None) -> int:
    """Write the patterns of `lane_patterns` with their instruction and source line; returns the number of patterns.

    Columns: `row`, `code_address`, `text`, `file`, `line`, `execution_count`, `active` (mask of lanes), `width_bytes`,
    `place` (0, and 1 for the second access of read2 and write2), `lane_addresses` (one for each lane, in bytes from the
    base of the access). Raises `UsageError` when the file exists, or the trace does not have its waves as a whole;
    `UnsupportedError` when the GPU is not known.
    """
    check_whole_waves(trace)
    code = trace.code.select("row", "text", "file", "line", code_address="address")
    frame = lane_patterns(trace, options).rename({"count": "execution_count", "address": "lane_addresses"})
    first = ("row", "code_address", "text", "file", "line", "execution_count")
    frame = frame.join(code, on="row", how="left", maintain_order="left").select(*first, pl.exclude(first))
    with staged([path], force=False) as (twin,):
        frame.write_parquet(twin)
    return frame.height
