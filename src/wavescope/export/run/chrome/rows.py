"""Rows of a run as the columns of Chrome events: where, when, what it is called, and what else is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavescope.export.run.chrome.track_ids import TrackIds
    from wavescope.model.run import Run

_WORK = ("process", "graph_exec", "queue", "stream", "name", "start_ns", "end_ns", "correlation", "event")
_LAUNCH = ("grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z", "lds_bytes", "scratch_bytes")
_CALL = ("process", "thread", "domain", "name", "correlation", "event")
#: Columns of work that launches need.
KEPT_OF_WORK = ("process", "correlation", "event", "graph_exec", "gpu", "lane", "start_ns", "end_ns")


def work(run: Run, table: str, track_ids: TrackIds) -> Iterator[pl.DataFrame]:
    """Pieces of kernels or copies, with `pid` (the GPU) and `tid` (its lane); work without a GPU is left out."""
    agent_columns = ("src_agent", "dst_agent") if table == "copies" else ("agent",)
    details = ("size_bytes",) if table == "copies" else _LAUNCH
    for piece in run.chunks(table, [*_WORK, *agent_columns, *track_ids.detail_columns(details)]):
        rows = piece
        if table == "copies":
            gpus = track_ids.agents
            to = gpus.rename({"agent": "dst_agent", "gpu": "to"})
            source = gpus.rename({"agent": "src_agent", "gpu": "from"})
            rows = rows.join(to, on="dst_agent", how="left", maintain_order="left")
            rows = rows.join(source, on="src_agent", how="left", maintain_order="left")
            rows = rows.with_columns(gpu=pl.coalesce("to", "from"))
        else:
            rows = rows.join(track_ids.agents, on="agent", how="left", maintain_order="left")
        rows = rows.filter(pl.col("gpu").is_not_null() & pl.col("start_ns").is_not_null())
        if rows.height:
            lanes = track_ids.lanes(rows, are_copies=table == "copies")
            yield rows.with_columns(
                lanes.alias("tid"),
                lanes.alias("lane"),
                pl.col("gpu").alias("pid"),
                pl.col("end_ns").fill_null(pl.col("start_ns")),
            )


def calls(run: Run, table: str, track_ids: TrackIds) -> Iterator[pl.DataFrame]:
    """Pieces of regions or samples, with `pid` and `tid`."""
    times = ("time_ns",) if table == "samples" else ("start_ns", "end_ns")
    for piece in run.chunks(table, [*_CALL, *times, *track_ids.detail_columns(("category",))]):
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
            yield rows.with_columns(pl.col("end_ns").fill_null(pl.col("start_ns")))


def markers(piece: pl.DataFrame) -> pl.DataFrame:
    """The ranges of markers among calls."""
    is_marker = pl.col("domain").cast(pl.String) == "MARKER"
    return piece.filter(is_marker).select("pid", "tid", "start_ns", "end_ns", pl.col("name").cast(pl.String))


def numbered(column: pl.Series) -> tuple[pl.Series, list[str]]:
    """Numbers of the texts of a column, and the texts."""
    texts = column.cast(pl.String).fill_null("")
    unique = texts.unique(maintain_order=True)
    return texts.cast(pl.Enum(unique)).to_physical().cast(pl.UInt32), unique.to_list()


def objects(values: pl.DataFrame) -> tuple[pl.Series, list[str]]:
    """Numbers of the rows as JSON objects, and the objects; columns without any value are left out."""
    recorded = values.select(name for name in values.columns if values[name].null_count() < values.height)
    if not recorded.width:
        return pl.zeros(values.height, pl.UInt32, eager=True), ["{}"]
    unique = recorded.unique(maintain_order=True).with_row_index("number of the object")
    encoded = unique.select(pl.struct(recorded.columns).struct.json_encode()).to_series().to_list()
    numbers = recorded.join(unique, on=recorded.columns, how="left", maintain_order="left", nulls_equal=True)
    return numbers["number of the object"], encoded


def graphs(work_pieces: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One slice per launch of a graph and queue that it used, around all of its work there."""
    members = [piece.filter(pl.col("graph_exec") > 0) for piece in work_pieces]
    of_launch = pl.concat(members).group_by("process", "correlation", "graph_exec", "gpu", "lane", maintain_order=True)
    spans = of_launch.agg(pl.col("start_ns").min(), pl.col("end_ns").max(), pl.len().alias("kernels"))
    names = [f"Graph {number:#x}" for number in spans["graph_exec"]]
    return spans.rename({"gpu": "pid", "lane": "tid"}).with_columns(pl.Series("name", names, dtype=pl.String))


def callers(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls among these that can have launched work: not markers, and with a thread and both times."""
    can_launch = pl.col("can_launch") & pl.col("domain").cast(pl.String).ne_missing("MARKER")
    return calls.filter(can_launch).select(
        "process", "correlation", "pid", "tid", call_start_ns="start_ns", call_end_ns="end_ns"
    )


def launches(work: Sequence[pl.DataFrame], callers: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Work and the call that launched it, in the order of the ids of the work."""
    joined = [pl.DataFrame(schema=dict.fromkeys(_LAUNCHED, pl.Int64))]
    if work and callers:
        of_process = pl.concat(callers).drop_nulls().partition_by("process", as_dict=True, include_key=False)
        ran = pl.concat(work)
        for process in sorted(of_process):
            first = _first_of_each(of_process[process])
            of_calls = ran.filter(pl.col("process") == process[0]).join(first, on="correlation")
            joined.append(of_calls.sort("event", "start_ns").select(_LAUNCHED))
    return pl.concat(joined, rechunk=True)


def _first_of_each(calls: pl.DataFrame) -> pl.DataFrame:
    """Of several calls with one correlation the first."""
    if calls["correlation"].n_unique() == calls.height:
        return calls
    ordered = calls.sort("correlation", "call_start_ns", "call_end_ns")
    return ordered.unique("correlation", keep="first", maintain_order=True)


_LAUNCHED = ("pid", "tid", "call_start_ns", "call_end_ns", "gpu", "lane", "start_ns", "end_ns")


def monitor_points(run: Run, track_ids: TrackIds) -> pl.DataFrame:
    """`pid`, `name`, `time_ns`, `value`: the start of every interval, and the end of the last one of each."""
    samples = run.read("monitors").join(track_ids.agents, on="agent").drop_nulls(["value", "start_ns", "end_ns"])
    begins = samples.select(pid="gpu", name="name", time_ns="start_ns", value="value")
    last = samples.group_by("gpu", "name", maintain_order=True).agg(pl.all().sort_by("end_ns").last())
    return pl.concat([begins, last.select(pid="gpu", name="name", time_ns="end_ns", value="value")])


def counter_points(run: Run, kernels: Sequence[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """`pid`, `name`, `time_ns`, `value` of hardware counters: the sum over instances while a dispatch runs, then 0."""
    info = run.read("counter_info", ["counter", "name"])
    if not info.height:
        return
    values = run.read("counters", ["process", "counter", "event", "value"]).drop_nulls()
    sums = values.group_by("process", "event", "counter", maintain_order=True).agg(pl.col("value").sum())
    sums = sums.join(info, on="counter")
    for piece in kernels:
        ran = piece.join(sums, on=["process", "event"]).sort("start_ns", "name")
        begin = ran.select(pid="gpu", name="name", time_ns="start_ns", value="value")
        end = ran.select(pid="gpu", name="name", time_ns="end_ns", value=pl.lit(0.0))
        yield pl.concat([begin, end]).drop_nulls()
