"""Sums of what lanes cost by code row, for tables that show them beside cycles (`code/lane_columns.py`)."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.lanes import lane_accesses
from wavewright.analysis.trace.lanes.whole_waves import check_whole_waves
from wavewright.model.trace import ThreadTrace


def lane_sums(trace: ThreadTrace) -> pl.DataFrame:
    """`row`, `extra_lds_cycles_total` and `segment_count_total` of memory instructions: 0 where nothing is known.

    Raises
    ------
    UnsupportedError
        The GPU is not known, or its instructions are not.
    UsageError
        The trace is a part of its waves' time.
    """
    check_whole_waves(trace)
    return lane_accesses(trace).rows.select(
        "row",
        extra_lds_cycles_total=pl.col("extra_cycles_total").fill_null(0),
        segment_count_total=pl.col("segment_count_total").fill_null(0),
    )
