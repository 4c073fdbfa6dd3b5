"""Busy share of the pipes over time: an instruction keeps its pipe busy for its passes, longer than it issues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from wavewright.analysis.common.step_functions import StepCurve
from wavewright.analysis.trace.pipes.passes import pipe_cycles_of_rows
from wavewright.analysis.trace.timeline.layers import layers
from wavewright.model.answer import once_per_trace

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

#: Instructions up to which the curves are made: their spans are in memory for a moment, 50 bytes each.
MOST_INSTRUCTIONS = 20_000_000


@once_per_trace
def pipe_busy(trace: ThreadTrace) -> dict[tuple[int, int, str], StepCurve]:
    """SE, SIMD and pipe -> a curve that is 1 while the pipe is busy, as `utilization` counts that.

    Only pipes to which something was issued that takes passes: of the others the issues say it. Empty for traces with
    more than `MOST_INSTRUCTIONS`.
    """
    timeline = layers(trace).get("pipes") if trace.instructions.height <= MOST_INSTRUCTIONS else None
    if timeline is None or timeline.tracks is None or timeline.spans is None:
        return {}
    rows, passes = trace.instructions["row"], pipe_cycles_of_rows(trace)
    by_row = pl.DataFrame({"passes": passes}).with_row_index("row").with_columns(pl.col("row").cast(rows.dtype))
    of_item = pl.DataFrame({"row": rows}).join(by_row, on="row", how="left", maintain_order="left")["passes"]
    issued = timeline.spans().head(rows.len())  # one per instruction; those of neighbour SIMDs follow
    spans = issued.select("track", "begin", "end", passes=of_item.fill_null(0))
    tracks = timeline.tracks.join(spans.filter(pl.col("passes") > 0).select("track").unique(), on="track", how="semi")
    last = pl.max_horizontal("end", pl.col("begin") + pl.col("passes"))
    of_tracks = spans.join(tracks, on="track", how="semi").select("track", "begin", end=last).sort("track", "begin")
    parts = of_tracks.partition_by("track", as_dict=True)
    places = tracks.select("track", "se", "simd", "pipe").iter_rows()
    return {(se, simd, pipe): _union(parts[track,]) for track, se, simd, pipe in places}


def _union(spans: pl.DataFrame) -> StepCurve:
    """1 where at least one of the spans is; they are sorted by their start."""
    begins, ends = spans["begin"].to_numpy(), np.maximum.accumulate(spans["end"].to_numpy())
    is_first = np.concatenate([[True], begins[1:] > ends[:-1]])
    is_last = np.concatenate([is_first[1:], [True]])
    times = np.stack([begins[is_first], ends[is_last]], axis=1).ravel()
    return StepCurve(times, np.tile([1.0, 0.0], len(times) // 2))
