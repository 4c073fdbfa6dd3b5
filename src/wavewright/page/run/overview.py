"""The facts about a run that every view needs: format, duration, processes, GPUs, counts of rows, losses."""

from __future__ import annotations

from typing import Any

import polars as pl
import polars.selectors as cs

from wavewright.analysis.run.select.recording import COUNT_COLUMNS
from wavewright.analysis.run.select.recording_span import recorded_times
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.run.times import clocks_of, recording_of

#: Tables that are counted as a whole; events are counted by process.
_COUNTED = ("processes", "threads", "streams", "queues", "symbols", "monitors", "counter_info")


def overview_of_run(document: Document) -> dict[str, Any]:
    """Facts that every view needs: times since the start of each node, processes, GPUs, counts of rows, losses."""
    run = document.run
    recording = recording_of(document)
    clocks = clocks_of(document)
    events = {table: int(recording.processes[column].sum()) for table, column in COUNT_COLUMNS.items()}
    begin = clocks.processes["start_ns"].alias("node_begin")
    times = {"begin": "start_ns", "end": "end_ns", "gpu_begin": "gpu_start_ns", "gpu_end": "gpu_end_ns"}
    processes = recording.processes.with_columns(begin, clocks.processes["node"].alias("place")).with_columns(
        **{name: (pl.col(time) - pl.col("node_begin")).cast(pl.Float64) for name, time in times.items()}
    )
    recordings = recorded_times([processes.select("start_ns", "end_ns", machine="place").drop_nulls()])
    length = recordings["end_ns"] - recordings["start_ns"]
    nodes = clocks.nodes.select(
        "machine",
        "node",
        pl.col("start_ns").cast(pl.String),
        duration_ns=(pl.col("end_ns") - pl.col("start_ns")).cast(pl.Float64),
    )
    return {
        "kind": "run",
        "duration_ns": recordings.select("machine", length_ns=length).group_by("machine").sum()["length_ns"].max() or 0,
        "clocks": {"nodes": nodes.to_dicts(), "definition": clocks.definition},
        "formats": sorted({f"{source.format} {source.version}".strip() for source in run.origins}),
        "processes": processes.drop("node_begin", "path", "version", cs.ends_with("start_ns", "end_ns")).to_dicts(),
        "gpus": recording.gpus.to_dicts(),
        "holds": events | {name: run.count(name) for name in _COUNTED} | {"extras": len(run.extra_names)},
        "losses": run.losses.with_columns(pl.col("count").cast(pl.Int64), se=pl.lit(None, pl.Int64)).to_dicts(),
    }


QUESTIONS = (PageQuestion("overview", overview_of_run),)
