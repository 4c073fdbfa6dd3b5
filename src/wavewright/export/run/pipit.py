"""Runs as frames of events in the manner of Pipit: one row where something is entered, left, or happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.packages import require
from wavewright.export.run.labels import process_numbers, thread_numbers
from wavewright.facts.loader import packaged

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

    from wavewright.model.run import Run

_COLUMNS: dict[str, str] = packaged("columns.toml", __package__)["pipit"]
_FIRST_STREAM = 1_000_000  #: Streams of GPUs are threads beyond this number.


def to_pipit(run: Run) -> pd.DataFrame:
    """The events of a run in the form of Pipit: `pipit.Trace(None, to_pipit(run))` is a trace.

    Regions, dispatches and copies have a row where they begin (`Enter`) and one where they end (`Leave`), which name
    each other in `_matching_event`; samples are `Instant`. `Process` is the rank, or the number of the process where
    ranks are not known; `Thread` counts the threads of a process, and streams of GPUs from 1,000,000 on. `Domain` is
    that of the region; KERNEL or COPY for the work of GPUs.

    Raises
    ------
    MissingToolError
        When pandas or pyarrow is not installed.
    """
    for package in ("pandas", "pyarrow"):
        require(package, "pandas")
    ranges = pl.concat([_regions(run), _gpu_work(run)]).with_row_index("id")
    ranges = ranges.with_columns(lasts=pl.col("end_ns") > pl.col("start_ns"))
    enter = ranges.with_columns(pl.lit("Enter").alias("type"), time="start_ns", phase=1, nesting=-pl.col("end_ns"))
    leave = ranges.with_columns(
        pl.lit("Leave").alias("type"),
        time="end_ns",
        # Events that end here are left before others are entered; events without duration are entered first.
        phase=pl.when("lasts").then(0).otherwise(2),
        nesting=-pl.col("start_ns"),
    )
    instants = _samples(run).with_columns(
        pl.lit("Instant").alias("type"), time="start_ns", phase=1, nesting=-pl.col("start_ns"), id=None
    )
    rows = pl.concat([enter, leave, instants], how="diagonal_relaxed")
    rows = rows.sort("time", "phase", "nesting", "id", nulls_last=True, maintain_order=True).with_row_index("row")
    return _frame(_matched(rows))


def _matched(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the row and the time of their partner."""
    pairs = (
        rows.filter(pl.col("id").is_not_null()).group_by("id").agg(first=pl.col("row").min(), last=pl.col("row").max())
    )
    is_enter = pl.col("type") == "Enter"
    matches = rows.join(pairs, on="id", how="left", maintain_order="left")
    return matches.with_columns(
        partner=pl.when(is_enter).then("last").otherwise("first"),
        partner_time=pl.when(pl.col("type") == "Instant")
        .then(None)
        .otherwise(pl.when(is_enter).then("end_ns").otherwise("start_ns")),
    )


def _frame(rows: pl.DataFrame) -> pd.DataFrame:
    chosen = rows.select(pl.col(name).alias(header) for name, header in _COLUMNS.items())
    frame: Any = chosen.with_columns(pl.col("Event Type", "Name", "Domain").cast(pl.Categorical)).to_pandas()
    types = {"Process": "category", "_matching_event": "Int64", "_matching_timestamp": "Int64"}
    return frame.astype(types)


def _regions(run: Run) -> pl.DataFrame:
    return _on_threads(run, "regions", ("start_ns", "end_ns"))


def _samples(run: Run) -> pl.DataFrame:
    return _on_threads(run, "samples", ("time_ns",)).rename({"time_ns": "start_ns"})


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
