"""Runs as call trees of Hatchet: regions nested in regions, and below the calls the GPU work that they launched."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.packages import require
from wavewright.export.run.labels import process_numbers, require_run, thread_numbers
from wavewright.model.run import Run

if TYPE_CHECKING:
    import hatchet  # type: ignore[import-untyped,import-not-found,unused-ignore]

_UNKNOWN = "(no call recorded)"
_KINDS = {"dispatches": "kernel", "copies": "copy"}
_CALLS, _NS, _CALLEE_NS, _GPU_NS = range(4)  #: Places in the sums of a path; callees are the regions directly inside.
_METRICS = ("time", "gpu_time", "count", "time (inc)", "gpu_time (inc)")


def to_hatchet(run: Run, *, per_thread: bool = False) -> hatchet.GraphFrame:
    """The call tree of a run as a `hatchet.GraphFrame`.

    A node is a call path: the names of a region and of those around it on its thread, or the name of a kernel or copy
    below the call that launched it (`(no call recorded)` where none is known). Metrics are nanoseconds: `time` spent in
    the region itself and `time (inc)` with what it calls; `gpu_time` of dispatches and copies, and `gpu_time (inc)` of
    all below; and `count`, how often the path was taken. Raises `UsageError` when it is not a run; `MissingToolError`
    when hatchet is not installed.

    Parameters
    ----------
    per_thread
        Whether there is a row for each rank and thread; otherwise threads and processes are added up.
    """
    require_run(run, "hatchet")
    require("hatchet", "hatchet")
    paths = _Paths()
    sums: dict[tuple[int, int, int], list[int]] = {}  # (path, rank, thread) -> sums
    launches = _add_regions(run, paths, sums)
    for table, kind in _KINDS.items():
        _add_work(run, table, kind, launches, paths, sums)
    return _graph_frame(paths, sums, per_thread=per_thread)


@dataclass
class _Paths:
    """Call paths by number: each is a name below another path (-1 = none)."""

    numbers: dict[tuple[int, str, str], int] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)

    def number(self, parent: int, name: str, kind: str) -> int:
        """The path of `name` below `parent`, new or existing."""
        key = (parent, name, kind)
        if key not in self.numbers:
            self.numbers[key] = len(self.parents)
            self.parents.append(parent)
        return self.numbers[key]


def _add_regions(run: Run, paths: _Paths, sums: dict[tuple[int, int, int], list[int]]) -> pl.DataFrame:
    """Add the regions; returns `process`, `correlation`, and `path`, `rank`, `thread` of the last call with both."""
    regions = (
        run.read("regions", ["process", "thread", "name", "start_ns", "end_ns", "correlation"])
        .join(process_numbers(run), on="process", how="left", maintain_order="left")
        .join(thread_numbers(run), on="thread", how="left", maintain_order="left")
        .with_columns(pl.col("name").cast(pl.String).fill_null("?"), pl.col("number").fill_null(0))
        .sort("process", "number", "start_ns", "end_ns", descending=[False, False, False, True], maintain_order=True)
    )
    path_numbers = []
    thread_key: tuple[int, int] | None = None
    stack: list[tuple[int, int, list[int]]] = []  # path, end, sums of the enclosing regions
    rows = regions.select("rank", "number", "name", "start_ns", "end_ns").iter_rows()
    for rank, thread, name, begin, end in rows:
        if thread_key != (rank, thread):
            thread_key, stack = (rank, thread), []
        while stack and stack[-1][1] <= begin:
            stack.pop()
        path = paths.number(stack[-1][0] if stack else -1, name, "region")
        path_numbers.append(path)
        totals = sums.setdefault((path, rank, thread), [0, 0, 0, 0])
        totals[_CALLS] += 1
        totals[_NS] += end - begin
        if stack:
            stack[-1][2][_CALLEE_NS] += min(end, stack[-1][1]) - begin
        stack.append((path, end, totals))
    with_paths = regions.with_columns(path=pl.Series(path_numbers, dtype=pl.Int64))
    return (
        with_paths.filter(pl.col("correlation").is_not_null())
        .unique(["process", "correlation"], keep="last", maintain_order=True)
        .select("process", "correlation", "path", "rank", thread="number")
    )


def _add_work(
    run: Run, table: str, kind: str, launches: pl.DataFrame, paths: _Paths, sums: dict[tuple[int, int, int], list[int]]
) -> None:
    """Add dispatches or copies below the calls that launched them."""
    work = (
        run.read(table, ["process", "correlation", "name", "start_ns", "end_ns"])
        .join(launches, on=["process", "correlation"], how="left")
        .join(process_numbers(run).rename({"rank": "own_rank"}), on="process", how="left")
        .with_columns(
            pl.col("name").cast(pl.String).fill_null("?"),
            pl.coalesce("rank", "own_rank").alias("rank"),
            pl.col("thread").fill_null(0),
        )
        .group_by("path", "rank", "thread", "name")
        .agg(count=pl.len(), ns=(pl.col("end_ns") - pl.col("start_ns")).sum())
        .sort("path", "rank", "thread", "name", nulls_last=True)
    )
    for path, rank, thread, name, count, ns in work.iter_rows():
        parent = paths.number(-1, _UNKNOWN, "region") if path is None else path
        totals = sums.setdefault((paths.number(parent, name, kind), rank, thread), [0, 0, 0, 0])
        totals[_CALLS] += count
        totals[_GPU_NS] += ns


def _graph_frame(paths: _Paths, sums: dict[tuple[int, int, int], list[int]], *, per_thread: bool) -> hatchet.GraphFrame:
    import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

    hatchet_module, node_module = import_module("hatchet"), import_module("hatchet.node")  # which have no types
    frame_module, graph_module = import_module("hatchet.frame"), import_module("hatchet.graph")
    nodes: list[Any] = []
    for parent, name, kind in paths.numbers:
        above = nodes[parent] if parent >= 0 else None
        node = node_module.Node(frame_module.Frame({"name": name, "type": kind}), parent=above)
        if above is not None:
            above.add_child(node)
        nodes.append(node)
    graph = graph_module.Graph([node for node, parent in zip(nodes, paths.parents, strict=True) if parent < 0])
    graph.enumerate_traverse()
    rows = []
    for (rank, thread), totals in sorted(_by_place(sums, per_thread=per_thread).items()):
        for node, values in zip(nodes, _with_inclusive(paths, totals), strict=True):
            rows.append((node._hatchet_nid, rank, thread, node, node.frame["name"], node.frame["type"], *values))
    rows.sort(key=itemgetter(0, 1, 2))  # Hatchet's own order: sorting takes Hatchet much longer
    columns = ["nid", "rank", "thread", "node", "name", "type", *_METRICS]
    index = ["node", "rank", "thread"] if per_thread else ["node"]
    left_out = {"nid", "rank", "thread"} - set(index)
    frame = pd.DataFrame(rows, columns=columns).drop(columns=sorted(left_out)).set_index(index)
    return hatchet_module.GraphFrame(graph, frame, exc_metrics=list(_METRICS[:3]), inc_metrics=list(_METRICS[3:]))


_PathSums = list[tuple[int, list[int]]]


def _by_place(sums: dict[tuple[int, int, int], list[int]], *, per_thread: bool) -> dict[tuple[int, int], _PathSums]:
    """Paths with their sums by rank and thread, or all together."""
    places: dict[tuple[int, int], _PathSums] = {}
    for (path, rank, thread), values in sums.items():
        places.setdefault((rank, thread) if per_thread else (0, 0), []).append((path, values))
    return places


def _with_inclusive(paths: _Paths, totals: _PathSums) -> list[list[int]]:
    """The metrics of each path; parents come before children."""
    values = [[0, 0, 0, 0, 0] for _ in paths.parents]
    for path, (count, inside, within, gpu) in totals:
        for at, value in enumerate((inside - within, gpu, count, inside, gpu)):
            values[path][at] += value
    for path in range(len(values) - 1, -1, -1):
        parent = paths.parents[path]
        if parent >= 0:
            values[parent][4] += values[path][4]
    return values
