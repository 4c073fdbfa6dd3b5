"""Records of rocprof (v1), from its database or CSV, as tables of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wavewright.base.files import open_regular
from wavewright.base.toml import packaged
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.rocprofv3_columns import Layout, header_of, names_of, read_table
from wavewright.readers.files.sqlite import Database, note_missing
from wavewright.readers.run.event_rows import finished, link, numbered, with_numbers

_EVENTS = ("dispatches", "copies", "regions")
#: `name(value)`, where the value may be `{x(1) y(2)}` or the declaration of a function.
_ARGUMENT = r"\w+\((?:\{[^}]*\}|[^(){}]*(?:\([^()]*\)[^(){}]*)*)\)"
_SUFFIX = r"( \[clone \.kd\]| \(\.kd\)|\.kd)$"


def plain_name(name: pl.Expr) -> pl.Expr:
    """Names of kernels without the quotes and the suffix that rocprof leaves in some of its outputs.

    >>> import polars as pl
    >>> pl.DataFrame({"name": ['"fill.kd"']}).select(plain_name(pl.col("name"))).item()
    'fill'
    """
    return name.str.strip_chars('"').str.replace(_SUFFIX, "")


def assembled(
    path: Path, form: str, events: Mapping[str, pl.DataFrame], losses: list[Loss], extras: Mapping[str, pl.DataFrame]
) -> MemorySource:
    """The run of events with the ids `pid`, `tid`, `device`, `queue_id` and `stream_id`."""
    tables: dict[str, pl.DataFrame] = {}
    processes = numbered(events.values(), ["pid"], "process")
    if not processes.height:
        processes = pl.DataFrame({"process": [0], "pid": [None]}, schema={"process": pl.UInt32, "pid": pl.Int64})
    tables["processes"] = processes.with_columns(source=pl.lit(0, pl.UInt32), guid=pl.lit(""))
    frames = {name: link(events[name], processes, ["pid"], "process") for name in _EVENTS if name in events}
    first_process = pl.col("process").fill_null(0)  # of rows without a process id
    frames = with_numbers({name: frame.with_columns(first_process) for name, frame in frames.items()}, tables)
    agents = numbered(frames.values(), ["process", "device"], "agent")
    frames = {name: link(frame, agents, ["process", "device"], "agent") for name, frame in frames.items()}
    tables["agents"] = agents.with_columns(kind=pl.lit("GPU"), agent_id="device", absolute_index="device")
    event_count = 0
    for name, frame in frames.items():
        tables[name] = frame.with_columns(pl.int_range(event_count, event_count + frame.height).alias("event"))
        event_count += frame.height
    if "copies" in tables:  # the GPU is the end that is not the host
        direction = pl.col("name").cast(pl.String)
        tables["copies"] = tables["copies"].with_columns(
            src_agent=pl.when(~direction.str.contains("(?i)HostTo")).then("agent"),
            dst_agent=pl.when(~direction.str.contains("(?i)ToHost")).then("agent"),
        )
    if "regions" in tables:
        tables["arguments"] = _arguments(tables["regions"])
    _add_counters(tables, events)
    return MemorySource(str(path), form, tables=finished(tables, losses), losses=losses, extras=extras)


def _arguments(calls: pl.DataFrame) -> pl.DataFrame:
    """The text of the arguments, `( name(value) name(value))`, taken apart."""
    parts = calls.select("process", "event", pl.col("text").str.extract_all(_ARGUMENT).alias("part"))
    parts = parts.filter(pl.col("part").list.len() > 0).with_columns(position=pl.int_ranges(pl.col("part").list.len()))
    parts = parts.explode("part", "position")
    name, value = pl.col("part").str.extract(r"^(\w+)"), pl.col("part").str.extract(r"^\w+\((.*)\)$")
    return parts.select("process", "event", "position", name.alias("name"), value.alias("value"))


def _add_counters(tables: dict[str, pl.DataFrame], events: Mapping[str, pl.DataFrame]) -> None:
    """`counters` has the row of the dispatch, the name and the value of each."""
    if "counters" not in events:
        return
    dispatches = tables["dispatches"].select("process", "event").with_row_index("row")
    values = events["counters"].with_columns(pl.col("row").cast(pl.UInt32))
    values = values.join(dispatches, on="row", maintain_order="left")
    tables["counter_info"] = numbered([values], ["process", "name"], "counter")
    tables["counters"] = link(values, tables["counter_info"], ["process", "name"], "counter")


# --- dispatches that rocprof (v1) wrote as CSV: with times (`--stats`, `--timestamp on`), counters (`-i`), or both ---


_HEAD = 1 << 16
_FACTS = packaged("columns.toml", __package__)
_COLUMNS = {ours: (dtype, tuple(theirs)) for ours, (dtype, *theirs) in _FACTS["csv"].items()}
#: Columns that are neither read nor counters.
_OTHERS = {"queue-index", "wave_size", "sig", "obj", "fbar", "dispatchns", "completens", "durationns"}
_COUNTER = "counter "  #: Before the name of a counter in a frame: counters may be called like our columns.


def read_rocprof_csv(file: Path) -> MemorySource:
    """The dispatches of one file; every column that rocprof does not always write is a counter.

    Grids and workgroups are numbers of lanes, whatever their shape: they stand in `grid_x` and `workgroup_x`. Raises
    `NotATraceError` when it is not such a file.
    """
    with open_regular(file) as stream:
        head = stream.read(_HEAD)
    if "kernelname" not in header_of(head):
        problem = "not a file of dispatches that rocprof wrote"
        raise NotATraceError(problem, where=str(file), advice="pass results.csv, not its statistics")
    standard = {name for _, theirs in _COLUMNS.values() for name in theirs} | _OTHERS
    counters = [name for name in names_of(head) if name.lower() not in standard]
    columns = _COLUMNS | {f"{_COUNTER}{name}": ("Float64", (name.lower(),)) for name in counters}
    losses: list[Loss] = []
    rows = read_table(file, Layout("rocprof", (), ("dispatch_id", "name"), columns), losses)
    rows = rows.with_columns(plain_name(pl.col("name")))
    if "start_ns" not in rows.columns and rows.height:
        losses.append(Loss("no_times", rows.height, detail="rocprof wrote this file without --timestamp on"))
    events = {"dispatches": rows.select(name for name in rows.columns if not name.startswith(_COUNTER))}
    if counters:
        wide = rows.select(pl.col(f"{_COUNTER}{name}").alias(name) for name in counters).with_row_index("the row")
        values = wide.unpivot(counters, index="the row", variable_name="name").rename({"the row": "row"})
        events["counters"] = values.filter(pl.col("value").is_finite())
    return assembled(file, "rocprof CSV", events, losses, {})


# --- databases of rocprof (v1): `results.db`, with a table per kind of event ---
# | table | becomes |
# | --- | --- |
# | KERN | dispatches, when it has times |
# | OPS | dispatches otherwise: GPU work that the runtime reported |
# | COPY | copies; their sizes come from the arguments of the calls |
# | HIP, HSA | regions of these domains |
# | ROCTX | regions of the domain MARKER |
#
# `Index` numbers the calls of HIP, and work has the number of its call: it is the correlation. A table of GPU work that
# is not used, because the other one tells the same, is an extra table.


_TIMES = {"start_ns": "BeginNs", "end_ns": "EndNs", "pid": "pid", "tid": "tid"}
_KERN: dict[str, str] = _FACTS["kern"]
_OPS: dict[str, str] = _FACTS["ops"]
_CALLS = {"HIP": "HIP", "HSA": "HSA", "ROCTX": "MARKER"}
_LINKED = "HIP"  #: The table of calls whose `Index` GPU work refers to.
_TIME_COLUMNS = ("BeginNs", "EndNs")
#: Traces of the runtime have the numbers and names of kernels only.
_LONG_KERN = ("gpu-id", "queue-id", "pid", "tid", "grd", "wgr", "lds", "scr", "arch_vgpr", "sgpr")
_REQUIRED: dict[str, tuple[str, ...]] = {table: tuple(names) for table, names in _FACTS["required"].items()}
_SIZE = r"\b[sS]izeBytes\((\d+)\)"


def read_rocprof_database(database: Database) -> MemorySource:
    """The run in a `results.db`."""
    tables = {name.upper(): name for name in database.tables}
    note_missing(database, {tables[name]: _required(database, tables[name]) for name in _REQUIRED if name in tables})
    events: dict[str, pl.DataFrame] = {}
    extras: dict[str, pl.DataFrame] = {}
    calls = [_calls(database, tables[name], domain) for name, domain in _CALLS.items() if name in tables]
    if calls:
        events["regions"] = pl.concat(calls)
    dispatches = _work(database, tables.get("KERN"), _KERN, "KernelName")
    operations = _work(database, tables.get("OPS"), _OPS, "Name")
    if dispatches.height and dispatches["start_ns"].null_count() < dispatches.height:
        events["dispatches"] = dispatches
        if operations.height:
            extras["OPS"] = operations
    else:
        events["dispatches"] = operations
    events["copies"] = _work(database, tables.get("COPY"), _OPS, "Name")
    processes = pl.concat(events[name]["proc_id"] for name in ("dispatches", "copies")).drop_nulls().unique()
    if calls and processes.len():  # of calls only tracks are recorded: they are of the only process, or by their thread
        of_thread = pl.when(pl.col("tid").is_in(processes.implode())).then("tid")
        events["regions"] = events["regions"].with_columns(pid=of_thread if processes.len() > 1 else processes[0])
    events["copies"] = _with_sizes(events["copies"], events.get("regions"))
    return assembled(database.path, "rocprof database", events, database.losses, extras)


def _required(database: Database, table: str) -> tuple[str, ...]:
    """The columns that a table must have, depending on its other columns."""
    column_names, has = _REQUIRED[table.upper()], set(database.tables[table])
    if table.upper() == "KERN":
        column_names += _LONG_KERN if has & set(_LONG_KERN) else ()
        column_names += _TIME_COLUMNS if has & set(_TIME_COLUMNS) else ()
    return column_names


def _read(database: Database, table: str, integers: dict[str, str], texts: dict[str, str]) -> pl.DataFrame:
    """Columns of a table under our names."""
    dtypes = {**dict.fromkeys(integers.values(), pl.Int64), **dict.fromkeys(texts.values(), pl.String)}
    return database.frame(table, dtypes).select(pl.col(name).alias(ours) for ours, name in (integers | texts).items())


def _work(database: Database, table: str | None, columns: dict[str, str], name: str) -> pl.DataFrame:
    texts = {"name": name, "region_name": "roctx-range"}
    if table is None:
        return pl.DataFrame(schema={**dict.fromkeys(columns, pl.Int64), **dict.fromkeys(texts, pl.String)})
    rows = _read(database, table, columns, texts).with_columns(plain_name(pl.col("name")))
    # Older databases number tracks in `pid` and `tid`. Where no range of markers is around work, its name is repeated.
    tid, is_in_range = pl.when(pl.col("proc_id").is_null()).then("tid"), pl.col("region_name") != pl.col("name")
    return rows.with_columns(pl.when(is_in_range).then("region_name"), pid=pl.coalesce("proc_id", "pid"), tid=tid)


def _calls(database: Database, table: str, domain: str) -> pl.DataFrame:
    rows = _read(database, table, _TIMES | {"index": "Index"}, {"name": "Name", "text": "args"})
    index = pl.col("index") if domain == _LINKED else pl.lit(None, pl.Int64)
    properties = pl.when(pl.col("text").fill_null("") != "").then(pl.struct(args="text").struct.json_encode())
    function, kind = pl.col("name"), pl.lit(domain)
    columns = {"function": function, "correlation": index, "domain": kind, "category": kind, "properties": properties}
    return rows.select(*_TIMES, "name", "text", **columns)


def _with_sizes(copies: pl.DataFrame, calls: pl.DataFrame | None) -> pl.DataFrame:
    """The size of a copy, an argument of its call."""
    if calls is None:
        return copies
    size = pl.col("text").str.extract(_SIZE).str.to_integer(strict=False)
    sizes = calls.select("pid", "correlation", size.alias("size_bytes")).drop_nulls()
    sizes = sizes.unique(["pid", "correlation"], keep="first", maintain_order=True)
    return copies.join(sizes, on=["pid", "correlation"], how="left", maintain_order="left")
