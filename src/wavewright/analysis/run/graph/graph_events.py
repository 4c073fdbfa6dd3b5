"""Events of one run as input of the event graph: calls of threads, work of streams, and recorded dependencies.

`partial_graph` reads a run and numbers its events and tracks; the native core adds the edges between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.calls.call_sites import NOT_OPEN
from wavewright.analysis.run.calls.launches import API_DOMAINS, Launches
from wavewright.analysis.run.collectives.collectives import is_communication
from wavewright.analysis.run.collectives.meetings import ROWS, collective_rows
from wavewright.analysis.run.gpu_time.busy_time import copy_agent
from wavewright.analysis.run.graph.runtime_calls import (
    AWAITS_NOTHING,
    AWAITS_PERHAPS,
    AWAITS_POLLED,
    SHORT_NS,
    described,
    event_calls,
    last_queries,
)
from wavewright.analysis.run.measures.intervals import FARTHEST_NS
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.select.identities import processes_of
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import packaged_spec

_FIRST_AND_LAST = (pl.col("start_ns").min(), pl.col("end_ns").max())
#: Kinds of events: work of GPUs, then calls by what they do (`CAUSES` of launches).
WORK_KINDS = ("kernel", "communication", "copy")
CALL_KINDS = ("launch call", "synchronisation", "allocation", "copy call", "loading code", "other call")
KINDS = (*WORK_KINDS, *CALL_KINDS)
KIND = pl.Enum(KINDS)
#: Columns of events, threads and streams, regions of the application, and dependencies: see `tables.toml`.
EVENTS = packaged_spec(__package__, "events").dtypes | {"kind": KIND}
TRACKS = packaged_spec(__package__, "tracks").dtypes
REGIONS = packaged_spec(__package__, "regions").dtypes
DEPENDENCIES = packaged_spec(__package__, "dependencies").dtypes


@dataclass(frozen=True, eq=False, repr=False)
class PartialGraph:
    """The events of one run; events, tracks and processes are numbered by their rows."""

    events: pl.DataFrame  #: Columns of `EVENTS`.
    tracks: pl.DataFrame  #: Columns of `TRACKS`.
    dependencies: pl.DataFrame  #: Columns of `DEPENDENCIES`.
    processes: pl.DataFrame  #: `host`, `pid`, `rank`, `run`, and `start_ns`, `end_ns` of all events.
    collectives: pl.DataFrame  #: See `collective_rows`.
    regions: pl.DataFrame  #: Columns of `REGIONS`.


def partial_graph(run: Run) -> PartialGraph:
    """The events of one run and their relations."""
    calls, extents, regions = _calls(run)
    work = _with_launch(_work(run), calls)
    has_collectives = bool((work["kind"] == "communication").any())  # else their arguments need not be read
    tracks, calls, work = _in_tracks(run, calls, work)
    tracks, calls = _with_working(tracks, calls, work)
    tracks = tracks.join(extents, on=["process", "thread"], how="left", maintain_order="left")
    events = pl.concat([calls.drop("number"), work], how="diagonal").with_row_index("number")
    recorded = event_calls(run, calls.select("process", "name", "correlation", "event", "row", call="number"), work)
    recorded = recorded.join(
        tracks.filter(pl.col("is_gpu") == 1)
        .select("process", "stream", "track")
        .filter(pl.struct("process", "stream").is_unique()),  # which of several GPUs is not recorded
        on=["process", "stream"],
        how="left",
        maintain_order="left",
    )
    awaited = recorded.filter(pl.col("role") == "stream synchronisation").select(number="call", awaited="track")
    events = events.join(awaited, on="number", how="left", maintain_order="left")
    spans = pl.concat([extents.drop("thread"), _extents(work)]).group_by("process").agg(*_FIRST_AND_LAST)
    processes = processes_of(run).join(spans, on="process", how="left", maintain_order="left").drop("process")
    return PartialGraph(
        events=_typed(events, EVENTS),
        tracks=_typed(tracks, TRACKS),
        dependencies=_dependencies(recorded, events),
        processes=processes,
        collectives=collective_rows(run) if has_collectives else pl.DataFrame(schema=ROWS.dtypes),
        regions=regions,
    )


def _typed(frame: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(dtype) for name, dtype in columns.items())


def _extents(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """`process` (and `keys`) with the time from the first event to the last."""
    return frame.group_by("process", *keys).agg(*_FIRST_AND_LAST)


def _is_usable() -> pl.Expr:
    near = pl.col("start_ns", "end_ns").is_between(-FARTHEST_NS, FARTHEST_NS)
    return is_timed() & pl.all_horizontal(near) & pl.col("process").is_not_null()


def _calls(run: Run) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Calls of threads into a runtime; for each thread the time of all its regions; and what the application names."""
    columns = ["process", "thread", "name", "start_ns", "end_ns", "correlation", "event"]
    dtypes = RUN["regions"].dtypes
    is_call = pl.col("domain").is_in(API_DOMAINS).fill_null(value=False) & pl.col("thread").is_not_null()
    pieces = [pl.DataFrame(schema={"row": pl.UInt32} | {name: dtypes[name] for name in columns})]
    extents = [pl.DataFrame(schema={name: dtypes[name] for name in ("process", "thread", "start_ns", "end_ns")})]
    regions = [pl.DataFrame(schema=REGIONS)]
    is_named = ~pl.col("domain").is_in(NOT_OPEN).fill_null(value=False) & pl.col("thread").is_not_null()
    row_count = 0
    for piece in run.chunks("regions", ["domain", *columns]):
        timed = piece.with_row_index("row", offset=row_count).filter(_is_usable())
        row_count += piece.height
        extents.append(_extents(timed, "thread"))
        pieces.append(timed.filter(is_call).drop("domain"))
        regions.append(timed.filter(is_named).select(*REGIONS))
    calls = pl.concat(pieces).with_row_index("number")
    functions = described(calls["name"])
    codes = calls["name"].to_physical()
    by_code = functions.with_columns(code=pl.col("name").to_physical()).drop_nulls("code")
    calls = calls.with_columns(
        kind=_gathered(by_code["code"], by_code["kind"].cast(KIND), codes).fill_null("other call"),
        awaits=_gathered(by_code["code"], by_code["awaits"], codes).fill_null(AWAITS_NOTHING),
    )
    is_short = (pl.col("end_ns") - pl.col("start_ns") < SHORT_NS) & (pl.col("awaits") == AWAITS_PERHAPS)
    awaits = pl.when(is_short).then(AWAITS_NOTHING).otherwise("awaits").cast(pl.UInt8)
    extent = pl.concat(extents).group_by("process", "thread").agg(*_FIRST_AND_LAST)
    return calls.with_columns(awaits=awaits), extent, pl.concat(regions)


