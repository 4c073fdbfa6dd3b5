"""Graphs that a Chrome trace saw being captured: their nodes in order, and the regions around each node.

A call between `*StreamBeginCapture` and `*StreamEndCapture` issues no GPU work: it becomes a node of a graph. When the
graph is replayed, its GPU work has the correlation of the one `*GraphLaunch`, and nothing of what is recorded here;
`joined_graphs` brings both together. A capture is the *window* between those two calls of a thread (`_windows`), a node
a call in it (`_node_name`), and the `calls` of a graph are the regions open around its nodes (`_calls_around`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.readers.run.chrome.events import SIZES

CHILD = "\0child"  #: Name of a node that is a graph itself.
LAYER = "nn.Module: "  #: How PyTorch begins the name of a region of a module.
_NO_LAUNCH = (1 << 32) - 1  #: The value that the native core uses.
_KEY = ["process", "correlation"]
_SIZE_IN_NAME = re.compile(r"\bbs_(\d{1,9})_")  #: SGLang and ATOM: `bs_32_rank0.json.gz`.
_SIZE_IN_MARKER = r"^capture_(\d{1,9})_"  #: vLLM, SGLang: `capture_8192_PIECEWISE`.
_CALL = ("category", "domain", "name", "function", "event_properties")
_ORDER = {"MARKER": 0, "PYTHON": 1, "OPERATOR": 2, "HIP": 3}  #: Of regions with the same times, outermost first.


@dataclass(frozen=True)
class CapturedGraphs:
    """The graphs of one file."""

    path: Path
    rank: int | None
    graphs: pl.DataFrame  #: `graph` (in order of time), `size` (of the batch it is for; null = not told).
    nodes: pl.DataFrame  #: `graph`, `node` (its place), `name`, `call` (row below), sizes of grid and block.
    calls: pl.DataFrame  #: `call`, `graph`, `parent`, `is_outer` (around the whole capture), and columns of regions.


def captured_graphs(kinds: dict[str, pl.DataFrame], path: Path, rank: int | None) -> CapturedGraphs | None:
    """The graphs that were captured in a file; None = none."""
    regions = kinds["regions"]
    calls = regions.with_row_index("row").filter(pl.col("domain").cast(pl.String) == "HIP")
    windows = _windows(calls)
    if not windows.height:
        return None
    work = pl.concat([kinds[name].select(_KEY) for name in ("dispatches", "copies")]).drop_nulls().unique()
    candidates = calls.join(work, on=_KEY, how="anti").with_columns(node_name=_node_name()).drop_nulls("node_name")
    starts = windows.sort("from_ns").with_columns(start_ns="from_ns")
    nodes = candidates.sort("start_ns", "row").join_asof(starts, on="start_ns", by="process", check_sortedness=False)
    nodes = nodes.filter(pl.col("start_ns") <= pl.col("to_ns")).sort("graph", "start_ns", "row")
    nodes = nodes.with_columns(node=pl.int_range(pl.len()).over("graph"))
    calls_around, call_of_node = _calls_around(regions, nodes, windows)
    match = _SIZE_IN_NAME.search(path.name)  # the name of the file counts where a capture has no marker
    size = pl.coalesce(_sizes(regions, windows), pl.lit(int(match[1]) if match else None, pl.Int64))
    return CapturedGraphs(
        path=path,
        rank=rank,
        graphs=windows.select("graph", size=size).sort("graph"),
        nodes=nodes.with_columns(call=call_of_node).select("graph", "node", "call", *SIZES, name="node_name"),
        calls=calls_around,
    )


def graph_launches(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls that replay a graph, among all calls."""
    names = calls["name"].unique().cast(pl.String).drop_nulls()
    launches = names.filter(names.str.contains(r"GraphLaunch(_.*)?$")).cast(pl.Categorical)
    return calls.filter(pl.col("name").is_in(launches.implode()) & (pl.col("domain").cast(pl.String) == "HIP"))


def replayed_name(name: pl.Expr) -> pl.Expr:
    """The name of a node, for GPU work or the kernel of a call: runtimes set and copy memory by own kernels."""
    is_set, is_copy = name.str.contains("fillBuffer", literal=True), name.str.contains("copyBuffer", literal=True)
    return pl.when(is_set).then(pl.lit("set")).when(is_copy).then(pl.lit("copy")).otherwise(name)


def _node_name() -> pl.Expr:
    """The name of the node that a call becomes: of its kernel, `copy`, `set` or `CHILD`; null = it becomes none."""
    name, args = pl.col("name").cast(pl.String), pl.col("args")
    has_kernel = args.str.contains('"kernel"', literal=True)
    child = pl.when(name.str.contains("GraphLaunch|AddChildGraphNode")).then(pl.lit(CHILD))
    kernel = replayed_name(pl.when(has_kernel).then(args.str.json_path_match("$.kernel")))
    copy = pl.when(name.str.contains("Memcpy", literal=True)).then(pl.lit("copy"))
    memset = pl.when(name.str.contains("Memset", literal=True)).then(pl.lit("set"))
    is_of_host = name.str.contains("HostFunc", literal=True).fill_null(value=False)
    return pl.when(~is_of_host).then(pl.coalesce(child, kernel, copy, memset))


