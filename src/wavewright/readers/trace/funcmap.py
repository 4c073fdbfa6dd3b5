"""Names of markers: what the values of shader data mean, from the marker names of the code objects."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.model.schema import THREAD_TRACE

#: Values of `markers.marker_kind`; kernels are named, but never written as markers.
MARKER_KINDS = {1: "function", 2: "user scope", 3: "point", 4: "kernel"}

_KERNEL = 4


def marker_names(program: _core.Program) -> pl.DataFrame:
    """Every named row of the marker names in `program`, in the order of the code objects and of their rows.

    Columns: code_object, marker_id (0 for kernels), kind (MARKER_KINDS), payload_count (values behind the marker
    that belong to it), name, location (null = none given). An id may occur twice; its last row counts.
    """
    rows = [
        (*numbers, _readable(name), _readable(location) or None) for *numbers, name, location in program.marker_names()
    ]
    schema = {
        "code_object": pl.UInt64,
        "marker_id": pl.UInt32,
        "kind": pl.UInt8,
        "payload_count": pl.UInt32,
        "name": pl.String,
        "location": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def with_marker_names(markers: pl.DataFrame, program: _core.Program) -> pl.DataFrame:
    """The table `markers`: the core's markers over all shader engines (with `se`), names and locations joined in."""
    key = ["code_object", "marker_id"]
    names = marker_names(program).filter(pl.col("kind") != _KERNEL).unique(key, keep="last")
    table = markers.join(names.select(*key, "name", "location"), on=key, how="left", maintain_order="left")
    return table.select(THREAD_TRACE["markers"].names)


def _readable(text: bytes) -> str:
    """Replace unprintable characters by question marks: names are untrusted and reach terminals."""
    return "".join(c if c.isprintable() else "?" for c in text.decode("utf-8", "replace"))
