"""code.json, stats_*.csv, snapshots.json and the copies of source files that the listed code refers to."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.export.kit.json_text import encode
from wavewright.model.trace import ThreadTrace

_CHAIN = " -> "  #: Between the places of an inlined instruction, the innermost first.
_NAME_BYTES_MAX = 200  #: File systems take 255 bytes, some of which are the prefix.
_HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
_STATS_HEADER = ("CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source")
_TOTALS = ("hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total")
_MARKER_KINDS = {1: "F", 2: "U", 3: "P"}  #: markers.marker_kind -> letter in `sqtt_funcmap` (spec_ui_output 6.3).


def source_files(trace: ThreadTrace, listing: pl.DataFrame) -> dict[str, bytes]:
    """`source_<i>_<base name>` for every source text that `listing` refers to, and snapshots.json that maps them.

    Paths only become keys inside snapshots.json; the files themselves have tame names in the directory.
    """
    paths = _referred_paths(listing)
    tree: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    for path, text in trace.sources.select("file", "text").iter_rows():
        name = f"source_{len(files)}_{_tame(path)}"
        if path in paths and text is not None and _insert(tree, _components(path), name):
            files[name] = text.encode()
    return files | {"snapshots.json": encode(tree)} if files else {}


def _referred_paths(listing: pl.DataFrame) -> set[str]:
    """The paths in the sources of instructions, each `path:line`; the source of a label is a C++ signature."""
    chains = listing.drop_nulls("row")["source"].unique().to_list()
    return {place.rpartition(":")[0] for chain in chains for place in chain.split(_CHAIN)}


def _components(path: str) -> list[str]:
    """The parts of a path; the root is a part of its own, `.` and `..` are not resolved."""
    root = ["/"] if path.startswith("/") else []
    return root + [part for part in path.split("/") if part]


def _insert(tree: dict[str, Any], components: list[str], name: str) -> bool:
    """Add `name` to the tree at its path; False = a part of the path is a file already."""
    if not components:
        return False
    for component in components[:-1]:
        tree = tree.setdefault(component, {})
        if not isinstance(tree, dict):
            return False
    return bool(tree.setdefault(components[-1], name) == name)


def _tame(path: str) -> str:
    """The base name, without characters that are special to shells, terminals or file systems."""
    base = re.sub(r"[^\w.+\-]", "_", path.rpartition("/")[2])
    return base.encode()[-_NAME_BYTES_MAX:].decode(errors="ignore")


def costed_lines(trace: ThreadTrace, listing: pl.DataFrame) -> pl.DataFrame:
    """`listing` with the totals of `row_totals`; zero on labels and on rows that no wave executed."""
    lines = listing.join(row_totals(trace), on="row", how="left", maintain_order="left")
    return lines.with_columns(pl.col(*_TOTALS).fill_null(0))


def code_json(trace: ThreadTrace, lines: pl.DataFrame, version: str) -> bytes:
    """The bytes of code.json for the lines of `costed_lines`."""
    columns = lines.select("text", "line", "source", "code_object", "address", *_TOTALS)
    rows = [(text, 0, *cells) for text, *cells in columns.iter_rows()]
    document: dict[str, Any] = {"code": rows or None, "header": _HEADER, "version": version}
    names = _marker_names(trace)
    if names:
        document["sqtt_funcmap"] = names
    return encode(document)


def _marker_names(trace: ThreadTrace) -> list[list[Any]]:
    markers = trace.markers.filter(
        (pl.col("record_kind") == 0) & pl.col("marker_kind").is_in(list(_MARKER_KINDS)) & (pl.col("code_object") > 0)
    )
    columns = ("code_object", "marker_id", "marker_kind", "name", "location")
    named_markers = markers.select(*columns).filter(pl.col("name").fill_null("") != "").unique().sort(*columns)
    return [
        [code_object, marker, _MARKER_KINDS[kind], name, *([location] if location else [])]
        for code_object, marker, kind, name, location in named_markers.iter_rows()
    ]


def stats_csv(lines: pl.DataFrame) -> bytes:
    """The bytes of stats_*.csv for the lines of `costed_lines`: by code object and address, labels first.

    Strings are quoted and quotes in them doubled (RFC 4180; AMD's writer leaves them bare).
    """
    sorted_lines = lines.sort("code_object", "address", "line")
    columns = sorted_lines.select("code_object", "address", "text", *_TOTALS, "source")
    rows = [_STATS_HEADER, *columns.iter_rows()]
    return "".join(",".join(map(_field, row)) + "\n" for row in rows).encode()


def _field(value: str | int) -> str:
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)
