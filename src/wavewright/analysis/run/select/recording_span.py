"""Recorded time of a run on each node, or the chosen window of it: the whole that shares of time are of.

Sources are files, a `machine` is a node, a `place` a GPU. Clocks of nodes are not aligned: times are compared on one
machine only. The result of `recorded` is that of one run; the functions that take `parts` merge those of several.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from wavewright.analysis.run.measures.intervals import FARTHEST_NS, in_order, merged
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.select.chosen import ChosenSource, without_window
from wavewright.analysis.run.select.gpus import index_gpus, machines
from wavewright.analysis.run.select.windows import TIMED
from wavewright.model.answer import once_per_run
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

_RECORDED = packaged_spec(__package__, "recorded")


@once_per_run
def recorded(run: Run) -> pl.DataFrame:
    """Recordings of each source on each `machine`: `start_ns` to `end_ns`, which a window narrows (`is_window`).

    Processes that were recorded one after the other are recordings apart. `begin_ns` is the start of all that the
    source recorded there: times of `--time` count from it. `is_named` says whether the host is known, and `rank` is
    the lowest that is.
    """
    rows = [empty_frame(_RECORDED)]
    for part in run.parts:
        windows = windows_of_processes(part)
        ranks = part.read("processes", ["process", "rank"])
        processes = machines(part).join(ranks, on="process", how="left")
        extents = extents_of(without_window(part)).join(processes, on="process", how="left")
        facts = {
            "is_named": pl.col("is_named").any(),
            "rank": pl.col("rank").min(),
            "begin_ns": pl.col("start_ns").min(),
        }
        by_machine = extents.group_by("machine", maintain_order=True).agg(**facts)
        if windows is None:
            times = _recordings(extents.select("machine", "start_ns", "end_ns").drop_nulls())
        else:
            windows_by_machine = windows.join(processes, on="process").group_by("machine", maintain_order=True)
            times = windows_by_machine.agg(pl.col("start_ns").min(), pl.col("end_ns").max())
        by_machine = by_machine.join(times, on="machine", maintain_order="left_right")
        rows.append(by_machine.with_columns(is_window=pl.lit(windows is not None)).select(_RECORDED.names))
    return pl.concat(rows).drop_nulls(["machine", "start_ns"])


def _recordings(extents: pl.DataFrame) -> pl.DataFrame:
    """The time in which any process of a `machine` was recorded; one without a length is a recording, too."""
    times = merged(in_order(extents, ["machine"]), ["machine"])
    points = extents.group_by("machine", maintain_order=True).agg(pl.col("start_ns", "end_ns").first())
    return pl.concat([times, points.join(times, on="machine", how="anti")])


def extents_of(run: Run) -> pl.DataFrame:
    """`process`, and from the `start_ns` of its first to the `end_ns` of its last event of any kind."""
    empty = pl.DataFrame(schema={"process": pl.UInt32, "start_ns": pl.Int64, "end_ns": pl.Int64})
    parts = [
        _extents(piece.select("process", start_ns=begin, end_ns=end))
        for table, (begin, end) in TIMED.items()
        for piece in run.chunks(table, list(dict.fromkeys(["process", begin, end])))
    ]
    extents = pl.concat([empty, *parts]).group_by("process").agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    return extents.sort("process")


def _extents(events: pl.DataFrame) -> pl.DataFrame:
    """The extents of the processes of a chunk of events.

    Of an event with an impossible length only the start counts, and impossible times are moved as `intervals` does.
    """
    start = pl.col("start_ns").clip(-FARTHEST_NS, FARTHEST_NS)
    end = pl.when(is_timed(), pl.col("start_ns") == start).then("end_ns").otherwise(start)
    return events.group_by("process").agg(start.min(), end.max().alias("end_ns")).drop_nulls()


def windows_of_processes(run: Run) -> pl.DataFrame | None:
    """`process`, `start_ns`, `end_ns` of the window of each process of one source; None = no window is chosen."""
    source = run.origins[0] if len(run.origins) == 1 else None
    windows = source.windows if isinstance(source, ChosenSource) else None
    if windows is None:
        return None
    rows = [(process, *window) for process, window in enumerate(windows) if window is not None]
    schema = {"process": pl.UInt32, "start_ns": pl.Int64, "end_ns": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(pl.col("start_ns", "end_ns").clip(-FARTHEST_NS, FARTHEST_NS))


def windows_of_gpus(run: Run) -> pl.DataFrame | None:
    """`place`, `from_ns`, `to_ns` of the time window of each GPU of one source; None = no window is chosen."""
    windows = windows_of_processes(run)
    if windows is None:
        return None
    by_machine = windows.join(machines(run), on="process").group_by("machine")
    spans = by_machine.agg(from_ns=pl.col("start_ns").min(), to_ns=pl.col("end_ns").max())
    places = index_gpus(run).table.select("place", "machine")
    return places.join(spans, on="machine", how="left", maintain_order="left").drop("machine")


def recorded_times(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The results of `recorded` of several runs as merged intervals of each `machine`."""
    times = ("machine", "start_ns", "end_ns")
    rows = pl.concat([empty_frame(_RECORDED).select(times), *(part.select(times) for part in parts)])
    return merged(in_order(rows, ["machine"]), ["machine"])


def in_recordings(times: pl.DataFrame, parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Times of `machine` with `interval`: the start of the merged recording that they are in."""
    starts = recorded_times(parts).select("machine", "start_ns", interval="start_ns").sort("start_ns")
    return times.sort("start_ns").join_asof(starts, on="start_ns", by="machine", check_sortedness=False)


def with_recordings(work: pl.DataFrame, places: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """Work with `interval`, the recording that it is in: time between two recordings belongs to none.

    `places` has the `machine` of each `place`, `times` is the result of `recorded`; a window is one recording.
    """
    if times["is_window"].any() or not times["machine"].is_duplicated().any():  # one recording on every machine
        return work.with_columns(interval=pl.lit(0, pl.Int64))
    on_nodes = work.with_row_index("order").join(places.select("place", "machine"), on="place", how="left")
    return in_recordings(on_nodes, [times]).sort("order").drop("order", "machine")


def node_spans(parts: Iterable[pl.DataFrame], work: pl.DataFrame) -> pl.DataFrame:
    """`machine`, `span_ns`, `wall_ns`: the time that shares of GPU time are of, and all of the recorded time.

    `work` has the start and the end of the work of some GPU in some file. The span is from the first to the last of it
    in each interval of recorded time, so that time between two recordings is nobody's; with a window, it is the window.
    """
    parts = list(parts)
    is_window = any(part["is_window"].any() for part in parts)
    length = (pl.col("end_ns") - pl.col("start_ns")).sum()
    walls = recorded_times(parts).group_by("machine", maintain_order=True).agg(wall_ns=length)
    if is_window:
        return walls.with_columns(span_ns="wall_ns")
    timed = in_recordings(work.select("machine", "start_ns", "end_ns").drop_nulls(), parts)
    span = pl.col("end_ns").max() - pl.col("start_ns").min()
    spans = timed.group_by("machine", "interval").agg(span_ns=span)
    sums = spans.group_by("machine").agg(pl.col("span_ns").sum()).join(walls, on="machine", how="left")
    return sums.with_columns(wall_ns=pl.max_horizontal("wall_ns", "span_ns"))
