"""The events of a run by track: calls of each thread, work of each queue, as balanced starts and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import polars as pl

from wavewright.analysis.run.measures.event_rows import nested, timed
from wavewright.model.losses import Loss
from wavewright.model.run import Run
from wavewright.model.run_labels import agent_label


class Track(NamedTuple):
    """A thread or a queue of a GPU, with events one after another or nested."""

    process: int | None
    thread: int | None
    agent: int | None
    label: str
    overlap: int  #: 0, or the number of the track for overlapping events of the thread or queue.


class Timeline(NamedTuple):
    """The events of a track: `time_ns`, `is_end`, `name` (Categorical), `category` and `kind`, in an order in which
    ends close what began last.
    """

    track: Track
    events: pl.DataFrame


def timelines(run: Run, losses: list[Loss]) -> Iterator[Timeline]:
    """The tracks of one source: threads, then queues of GPUs. Events without a time become losses."""
    calls = run.read("regions", ["process", "thread", "category", "name", "start_ns", "end_ns"])
    marks = run.read("samples", ["process", "thread", "category", "name", "time_ns"])
    marks = marks.rename({"time_ns": "start_ns"}).with_columns(end_ns=pl.col("start_ns"))
    on_threads = pl.concat([calls, marks.select(calls.columns)]).with_columns(
        pl.col("category").cast(pl.String), kind=pl.lit("call")
    )
    on_threads = _timed(on_threads, "calls, ranges and marks", losses)
    yield from _timelines(on_threads, ["process", "thread"], _thread_tracks(run), may_nest=True)
    is_gpu = run.read("agents", ["kind"])["kind"].ne_missing("CPU")
    dispatches = run.read("dispatches", ["process", "agent", "queue", "name", "start_ns", "end_ns"])
    copies = run.read("copies", ["process", "src_agent", "dst_agent", "queue", "name", "start_ns", "end_ns"])
    to_gpu = is_gpu.gather(copies["dst_agent"]).fill_null(value=False)
    agent = copies["dst_agent"].zip_with(to_gpu, copies["src_agent"].fill_null(copies["dst_agent"]))
    copies = copies.with_columns(agent.alias("agent")).select(dispatches.columns)
    work = pl.concat([
        dispatches.with_columns(category=pl.lit("kernel_dispatch"), kind=pl.lit("kernel")),
        copies.with_columns(category=pl.lit("memory_copy"), kind=pl.lit("copy")),
    ])  # fmt: skip
    work = _timed(work, "dispatches and copies", losses)
    yield from _timelines(work, ["process", "agent", "queue"], _queue_tracks(run), may_nest=False)


def _timed(frame: pl.DataFrame, name: str, losses: list[Loss]) -> pl.DataFrame:
    """Rows that have a time; the others become a loss."""
    rows = timed(frame)
    if rows.height < frame.height:
        detail = f"{name} (no time, or one before 0)"
        losses.append(Loss("not_in_format", count=frame.height - rows.height, detail=detail))
    return rows


def _thread_tracks(run: Run) -> Callable[..., Track]:
    tids = run.read("threads", ["tid", "name"]).rows()

    def track(process: int | None, thread: int | None, overlap: int) -> Track:
        tid, name = tids[thread] if thread is not None else (None, "no thread")
        return Track(process, thread, None, (name or f"Thread {tid}") + _overlap(overlap), overlap)

    return track


def _queue_tracks(run: Run) -> Callable[..., Track]:
    agents = [agent_label(agent) for agent in run.read("agents").to_dicts()]
    queues = run.read("queues", ["queue_id", "name"]).rows()

    def track(process: int | None, agent: int | None, queue: int | None, overlap: int) -> Track:
        number, name = queues[queue] if queue is not None else (None, "no queue")
        gpu = "no GPU" if agent is None else agents[agent]
        return Track(process, None, agent, f"{gpu}, {name or f'Queue {number}'}" + _overlap(overlap), overlap)

    return track


def _overlap(overlap: int) -> str:
    return f", overlap {overlap}" if overlap else ""


def _timelines(
    frame: pl.DataFrame, keys: list[str], track_of: Callable[..., Track], *, may_nest: bool
) -> Iterator[Timeline]:

    lines, edges = nested(frame, keys, may_nest=may_nest)
    for (line, overlap), events in edges.group_by("line", "track", maintain_order=True):
        rows = frame[events["row"]]
        time = rows["end_ns"].zip_with(events["is_end"], rows["start_ns"]).alias("time_ns")
        ids = lines.row(int(str(line)))[1:]
        yield Timeline(
            track_of(*ids, int(str(overlap))),
            rows.select("name", "category", "kind").with_columns(time, events["is_end"]),
        )
