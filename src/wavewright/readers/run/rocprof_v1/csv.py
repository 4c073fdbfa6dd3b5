"""Dispatches that rocprof (v1) wrote as CSV: with times (`--stats`, `--timestamp on`), counters (`-i`), or both."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl

from wavewright.base.files import open_regular
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.rocprofv3_columns import Layout, header_of, read_table
from wavewright.readers.files.text import head_of
from wavewright.readers.run.rocprof_v1.rows import assembled, plain_name

_HEAD = 1 << 16
_COLUMNS = {
    "dispatch_id": ("Int64", ("index",)),
    "name": ("String", ("kernelname",)),
    "device": ("Int64", ("gpu-id",)),
    "queue_id": ("Int64", ("queue-id",)),
    "pid": ("Int64", ("pid",)),
    "tid": ("Int64", ("tid",)),
    "grid_x": ("Int64", ("grd",)),
    "workgroup_x": ("Int64", ("wgr",)),
    "lds_bytes": ("Int64", ("lds",)),
    "scratch_bytes": ("Int64", ("scr",)),
    "vgpr_count": ("Int64", ("arch_vgpr", "vgpr")),
    "accum_vgpr_count": ("Int64", ("accum_vgpr",)),
    "sgpr_count": ("Int64", ("sgpr",)),
    "start_ns": ("Int64", ("beginns",)),
    "end_ns": ("Int64", ("endns",)),
}
#: Columns that are neither read nor counters.
_OTHERS = {"queue-index", "wave_size", "sig", "obj", "fbar", "dispatchns", "completens", "durationns"}
_COUNTER = "counter "


def read_rocprof_csv(file: Path) -> MemorySource:
    """The dispatches of one file; every column that rocprof does not always write is a counter.

    Grids and workgroups are numbers of lanes, whatever their shape: they stand in `grid_x` and `workgroup_x`.

    Raises
    ------
    NotATraceError
        When it is not such a file.
    """
    with open_regular(file) as stream:
        head = stream.read(_HEAD)
    header = header_of(head)
    if "kernelname" not in header:
        problem = "not a file of dispatches that rocprof wrote"
        raise NotATraceError(problem, where=str(file), advice="pass results.csv, not its statistics")
    standard = {name for _, theirs in _COLUMNS.values() for name in theirs} | _OTHERS
    counters = [name for name in _names(head) if name.lower() not in standard]
    columns = _COLUMNS | {f"{_COUNTER}{name}": ("Float64", (name.lower(),)) for name in counters}
    losses: list[Loss] = []
    rows = read_table(file, Layout("rocprof", (), ("dispatch_id", "name"), columns), losses)
    rows = rows.with_columns(plain_name(pl.col("name")))
    if "start_ns" not in rows.columns and rows.height:
        losses.append(Loss("no_times", rows.height, detail="rocprof wrote this file without --timestamp on"))
    events = {"dispatches": rows.select(name for name in rows.columns if not name.startswith(_COUNTER))}
    if counters:
        events["counters"] = _values(rows, counters)
    return assembled(file, "rocprof CSV", events, losses, {})


def _names(head: bytes) -> list[str]:
    """The names of the columns as they are written."""
    line = head_of(head, _HEAD).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    return [name.strip() for name in next(csv.reader([line.decode("utf-8", "replace").strip()]))]


def _values(rows: pl.DataFrame, counters: list[str]) -> pl.DataFrame:
    """One row per dispatch and counter that has a value."""
    wide = rows.select(pl.col(f"{_COUNTER}{name}").alias(name) for name in counters).with_row_index(
        "row of the dispatch"
    )
    long = wide.unpivot(counters, index="row of the dispatch", variable_name="name")
    return long.filter(pl.col("value").is_finite()).rename({"row of the dispatch": "row"})