def _gathered(places: pl.Series, values: pl.Series, rows: pl.Series) -> pl.Series:
    """The value at the place that each row names; null where there is none."""
    count = int(places.max() or 0) + 1  # type: ignore[arg-type]
    table = pl.repeat(None, count, dtype=values.dtype, eager=True).scatter(places, values)
    return table.gather(rows)


def _work(run: Run) -> pl.DataFrame:
    """Dispatches and copies: `process`, `agent`, `queue`, `stream`, `name`, times, `correlation`, `kind`, `row`.

    `gpu_agent` is the GPU; `agent` of a copy is where it goes to, which tells its direction.
    """
    columns = ["process", "queue", "stream", "name", "start_ns", "end_ns", "correlation"]
    kernels = run.read("dispatches", [*columns, "agent"]).with_row_index("row")
    kind = pl.when(is_communication(kernels)).then(pl.lit("communication")).otherwise(pl.lit("kernel"))
    kernels = kernels.with_columns(kind=kind, gpu_agent="agent")
    gpus = run.read("agents", ["agent", "kind"]).filter(pl.col("kind") == "GPU")["agent"]
    copies = run.read("copies", [*columns, "src_agent", "dst_agent"]).with_row_index("row")
    of_gpu = pl.coalesce(copy_agent(gpus), "dst_agent")
    copies = copies.with_columns(agent=pl.coalesce("dst_agent", "src_agent"), gpu_agent=of_gpu, kind=pl.lit("copy"))
    work = pl.concat([kernels, copies.drop("src_agent", "dst_agent")], how="diagonal").filter(_is_usable())
    return work.with_columns(pl.col("kind").cast(KIND), awaits=pl.lit(AWAITS_NOTHING, pl.UInt8))


