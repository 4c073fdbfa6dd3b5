"""Rows of a run as the columns of Chrome events: where, when, what it is called, and what else is said about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from wavewright.export.run.chrome.track_ids import TrackIds
from wavewright.model.run import Run

_WORK = ("process", "graph_exec", "queue", "stream", "name", "start_ns", "end_ns", "correlation", "event")
_LAUNCH = ("grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z", "lds_bytes", "scratch_bytes")
_CALL = ("process", "thread", "domain", "name", "correlation", "external_correlation", "event")
_SECOND = 10**9  #: ns.
_SMALLEST = -(1 << 63)  #: The least 64-bit integer.
_BEFORE_END = 2_000  #: ns between the start of an arrow and the end of its call.
_MOST_FLOWS = 1 << 16  #: Arrows that become text at once.
_TABLES = ("dispatches", "copies", "regions", "samples", "monitors")
_CALLED = ("process", "correlation", "pid", "tid", "call_start_ns", "call_end_ns")  #: Columns of `callers`.
_LAUNCHED = (*_CALLED, "gpu", "track", "start_ns", "end_ns")  #: Columns of `launches`.
#: Columns of work that launches need.
KEPT_OF_WORK = ("process", "correlation", "event", "graph_exec", "gpu", "track", "start_ns", "end_ns")


def base_time(run: Run) -> int:
    """A whole second before the first event, so that a double holds the times of all events to the nanosecond."""
    firsts, lowest = [], 0
    for table in _TABLES:
        for piece in run.chunks(table, ["time_ns"] if table == "samples" else ["start_ns", "end_ns"]):
            lowest = min(lowest, *(cast("int | None", column.min()) or 0 for column in piece.iter_columns()))
            starts = piece.to_series(0)
            firsts.append(cast("int | None", starts.filter(starts > 0).min()))
    base = min((first for first in firsts if first is not None), default=0) // _SECOND * _SECOND
    return base if lowest - base >= _SMALLEST else 0  # 0: a (damaged) time relative to the base would overflow


def work(run: Run, table: str, track_ids: TrackIds, base: int) -> Iterator[pl.DataFrame]:
    """Pieces of kernels or copies, with `pid` (the GPU) and `tid` (its track); work without a GPU is left out.

    Times are relative to `base`, as in the other functions.
    """
    agent_columns = ("src_agent", "dst_agent") if table == "copies" else ("agent",)
    details = ("size_bytes",) if table == "copies" else _LAUNCH
    for piece in run.chunks(table, [*_WORK, *agent_columns, *track_ids.detail_columns(details)]):
        rows = piece
        if table == "copies":
            for end in ("dst", "src"):
                gpus = track_ids.agents.rename({"agent": f"{end}_agent", "gpu": f"{end}_gpu"})
                rows = rows.join(gpus, on=f"{end}_agent", how="left", maintain_order="left")
            rows = rows.with_columns(gpu=pl.coalesce("dst_gpu", "src_gpu"))
        else:
            rows = rows.join(track_ids.agents, on="agent", how="left", maintain_order="left")
        rows = rows.filter(pl.col("gpu").is_not_null() & pl.col("start_ns").is_not_null())
        if rows.height:
            tracks = track_ids.tracks(rows, are_copies=table == "copies")
            yield rows.with_columns(
                tracks.alias("tid"),
                tracks.alias("track"),
                track_ids.stream_ids.gather(rows["stream"]).alias("stream_id"),
                track_ids.queue_ids.gather(rows["queue"]).alias("queue_id"),
                pl.col("gpu").alias("pid"),
                pl.col("start_ns") - base,
                pl.col("end_ns").fill_null(pl.col("start_ns")) - base,
            )


def calls(run: Run, table: str, track_ids: TrackIds, base: int) -> Iterator[pl.DataFrame]:
    """Pieces of regions or samples, with `pid` and `tid`."""
    times = ("time_ns",) if table == "samples" else ("start_ns", "end_ns")
    details = track_ids.detail_columns(("category", "event_properties"))
    for piece in run.chunks(table, [*_CALL, *times, *details]):
        rows = (
            piece.rename({"time_ns": "start_ns"}).with_columns(end_ns=pl.col("start_ns"))
            if table == "samples"
            else piece
        )
        rows = rows.join(track_ids.threads, on="thread", how="left", maintain_order="left")
        rows = rows.filter(pl.col("start_ns").is_not_null())
        rows = rows.with_columns(can_launch=pl.col("tid").is_not_null() & pl.col("end_ns").is_not_null())
        if rows["pid"].null_count():
            homes = {process: track_ids.pid(process) for process in rows["process"].unique()}
            home = pl.col("process").replace_strict(homes, return_dtype=pl.Int64)
            rows = rows.with_columns(pl.col("pid").fill_null(home), pl.col("tid").fill_null(0))
        if rows.height:
            yield rows.with_columns(pl.col("start_ns") - base, pl.col("end_ns").fill_null(pl.col("start_ns")) - base)


def markers(piece: pl.DataFrame) -> pl.DataFrame:
    """The ranges of markers among calls."""
    is_marker = pl.col("domain").cast(pl.String) == "MARKER"
    return piece.filter(is_marker).select("pid", "tid", "start_ns", "end_ns", pl.col("name").cast(pl.String))


def numbered(column: pl.Series) -> tuple[pl.Series, list[str]]:
    """The number of each text of a column in a list of distinct texts, and that list."""
    texts = column.cast(pl.String).fill_null("")
    unique = texts.unique(maintain_order=True)
    return texts.cast(pl.Enum(unique)).to_physical().cast(pl.UInt32), unique.to_list()


def graphs(work_pieces: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One slice per launch of a graph and queue that it used, around all of its work there."""
    members = [piece.filter(pl.col("graph_exec") > 0) for piece in work_pieces]
    of_launch = pl.concat(members).group_by("process", "correlation", "graph_exec", "gpu", "track", maintain_order=True)
    spans = of_launch.agg(pl.col("start_ns").min(), pl.col("end_ns").max(), pl.len().alias("kernels"))
    names = [f"Graph {number:#x}" for number in spans["graph_exec"]]
    return spans.rename({"gpu": "pid", "track": "tid"}).with_columns(pl.Series("name", names, dtype=pl.String))


