"""Runs as frames of events in the format of Pipit: one row where something is entered, left, or happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.export.kit.pipit_frames import pipit_frame
from wavewright.export.run.labels import process_numbers, require_run, thread_numbers

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

    from wavewright.model.run import Run

_FIRST_STREAM = 1_000_000  #: The thread number of the first stream of GPUs.


def to_pipit(run: Run) -> pd.DataFrame:
    """The events of a run in the form of Pipit: `pipit.Trace(None, to_pipit(run))` is a trace.

    Regions, dispatches and copies have a row where they begin (`Enter`) and one where they end (`Leave`), which name
    each other in `_matching_event`; samples are `Instant`. `Process` is the rank, or the number of the process where
    ranks are not known; `Thread` counts the threads of a process, and streams of GPUs from 1,000,000 on. `Domain` is
    that of the region; KERNEL or COPY for the work of GPUs. Raises `UsageError` when it is not a run;
    `MissingToolError` when pandas or pyarrow is not installed.
    """
    require_run(run, "pipit")
    regions = _on_threads(run, "regions", ("start_ns", "end_ns"))
    samples = _on_threads(run, "samples", ("time_ns",)).rename({"time_ns": "start_ns"})
    return pipit_frame(pl.concat([regions, _gpu_work(run)]), samples)


def _on_threads(run: Run, table: str, times: tuple[str, ...]) -> pl.DataFrame:
    events = run.read(table, ["process", "thread", "name", "domain", *times])
    return (
        events.join(process_numbers(run), on="process", how="left", maintain_order="left")
        .join(thread_numbers(run), on="thread", how="left", maintain_order="left")
        .select("name", "domain", *times, pl.col("rank"), pl.col("number").fill_null(0).alias("thread"))
        .with_columns(pl.col("name", "domain").cast(pl.String))
    )


def _gpu_work(run: Run) -> pl.DataFrame:
    """Dispatches and copies, each stream of each GPU as a thread of its process."""
    columns = ["process", "stream", "name", "start_ns", "end_ns"]
    dispatches = run.read("dispatches", [*columns, "agent"]).with_columns(domain=pl.lit("KERNEL"))
    copies = run.read("copies", [*columns, "dst_agent", "src_agent"]).with_columns(
        agent=pl.coalesce("dst_agent", "src_agent"), domain=pl.lit("COPY")
    )
    work = pl.concat([dispatches, copies.select(dispatches.columns)]).with_columns(pl.col("name").cast(pl.String))
    place = ["process", "agent", "stream"]
    streams = (
        work.select(place)
        .unique()
        .sort(place)
        .with_columns(thread=pl.int_range(pl.len(), dtype=pl.Int64).over("process") + _FIRST_STREAM)
    )
    return (
        work.filter(pl.col("start_ns").is_not_null())
        .join(streams, on=place, how="left", nulls_equal=True, maintain_order="left")
        .join(process_numbers(run), on="process", how="left", maintain_order="left")
        .select("name", "domain", "start_ns", "end_ns", "rank", "thread")
    )