def _with_launch(work: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Work with `launch`: the first call of its process with its correlation; null = not recorded."""
    launches = Launches(work)
    launching = calls.select("number", "start_ns", slot=launches.slots_of(calls)).drop_nulls("slot")
    latest_first = launching.sort("start_ns", "number", descending=True)  # of several in one slot, the last put stays
    numbers = pl.repeat(None, max(launches.count, 1), dtype=pl.UInt32, eager=True)
    numbers.scatter(latest_first["slot"], latest_first["number"])
    return work.with_columns(launch=numbers.gather(launches.slots_of(work)))


def _in_tracks(run: Run, calls: pl.DataFrame, work: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The tracks, and both tables with the number of their track.

    Work is in order within its stream, or its queue where no stream is recorded; copies with neither have a track.
    One number is a stream of each GPU where its kernels are on several: every GPU has a stream 0.
    """
    tids = run.read("threads", ["thread", "tid"])
    threads = calls.select("process", "thread").unique(maintain_order=True)
    threads = threads.join(tids, on="thread", how="left", maintain_order="left")
    gpus = run.read("agents", ["agent", "type_index", "absolute_index"])
    gpus = gpus.select(gpu_agent="agent", gpu=pl.coalesce("type_index", "absolute_index"))
    ids = run.read("streams", ["stream", "stream_id"])
    has_stream = pl.col("stream").is_not_null()
    has_neither = ~has_stream & pl.col("queue").is_null()
    kernels = work.filter(has_stream, pl.col("kind") != "copy").select("stream", "gpu_agent").drop_nulls().unique()
    several = kernels.filter(pl.len().over("stream") > 1).with_columns(stream_agent="gpu_agent")
    keys = ("process", "stream", "agent", "queue", "is_copy")
    work_keys = work.join(several, on=["stream", "gpu_agent"], how="left", maintain_order="left").select(
        "process",
        "stream",
        "gpu_agent",
        agent=pl.when(has_stream).then("stream_agent").otherwise("agent"),
        queue=pl.when(~has_stream).then("queue"),
        is_copy=pl.when(has_neither).then(pl.col("kind") == "copy"),
    )
    streams = work_keys.group_by(keys, maintain_order=True).agg(pl.col("gpu_agent").first())
    streams = streams.join(gpus, on="gpu_agent", how="left", maintain_order="left")
    streams = streams.join(ids, on="stream", how="left", maintain_order="left")
    both = (frame.with_columns(is_gpu=pl.lit(is_gpu, pl.UInt8)) for is_gpu, frame in enumerate((threads, streams)))
    tracks = pl.concat(both, how="diagonal").with_row_index("track")
    thread_tracks = tracks.select("thread", "track").drop_nulls()
    calls = calls.with_columns(track=_gathered(thread_tracks["thread"], thread_tracks["track"], calls["thread"]))
    numbers = tracks.filter(pl.col("is_gpu") == 1).select(*keys, "track")
    of_work = work_keys.join(numbers, on=keys, how="left", nulls_equal=True, maintain_order="left")["track"]
    return tracks, calls, work.with_columns(of_work)


def _with_working(tracks: pl.DataFrame, calls: pl.DataFrame, work: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tracks with `is_working`; and the calls: threads that launch wait with the last query of a poll."""
    launches = pl.concat([calls["track"].gather(work["launch"].drop_nulls()), _tracks_of(calls, "launch call")])
    launchers = launches.unique()
    waiters = _tracks_of(calls.filter(pl.col("awaits") != AWAITS_NOTHING), "synchronisation")
    polls = last_queries(calls.filter(pl.col("track").is_in(launchers.implode())))
    if polls.len():
        calls = calls.with_columns(calls["awaits"].scatter(polls, AWAITS_POLLED))
    is_thread = pl.col("track").is_in(pl.concat([launchers, waiters]).implode())
    return tracks.with_columns(is_working=((pl.col("is_gpu") == 1) | is_thread).cast(pl.UInt8)), calls


def _tracks_of(calls: pl.DataFrame, kind: str) -> pl.Series:
    """The threads with a call of a kind."""
    return calls.filter(pl.col("kind") == kind)["track"].unique()


def _dependencies(recorded: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Work that a recorded event makes other work, or a call, wait for: the last one launched before the record."""
    empty = pl.DataFrame(schema=DEPENDENCIES)
    if not recorded.height:
        return empty
    starts = events.select(call="number", time="start_ns")
    timed = recorded.join(starts, on="call", how="left", maintain_order="left").sort("time", "call")
    launched = (
        events.filter(pl.col("launch").is_not_null())
        .select("track", "start_ns", work="number", call="launch")
        .join(starts, on="call", maintain_order="left")
        .sort("time", "start_ns", "work")
    )
    has_both = pl.col("handle").is_not_null() & pl.col("track").is_not_null()
    work_before = launched.select("track", "time", before="work")
    records = timed.filter(pl.col("role") == "record", has_both)
    records = records.join_asof(work_before, on="time", by="track", check_sortedness=False)
    waits = timed.filter(pl.col("role").is_in(["stream wait", "event synchronisation"])).join_asof(
        records.select("process", "handle", "time", "before"),
        on="time",
        by=["process", "handle"],
        check_sortedness=False,
    )
    waits = waits.filter(pl.col("before").is_not_null())
    into_calls = waits.filter(pl.col("role") == "event synchronisation").select("before", after="call", is_into_end=1)
    into_work = (
        waits.filter(pl.col("role") == "stream wait", pl.col("track").is_not_null())
        .join_asof(
            launched.select("track", "time", after="work"),
            on="time",
            by="track",
            strategy="forward",
            check_sortedness=False,
        )
        .drop_nulls("after")
        .select("before", "after", is_into_end=0)
    )
    both = pl.concat([into_calls, into_work]).filter(pl.col("before") != pl.col("after"))
    return pl.concat([empty, _typed(both, DEPENDENCIES)]).unique(maintain_order=True)