def callers(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls that can have launched work: those other than markers that have a thread and both times."""
    can_launch = pl.col("can_launch") & pl.col("domain").cast(pl.String).ne_missing("MARKER")
    return calls.filter(can_launch).select(
        "process", "correlation", "pid", "tid", call_start_ns="start_ns", call_end_ns="end_ns"
    )


def launches(work: Sequence[pl.DataFrame], callers: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The work with the call that launched it, by process and id of the work."""
    pieces = [pl.DataFrame(schema=dict.fromkeys(_LAUNCHED, pl.Int64))]
    if work and callers:
        of_process = pl.concat(callers).drop_nulls().partition_by("process", as_dict=True, include_key=False)
        all_work = pl.concat(work)
        for process in sorted(of_process):
            first = _first_of_each(of_process[process])
            of_calls = all_work.filter(pl.col("process") == process[0]).join(first, on="correlation")
            pieces.append(of_calls.sort("event", "start_ns").select(pl.col(_LAUNCHED).cast(pl.Int64)))
    return pl.concat(pieces, rechunk=True)


def _first_of_each(calls: pl.DataFrame) -> pl.DataFrame:
    """The first call of each correlation."""
    if calls["correlation"].n_unique() == calls.height:
        return calls
    sorted_calls = calls.sort("correlation", "call_start_ns", "call_end_ns")
    return sorted_calls.unique("correlation", keep="first", maintain_order=True)


def flows(launches: pl.DataFrame) -> Iterator[list[str]]:
    """Arrows from calls to their work as events in Kineto's form, with the correlation as `id`.

    Where correlations are not unique, as those of graphs and of several processes, ids above all of them are used.
    """
    if not launches.height:
        return
    is_first = pl.struct("correlation").is_first_distinct() & (pl.col("correlation") >= 0)
    largest = max(cast("int", launches["correlation"].max()), 0)
    rows = launches.with_columns(
        id=pl.when(is_first).then("correlation").otherwise(largest + 1 + pl.int_range(pl.len(), dtype=pl.Int64)),
        # 2 us before the end of the call, as in rpd2tracing, but within the call, and not after the start of the work.
        leaves=pl.min_horizontal(pl.max_horizontal("call_start_ns", pl.col("call_end_ns") - _BEFORE_END), "start_ns"),
    )
    for part in rows.iter_slices(_MOST_FLOWS):
        begin = _flow("s", "pid", "tid", "leaves", "")
        end = _flow("f", "gpu", "track", "start_ns", ',"bp":"e"')
        yield part.select(both=pl.concat_list(begin, end)).explode("both").to_series().to_list()


def _flow(phase: str, pid: str, tid: str, time: str, more: str) -> pl.Expr:
    """The text of one end of an arrow, from columns of its place and time (ns, written as us with three decimals)."""
    head = pl.lit(f'{{"ph":"{phase}","cat":"ac2g","name":"ac2g","pid":')
    size = pl.col(time).abs()
    sign = pl.when(pl.col(time) < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    microseconds = (sign, size // 1000, pl.lit("."), (size % 1000).cast(pl.String).str.zfill(3))
    place = (head, pid, pl.lit(',"tid":'), tid, pl.lit(',"ts":'))
    return pl.concat_str(*place, *microseconds, pl.lit(',"id":'), "id", pl.lit(f"{more}}}"))


def monitor_points(run: Run, track_ids: TrackIds, base: int) -> pl.DataFrame:
    """`pid`, `name`, `time_ns`, `value` of monitors: the start of every interval, and the end of each last one."""
    samples = run.read("monitors").join(track_ids.agents, on="agent").drop_nulls(["value", "start_ns", "end_ns"])
    begins = samples.select(pid="gpu", name="name", time_ns="start_ns", value="value")
    last = samples.group_by("gpu", "name", maintain_order=True).agg(pl.all().sort_by("end_ns").last())
    ends = last.select(pid="gpu", name="name", time_ns="end_ns", value="value")
    return pl.concat([begins, ends]).with_columns(pl.col("time_ns") - base)


def counter_points(run: Run, kernels: Sequence[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """`pid`, `name`, `time_ns`, `value` of hardware counters: the sum over instances while a dispatch runs, then 0."""
    info = run.read("counter_info", ["counter", "name"])
    if not info.height:
        return
    values = run.read("counters", ["process", "counter", "event", "value"]).drop_nulls()
    sums = values.group_by("process", "event", "counter", maintain_order=True).agg(pl.col("value").sum())
    sums = sums.join(info, on="counter")
    for piece in kernels:
        dispatches = piece.join(sums, on=["process", "event"]).sort("start_ns", "name")
        begin = dispatches.select(pid="gpu", name="name", time_ns="start_ns", value="value")
        end = dispatches.select(pid="gpu", name="name", time_ns="end_ns", value=pl.lit(0.0))
        yield pl.concat([begin, end]).drop_nulls()
