"""Official `ui_output_*` directories as traces whose exports can be compared with them, and small helpers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.folder import Directory
from wavewright.readers.trace.ui_output import read_ui_output

if TYPE_CHECKING:
    from pathlib import Path

Json = Any


def read_json(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


def frame(table: str, columns: dict[str, Any], **constants: Any) -> pl.DataFrame:
    """A frame of the declared schema; columns that are not given are null unless named in `constants`."""
    specs = THREAD_TRACE[table].columns
    height = len(next(iter(columns.values()))) if columns else 0
    return pl.DataFrame(
        {
            spec.name: pl.Series(
                columns[spec.name] if spec.name in columns else [constants.get(spec.name)] * height,
                dtype=getattr(pl, spec.dtype),
            )
            for spec in specs
        }
    )


def load(directory: Path) -> ThreadTrace:
    """The directory, with rows renumbered by (code object, address) and strangers among them, so that an export has
    to find the lines again; with a made-up text for every source file."""
    trace = read_ui_output(Directory(directory))
    strangers = frame(
        "code",
        {"row": [-2, -3, -4], "code_object": [1, 1, 999], "address": [0, 4, 0], "text": ["s_nop 0"] * 3},
        function="never_entered",
    )
    code = pl.concat([trace.code, strangers]).sort("code_object", "address", maintain_order=True)
    numbers = code.select("row", number=pl.int_range(pl.len(), dtype=pl.Int32))

    def renumbered(table: pl.DataFrame, column: str) -> pl.DataFrame:
        found = table.select(pl.col(column).alias("row")).join(numbers, on="row", how="left", maintain_order="left")
        return table.with_columns(found["number"].fill_null(-1).alias(column))

    files = source_paths(directory)
    tables = trace.tables | {
        "code": code.with_columns(numbers["number"].alias("row")),
        "instructions": renumbered(trace.instructions, "row"),
        "waits": renumbered(renumbered(trace.waits, "row"), "producer_row"),
        "sources": frame("sources", {"file": files, "text": [f"text of {file}\n" for file in files]}),
    }
    del tables["stored_totals"]
    return ThreadTrace(tables, trace.source)


def source_paths(directory: Path) -> list[str]:
    """The paths that snapshots.json maps."""
    snapshots = directory / "snapshots.json"
    return sorted(_leaves(read_json(snapshots), "")) if snapshots.exists() else []


def _leaves(node: Json, prefix: str) -> list[str]:
    if isinstance(node, str):
        return [prefix]
    join = "" if prefix.endswith("/") or not prefix else "/"
    return [leaf for name, child in node.items() for leaf in _leaves(child, prefix + join + name)]
