"""Databases of rocprof (v1): `results.db`, with a table per kind of event.

| table | becomes |
| --- | --- |
| KERN | dispatches, when it has times |
| OPS | dispatches otherwise: GPU work that the runtime reported |
| COPY | copies; their sizes come from the arguments of the calls |
| HIP, HSA | regions of these domains |
| ROCTX | regions of the domain MARKER |

`Index` numbers the calls of HIP, and work has the number of its call: it is the correlation. A table of GPU work that
is not used, because the other one tells the same, is an extra table.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wavewright.model.run import MemorySource
from wavewright.readers.files.sqlite import Database
from wavewright.readers.files.sqlite.missing_columns import note_missing
from wavewright.readers.run.rocprof_v1.rows import assembled, plain_name

_TIMES = {"start_ns": "BeginNs", "end_ns": "EndNs", "pid": "pid", "tid": "tid"}
_KERN = _TIMES | {
    "dispatch_id": "Index",
    "device": "gpu-id",
    "queue_id": "queue-id",
    "grid_x": "grd",
    "workgroup_x": "wgr",
    "lds_bytes": "lds",
    "scratch_bytes": "scr",
    "vgpr_count": "arch_vgpr",
    "accum_vgpr_count": "accum_vgpr",
    "sgpr_count": "sgpr",
}
_OPS = _TIMES | {"correlation": "Index", "device": "dev-id", "queue_id": "queue-id", "stream_id": "stream-id"}
_CALLS = {"HIP": "HIP", "HSA": "HSA", "ROCTX": "MARKER"}
_LINKED = "HIP"
_WHEN = ("BeginNs", "EndNs")
_WORK = ("Index", "pid", "tid", "dev-id", "queue-id", "Name", *_WHEN)
_CALL = ("pid", "tid", "Name", *_WHEN)
#: Traces of the runtime have the numbers and names of kernels only.
_LONG_KERN = ("gpu-id", "queue-id", "pid", "tid", "grd", "wgr", "lds", "scr", "arch_vgpr", "sgpr")
#: Columns that a table must have; others came with later versions of rocprof.
_REQUIRED: dict[str, tuple[str, ...]] = {
    "KERN": ("Index", "KernelName"),
    "OPS": _WORK,
    "COPY": _WORK,
    "HIP": (*_CALL, "args", "Index"),
    "HSA": (*_CALL, "args"),
    "ROCTX": _CALL,
}
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
    if "COPY" in tables:
        events["copies"] = _with_sizes(_work(database, tables["COPY"], _OPS, "Name"), events.get("regions"))
    return assembled(database.path, "rocprof database", events, database.losses, extras)


def _required(database: Database, table: str) -> tuple[str, ...]:
    """The columns that a table must have, depending on its other columns."""
    needed, has = _REQUIRED[table.upper()], set(database.tables[table])
    if table.upper() == "KERN":
        needed += _LONG_KERN if has & set(_LONG_KERN) else ()
        needed += _WHEN if has & set(_WHEN) else ()
    return needed


def _read(database: Database, table: str, integers: Mapping[str, str], texts: Mapping[str, str]) -> pl.DataFrame:
    """Columns of a table under our names."""
    stored = {**dict.fromkeys(integers.values(), pl.Int64), **dict.fromkeys(texts.values(), pl.String)}
    frame = database.frame(table, stored)
    return frame.select(pl.col(theirs).alias(ours) for ours, theirs in {**integers, **texts}.items())


def _work(database: Database, table: str | None, columns: Mapping[str, str], name: str) -> pl.DataFrame:
    texts = {"name": name, "region_name": "roctx-range"}
    if table is None:
        return pl.DataFrame(schema={**dict.fromkeys(columns, pl.Int64), **dict.fromkeys(texts, pl.String)})
    rows = _read(database, table, columns, texts).with_columns(plain_name(pl.col("name")))
    # Where no range of markers is around it, rocprof repeats the name.
    return rows.with_columns(pl.when(pl.col("region_name") != pl.col("name")).then("region_name"))


def _calls(database: Database, table: str, domain: str) -> pl.DataFrame:
    rows = _read(database, table, _TIMES | {"index": "Index"}, {"name": "Name", "text": "args"})
    index = pl.col("index") if domain == _LINKED else pl.lit(None, pl.Int64)
    properties = pl.when(pl.col("text").fill_null("") != "").then(pl.struct(args="text").struct.json_encode())
    return rows.select(
        *_TIMES,
        "name",
        "text",
        pl.col("name").alias("function"),
        index.alias("correlation"),
        pl.lit(domain).alias("domain"),
        pl.lit(domain).alias("category"),
        properties.alias("properties"),
    )


def _with_sizes(copies: pl.DataFrame, calls: pl.DataFrame | None) -> pl.DataFrame:
    """The size of a copy, an argument of its call."""
    if calls is None:
        return copies
    size = pl.col("text").str.extract(_SIZE).str.to_integer(strict=False)
    sizes = calls.select("pid", "correlation", size.alias("size_bytes")).drop_nulls()
    sizes = sizes.unique(["pid", "correlation"], keep="first", maintain_order=True)
    return copies.join(sizes, on=["pid", "correlation"], how="left", maintain_order="left")
