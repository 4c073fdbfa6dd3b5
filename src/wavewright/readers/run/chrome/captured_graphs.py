"""Graphs that a Chrome trace saw being captured: their nodes in order, and the regions around each node.

A call between `*StreamBeginCapture` and `*StreamEndCapture` issues no GPU work: it becomes a node of a graph. When the
graph is replayed, its GPU work has the correlation of the one `*GraphLaunch`, and nothing of what is recorded here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from wavewright import _core

CHILD = "\0child"  #: Name of a node that is a graph itself.
LAYER = "nn.Module: "
_NONE = (1 << 32) - 1  # no launch: the value the native core uses
_KEY = ["process", "correlation"]
_SIZE_IN_NAME = re.compile(r"\bbs_(\d{1,9})_")  #: SGLang and ATOM: `bs_32_rank0.json.gz`.
_SIZE_IN_MARKER = r"^capture_(\d{1,9})_"  #: vLLM, SGLang: `capture_8192_PIECEWISE`.
_CALL = ("category", "domain", "name", "function", "event_properties")
_SIZES = [f"{size}_{axis}" for size in ("grid", "block") for axis in "xyz"]
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
    nodes = candidates.sort("start_ns", "row").join_asof(
        windows.sort("from_ns"), left_on="start_ns", right_on="from_ns", by="process", check_sortedness=False
    )
    nodes = nodes.filter(pl.col("start_ns") <= pl.col("to_ns")).sort("graph", "start_ns", "row")
    nodes = nodes.with_columns(node=pl.int_range(pl.len()).over("graph"))
    chains, leaves = _chains(regions, nodes, windows)
    in_name = _SIZE_IN_NAME.search(path.name)
    size = pl.coalesce(_sizes(regions, windows), pl.lit(int(in_name[1]) if in_name else None, pl.Int64))
    return CapturedGraphs(
        path=path,
        rank=rank,
        graphs=windows.select("graph", size=size).sort("graph"),
        nodes=nodes.with_columns(call=leaves).select("graph", "node", "call", *_SIZES, name="node_name"),
        calls=chains,
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
    name = pl.col("name").cast(pl.String)
    kernel = pl.when(pl.col("args").str.contains('"kernel"', literal=True)).then(
        pl.col("args").str.json_path_match("$.kernel")
    )
    return (
        pl.when(name.str.contains("HostFunc", literal=True))
        .then(None)
        .when(name.str.contains("GraphLaunch|AddChildGraphNode"))
        .then(pl.lit(CHILD))
        .when(kernel.is_not_null())
        .then(replayed_name(kernel))
        .when(name.str.contains("Memcpy", literal=True))
        .then(pl.lit("copy"))
        .when(name.str.contains("Memset", literal=True))
        .then(pl.lit("set"))
    )


def _windows(calls: pl.DataFrame) -> pl.DataFrame:
    """`graph`, `process`, `thread`, `from_ns`, `to_ns` of captures: from one call to the next on its thread."""
    name = pl.col("name").cast(pl.String)
    is_begin = name.str.contains("StreamBeginCapture", literal=True)
    edges = calls.with_columns(is_begin=is_begin).filter(is_begin | name.str.contains("StreamEndCapture", literal=True))
    edges = edges.sort("process", "thread", "start_ns")
    by = ["process", "thread"]
    pairs = edges.with_columns(
        to_ns=pl.col("start_ns").shift(-1).over(by), is_next_begin=pl.col("is_begin").shift(-1).over(by)
    ).filter(pl.col("is_begin") & ~pl.col("is_next_begin"))
    windows = pairs.select(*by, "start_ns", "to_ns", from_ns="end_ns").sort("start_ns").drop("start_ns")
    return windows.with_row_index("graph").with_columns(pl.col("graph").cast(pl.Int64))


def _sizes(regions: pl.DataFrame, windows: pl.DataFrame) -> pl.Series:
    """The size of the batch that each capture is for, by the marker around it."""
    marks = regions.filter(pl.col("domain").cast(pl.String) == "MARKER").select(
        "process", "start_ns", "end_ns", size=pl.col("name").cast(pl.String).str.extract(_SIZE_IN_MARKER, 1)
    )
    marks = marks.drop_nulls("size").with_columns(pl.col("size").cast(pl.Int64)).sort("start_ns")
    sizes = windows.sort("from_ns").join_asof(
        marks, left_on="from_ns", right_on="start_ns", by="process", check_sortedness=False
    )
    size = pl.when(pl.col("end_ns") >= pl.col("to_ns")).then("size")
    return sizes.with_columns(size=size).sort("graph")["size"]


def _chains(regions: pl.DataFrame, nodes: pl.DataFrame, windows: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The regions around nodes, per graph, as `CapturedGraphs.calls`; and the call of each node."""
    threads = nodes["thread"].unique()
    # A region that begins after the end of the last capture is around no node.
    rows = regions.with_row_index("row").filter(
        pl.col("thread").is_in(threads.implode()) & (pl.col("start_ns") <= windows["to_ns"].max())
    )
    rank = pl.col("domain").cast(pl.String).replace_strict(_ORDER, default=2, return_dtype=pl.Int8)
    rows = rows.sort("thread", "start_ns", "end_ns", rank, descending=[False, False, True, False])
    places = pl.int_range(rows.height, dtype=pl.UInt32, eager=True)
    nothing = pl.DataFrame(schema=dict.fromkeys(("ns", "count", "begin", "end"), pl.Int64))
    launch = pl.repeat(_NONE, rows.height, dtype=pl.UInt32, eager=True)
    thread = rows["thread"].cast(pl.UInt32)
    tree = pl.DataFrame(_core.call_tree(thread, rows["start_ns"], rows["end_ns"], places, launch, nothing))
    place_of_node = tree["name"].cast(pl.Int64)  # `places` stand for names
    parent = pl.select(pl.when(tree["parent"] >= 0).then(tree["parent"])).to_series()
    parents = pl.DataFrame({"place": place_of_node, "parent": place_of_node.gather(parent)})
    rows = rows.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    leaf = nodes.select("graph", "row", "node").join(rows.select("row", "place"), on="row", maintain_order="left")
    level = leaf.select("graph", "place").unique()
    levels = [level.join(parents, on="place")]
    while level.height:
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
    parents = numbers.rename({"place": "parent", "call": "parent_call"})
    calls = around.join(parents, on=["graph", "parent"], how="left", maintain_order="left")
    calls = calls.select("call", "graph", "is_outer", *_CALL, parent="parent_call")
    return calls, leaf.join(numbers, on=["graph", "place"], how="left", maintain_order="left")["call"]


def _without(calls: pl.DataFrame, is_dropped: pl.Expr) -> pl.DataFrame:
    """The calls without those that `is_dropped` selects; their children move below the next remaining call."""
    rows = calls.with_columns(is_dropped=is_dropped)
    on = ["graph", "parent"]
    holes = rows.filter("is_dropped").select("graph", parent="place", next="parent", is_below=True)
    while True:
        step = rows.join(holes, on=on, how="left", maintain_order="left")
        if not step["is_below"].any():
            return rows.filter(~pl.col("is_dropped")).drop("is_dropped")
        parent = pl.when("is_below").then("next").otherwise("parent")
        rows = step.with_columns(parent=parent).drop("next", "is_below")
