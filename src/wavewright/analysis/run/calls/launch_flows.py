"""The call that launched each dispatch or copy: the arrows between the threads and the GPUs of a timeline."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.calls.launches import Launches
from wavewright.model.answer import Answer
from wavewright.model.run import Run

_WORK = ("dispatches", "copies")


@dataclass(frozen=True)
class LaunchFlows(Answer, package=__package__):
    """Calls and the GPU work that they launched."""

    flows: pl.DataFrame
    unknown_count: int  #: Dispatches and copies whose launch is not among the calls.


def launch_flows(run: Run) -> LaunchFlows:
    """The launches of a run."""
    keys = ["process", "correlation"]
    work = pl.concat(
        run.read(table, keys).with_row_index("work").with_columns(is_copy=pl.lit(table == "copies")) for table in _WORK
    )
    is_known = pl.col("correlation").is_not_null() & (pl.col("correlation") != 0)
    linked = work.filter(is_known)
    launches = Launches(linked)
    first: list[pl.DataFrame] = [pl.DataFrame(schema={"region": pl.UInt32, "slot": pl.UInt32})]
    count = 0
    for piece in run.chunks("regions", keys):
        calls = piece.with_row_index("region", count).filter(is_known)
        slots = launches.slots_of(calls).cast(pl.UInt32).alias("slot")
        matches = calls.select("region", slots).drop_nulls("slot")
        first.append(matches.unique("slot", keep="first", maintain_order=True))
        count += piece.height
    regions = pl.concat(first).unique("slot", keep="first", maintain_order=True)
    slots = launches.slots_of(linked).cast(pl.UInt32).alias("slot")
    flows = linked.with_columns(slots).join(regions, on="slot", maintain_order="left")
    return LaunchFlows(flows.select(LaunchFlows.tables["flows"].names), work.height - flows.height)
