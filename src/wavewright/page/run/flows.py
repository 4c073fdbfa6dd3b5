"""Arrows of a run's timeline: from the call that launched something to the dispatch or copy on the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.run.calls.launch_flows import launch_flows
from wavewright.errors import UsageError
from wavewright.page.run.layers import check_layer, tile_window, timeline_of

if TYPE_CHECKING:
    from wavewright.model.document import Document

MOST_FLOWS = 400  #: Maximum arrows of one result; above it only their number is returned.


def flows(
    document: Document, *, layer: str, item: int | None = None, level: int | None = None, tile: int | None = None
) -> dict[str, Any]:
    """Arrows from launching calls to the work they launched: of one event, or of all that start or end in a tile.

    `count` says how many there are; where it is more than `MOST_FLOWS`, those of a tile are not told and those of an
    event are the first ones.
    """
    check_layer(layer)
    all_flows = _flows(document)
    if item is not None:
        flow_rows = all_flows.filter((pl.col("from_item") == item) | (pl.col("to_item") == item))
        return {"count": flow_rows.height, "flows": flow_rows.head(MOST_FLOWS).to_dicts()}
    if level is None or tile is None:
        raise UsageError("flows: an item, or a level and a tile")
    begin, end = tile_window(document, level, tile)
    low, high = (all_flows["from_begin"].search_sorted(time) for time in (begin, end))
    ends = document.kept("flows by end", lambda: all_flows["to_begin"].arg_sort())
    by_end = document.kept("flow ends", lambda: all_flows["to_begin"].gather(ends))
    low_end, high_end = (by_end.search_sorted(time) for time in (begin, end))
    most = max(high - low, high_end - low_end)
    if most > MOST_FLOWS:
        return {"count": most, "flows": []}
    came = all_flows[ends[low_end:high_end]].filter(~pl.col("from_begin").is_between(begin, end, closed="left"))
    flow_rows = pl.concat([all_flows[low:high], came])
    return {"count": flow_rows.height, "flows": flow_rows.to_dicts() if flow_rows.height <= MOST_FLOWS else []}


def _flows(document: Document) -> pl.DataFrame:
    """All launches with both ends on the timeline, by the start of the call."""

    def make() -> pl.DataFrame:
        timeline = timeline_of(document)
        first = timeline.first_items
        shift = pl.when("is_copy").then(first["copies"]).otherwise(first["dispatches"])
        items = launch_flows(document.run).flows.select(
            from_item=(pl.col("region") + first["regions"]).cast(pl.Int32),
            to_item=(pl.col("work") + shift).cast(pl.Int32),
        )
        for side in ("from", "to"):
            ends = timeline.spans.select(
                pl.col("item").alias(f"{side}_item"),
                pl.col("track").alias(f"{side}_track"),
                pl.col("start_ns").cast(pl.Float64).alias(f"{side}_begin"),
                pl.col("end_ns").cast(pl.Float64).alias(f"{side}_end"),
            )
            items = items.join(ends, on=f"{side}_item")
        return items.sort("from_begin", "to_begin", "to_item")

    return document.kept("flows", make)