def _windows(calls: pl.DataFrame) -> pl.DataFrame:
    """`graph`, `process`, `thread`, `from_ns`, `to_ns` of captures: from one call to the next on its thread."""
    name = pl.col("name").cast(pl.String)
    is_begin = name.str.contains("StreamBeginCapture", literal=True)
    edges = calls.with_columns(is_begin=is_begin).filter(is_begin | name.str.contains("StreamEndCapture", literal=True))
    edges = edges.sort("process", "thread", "start_ns")
    by = ["process", "thread"]
    next_ns, is_next_begin = (pl.col(name).shift(-1).over(by) for name in ("start_ns", "is_begin"))
    pairs = edges.with_columns(to_ns=next_ns).filter(pl.col("is_begin") & ~is_next_begin)
    windows = pairs.select(*by, "start_ns", "to_ns", from_ns="end_ns").sort("start_ns").drop("start_ns")
    return windows.with_row_index("graph").with_columns(pl.col("graph").cast(pl.Int64))


def _sizes(regions: pl.DataFrame, windows: pl.DataFrame) -> pl.Series:
    """The size of the batch that each capture is for, by the marker around it."""
    size = pl.col("name").cast(pl.String).str.extract(_SIZE_IN_MARKER, 1)
    markers = regions.filter(pl.col("domain").cast(pl.String) == "MARKER").select(
        "process", "start_ns", "end_ns", size=size
    )
    markers = markers.drop_nulls("size").with_columns(pl.col("size").cast(pl.Int64)).sort("start_ns")
    sizes = windows.sort("from_ns").join_asof(
        markers, left_on="from_ns", right_on="start_ns", by="process", check_sortedness=False
    )
    size_if_around = pl.when(pl.col("end_ns") >= pl.col("to_ns")).then("size")
    return sizes.with_columns(size=size_if_around).sort("graph")["size"]


def _calls_around(regions: pl.DataFrame, nodes: pl.DataFrame, windows: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The regions around nodes, per graph, as `CapturedGraphs.calls`; and the call of each node.

    Of the regions around a whole capture only modules stay.
    """
    rows, parents = _nested(regions, nodes["thread"].unique(), windows["to_ns"].max())
    own_calls = nodes.select("graph", "row", "node").join(rows.select("row", "place"), on="row", maintain_order="left")
    level = own_calls.select("graph", "place").unique()
    levels = [level.join(parents, on="place")]
    while level.height:  # from the calls of nodes one region further out each time
        level = levels[-1].drop_nulls("parent").select("graph", place="parent").unique()
        levels.append(level.join(parents, on="place"))
    around = pl.concat(levels).unique(["graph", "place"])
    around = around.join(rows.select("place", "start_ns", *_CALL), on="place")
    around = around.join(windows.select("graph", "from_ns"), on="graph")
    is_outer = pl.col("start_ns") < pl.col("from_ns")
    is_layer = pl.col("name").cast(pl.String).str.starts_with(LAYER)
    around = _without(around.with_columns(is_outer=is_outer), is_outer & ~is_layer)
    around = around.sort("graph", "place").with_row_index("call").with_columns(pl.col("call").cast(pl.Int64))
    numbers = around.select("graph", "place", "call")
    numbers_above = numbers.rename({"place": "parent", "call": "parent_call"})
    calls = around.join(numbers_above, on=["graph", "parent"], how="left", maintain_order="left")
    calls = calls.select("call", "graph", "is_outer", *_CALL, parent="parent_call")
    return calls, own_calls.join(numbers, on=["graph", "place"], how="left", maintain_order="left")["call"]


def _nested(regions: pl.DataFrame, threads: pl.Series, last_ns: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The regions of the threads that start up to a time, with their `row` and `place`; and the `parent` of each place.

    A region that starts after the last capture is around no node. The core nests regions of one number into one node:
    with places as numbers, each is a node of its own.
    """
    is_read = pl.col("thread").is_in(threads.implode()) & (pl.col("start_ns") <= last_ns)
    rows = regions.with_row_index("row").filter(is_read)
    order = pl.col("domain").cast(pl.String).replace_strict(_ORDER, default=2, return_dtype=pl.Int8)
    rows = rows.sort("thread", "start_ns", "end_ns", order, descending=[False, False, True, False])
    places = pl.int_range(rows.height, dtype=pl.UInt32, eager=True)
    no_work = pl.DataFrame(schema=dict.fromkeys(("ns", "count", "begin", "end"), pl.Int64))
    launch = pl.repeat(_NO_LAUNCH, rows.height, dtype=pl.UInt32, eager=True)
    thread = rows["thread"].cast(pl.UInt32)
    tree = pl.DataFrame(_core.call_tree(thread, rows["start_ns"], rows["end_ns"], places, launch, no_work))
    place_of_node = tree["name"].cast(pl.Int64)  # the core calls the number of a region its name
    parent = pl.select(pl.when(tree["parent"] >= 0).then(tree["parent"])).to_series()
    parents = pl.DataFrame({"place": place_of_node, "parent": place_of_node.gather(parent)})
    return rows.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64)), parents


def _without(calls: pl.DataFrame, is_dropped: pl.Expr) -> pl.DataFrame:
    """The calls without those that `is_dropped` selects; their children move below the next remaining call."""
    rows = calls.with_columns(is_dropped=is_dropped)
    on = ["graph", "parent"]
    holes = rows.filter("is_dropped").select("graph", parent="place", next="parent", is_below=True)
    while True:  # a dropped parent may have a dropped parent itself
        step = rows.join(holes, on=on, how="left", maintain_order="left")
        if not step["is_below"].any():
            return rows.filter(~pl.col("is_dropped")).drop("is_dropped")
        parent = pl.when("is_below").then("next").otherwise("parent")
        rows = step.with_columns(parent=parent).drop("next", "is_below")
