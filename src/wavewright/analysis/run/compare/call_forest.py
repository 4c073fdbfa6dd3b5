"""Launchers of GPU work as trees: processes, threads, their operators, markers and modules, and launches of graphs.

Times of the CPU are not in it: those of a capture, and of another machine, are no measure of a replay.

Names of nodes of `call_tree` are labels here: the name of a region and its shapes, or the kernel of a launch, marked by
`_KERNEL_MARK`. `_with_texts` takes them apart, `_below_threads` puts the trees of threads below their processes, and
`_ordered` numbers the nodes as they are in the table `NODES`: depth first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from wavewright.analysis.run.calls.call_trees import Nodes, call_tree
from wavewright.analysis.run.calls.launches import Launches, work_rows
from wavewright.analysis.run.contents.batches import ADDRESS
from wavewright.analysis.run.measures.trees import LAYER
from wavewright.model.schema import empty_frame, packaged_spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wavewright.model.run import Run

    Ints = NDArray[np.int64]

_SHAPES_MARK, _KERNEL_MARK = "\x1f", "\x1e"  #: Between name and shapes in a label; before the name of a kernel.
_NO_LAUNCH = (1 << 32) - 1  #: The value that the native core uses.
_OPERATOR, _MARKER = "OPERATOR", "MARKER"
_BACKWARD = "autograd::engine"  #: Begin of names on the thread on which PyTorch runs the backward pass.
#: Numbers in names that differ between runs of one program: of addresses, lines, modules and calls.
_OWN_NUMBERS = (
    (ADDRESS, "0x*"),
    (r"\.py\(\d+\)", ".py"),
    (rf"^({LAYER}.*)_\d+$", "${1}"),
    (r"^(sglang_profiler::.*)_\d+$", "${1}"),
    (r"^(## Call CompiledFxGraph) \S+", "${1} *"),
)
NODES, WORK = packaged_spec(__package__, "forest_nodes"), packaged_spec(__package__, "forest_work")


@dataclass(frozen=True)
class CallForest:
    """The trees of one run, of processes in the order of their ranks; those without GPU work are left out."""

    nodes: pl.DataFrame  #: See `NODES`.
    work: pl.DataFrame  #: See `WORK`.
    unlinked_ns: int = 0  #: GPU time whose launch is not recorded.
    unlinked_count: int = 0


def call_forest(run: Run) -> CallForest:
    """The trees of one run; none where it has neither operators nor markers."""
    is_named = pl.col("domain").cast(pl.String).is_in([_OPERATOR, _MARKER]).any()
    if not any(piece.select(is_named).item() for piece in run.chunks("regions", ["domain"])):
        return CallForest(empty_frame(NODES), empty_frame(WORK))
    launches = _Launched(run)
    calls = call_tree(run, Nodes(("event_properties",), launches.is_node, launches.label))
    tree = calls.tree
    parent, depth = tree["parent"].to_numpy(), tree["depth"].to_numpy()
    gpu_count_below = tree["gpu_count"].to_numpy().copy()
    for level in reversed(levels(depth)[1:]):
        np.add.at(gpu_count_below, parent[level], gpu_count_below[level])
    thread = pl.Series([thread for thread, height in calls.heights for _ in range(height)], dtype=pl.UInt32)
    work_tree = tree.with_columns(thread=thread.gather(_roots(parent, depth))).filter(gpu_count_below > 0)
    work_tree = _with_texts(work_tree)
    node = pl.when("is_kernel").then("parent").otherwise("node").alias("node")
    work = work_tree.filter(pl.col("gpu_count") > 0).select(node, "thread", "text", "gpu_count", "gpu_ns")
    nodes = work_tree.filter(~pl.col("is_kernel")).select("node", "parent", "text", "shapes", "domain", "thread")
    nodes, work = _ordered(*_below_threads(run, nodes, work))
    return CallForest(nodes, work, calls.unlinked_gpu_ns, launches.count - int(work["gpu_count"].sum()))


def levels(depth: Ints) -> list[Ints]:
    """The places of nodes of each depth, from the top."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1]) if len(depth) else []


def _roots(parent: Ints, depth: Ints) -> Ints:
    """The root above each node."""
    root = np.arange(len(parent))
    for level in levels(depth)[1:]:
        root[level] = root[parent[level]]
    return root


class _Launched:
    """Launches as nodes below what launched, labelled with the kernel that they launched; none if several kernels.

    `is_node` and `label` get chunks of regions, which have their `launch` (a slot), and captured calls of replayed
    graphs, which have their `graph_call` instead.
    """

    def __init__(self, run: Run) -> None:
        work = work_rows(run, ["process", "correlation", "graph_call", "name"])
        slots = Launches(work).slots_of(work)  # numbered as `call_tree` numbers them
        self.count = work.height
        of_graph = pl.col("graph_call").is_not_null()
        rows = work.select(pl.col("name").cast(pl.String).fill_null("?"), "graph_call").with_columns(launch=slots)
        only_name = pl.when(pl.col("name").n_unique() == 1).then(pl.col("name").first())
        self._by_launch = rows.filter(~of_graph).drop_nulls("launch").group_by("launch").agg(kernel=only_name)
        self._by_graph_call = rows.filter(of_graph).group_by("graph_call").agg(kernel=only_name)

    def _kernels(self, piece: pl.DataFrame) -> pl.Series:
        """The kernel of each row; null = it launched none, or several."""
        is_captured = "graph_call" in piece.columns
        kernels, key = (self._by_graph_call, "graph_call") if is_captured else (self._by_launch, "launch")
        keys = piece.select(pl.col(key).cast(kernels[key].dtype))
        return keys.join(kernels, on=key, how="left", maintain_order="left")["kernel"]

    def is_node(self, piece: pl.DataFrame) -> pl.Expr:
        """True for operators, markers, modules, and what launched."""
        values = piece["name"].unique().cast(pl.String).drop_nulls()
        modules = values.filter(values.str.starts_with(LAYER)).cast(pl.Categorical)
        is_named = pl.col("domain").cast(pl.String).is_in([_OPERATOR, _MARKER])
        is_named |= pl.col("name").is_in(modules.implode())
        if "graph_call" in piece.columns:
            return is_named | pl.col("graph_call").is_in(self._by_graph_call["graph_call"].implode())
        return is_named | (pl.col("launch") != _NO_LAUNCH)

    def label(self, piece: pl.DataFrame) -> pl.Expr:
        """The kernel that was launched; else name and shapes."""
        kernels = self._kernels(piece)
        shapes = pl.col("event_properties").str.json_path_match("$['Input Dims']").fill_null("")
        name = pl.concat_str([pl.col("name").cast(pl.String).fill_null("?"), shapes], separator=_SHAPES_MARK)
        kernel = _KERNEL_MARK + pl.lit(kernels)
        return pl.when(kernel.is_null()).then(name).otherwise(kernel).cast(pl.Categorical)


def _with_texts(tree: pl.DataFrame) -> pl.DataFrame:
    """The nodes with what their labels say: `text`, `shapes`, `is_kernel`."""
    labels = tree.select(label=pl.col("name").unique()).with_columns(text=pl.col("label").cast(pl.String))
    parts = pl.col("text").str.splitn(_SHAPES_MARK, 2).struct
    texts = labels.select(
        name="label",
        text=parts.field("field_0").str.strip_prefix(_KERNEL_MARK),
        shapes=parts.field("field_1"),
        is_kernel=pl.col("text").str.starts_with(_KERNEL_MARK),
    )
    return tree.join(texts, on="name", how="left", maintain_order="left")


def _below_threads(run: Run, nodes: pl.DataFrame, work: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The nodes below their threads, and these below their processes; work of no node is that of its thread."""
    named_nodes, threads = _named(nodes), _threads(run, nodes, work)
    first_new = int(named_nodes["node"].max() or 0) + 1  # type: ignore[arg-type]
    processes = threads.select("process", "rank").unique(maintain_order=True)
    processes = processes.with_columns(process_node=pl.int_range(pl.len()) + first_new)
    process_nodes = processes.select(
        node="process_node",
        parent=pl.lit(-1, pl.Int64),
        name=pl.coalesce(pl.concat_str(pl.lit("rank "), "rank"), pl.lit("process")),
    )
    threads = threads.join(processes.drop("rank"), on="process", how="left", nulls_equal=True, maintain_order="left")
    threads = threads.with_columns(thread_node=pl.int_range(pl.len()) + first_new + processes.height)
    thread_nodes = threads.select("name", node="thread_node", parent="process_node")
    node_of_thread = threads.select("thread", "thread_node")
    named_nodes, work = (
        frame.join(node_of_thread, on="thread", how="left", nulls_equal=True, maintain_order="left")
        for frame in (named_nodes, work)
    )
    parent = pl.when(pl.col("parent") < 0).then("thread_node").otherwise("parent")
    named_nodes = named_nodes.with_columns(parent=parent).drop("thread_node", "thread")
    all_nodes = pl.concat([named_nodes, thread_nodes, process_nodes], how="diagonal")
    node = pl.when(pl.col("node") < 0).then("thread_node").otherwise("node")
    work = work.select("gpu_count", "gpu_ns", node=node, name="text")
    return all_nodes.with_columns(pl.col("is_wrapper").fill_null(value=False)), work


def _named(nodes: pl.DataFrame) -> pl.DataFrame:
    """The nodes with names that are equal in all runs of one program."""
    is_marker, is_operator = (pl.col("domain").cast(pl.String) == domain for domain in (_MARKER, _OPERATOR))
    name = pl.col("text")
    for pattern, replacement in _OWN_NUMBERS:
        name = name.str.replace_all(pattern, replacement)
    return nodes.select(
        pl.col("node").cast(pl.Int64),
        "parent",
        "thread",
        name=pl.when(is_marker).then(name.str.replace_all(r"\d+", "*")).otherwise(name),
        shapes=pl.when(is_operator & (pl.col("shapes") != "")).then("shapes"),
        is_wrapper=~is_operator,
    )


def _threads(run: Run, nodes: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """The threads with GPU work, by process and by that time, with their `name`: what they do and a number."""
    processes = run.read("processes", ["process", "rank", "pid"])
    places = run.read("threads", ["thread", "process"]).join(processes, on="process")
    backward = nodes.group_by("thread").agg(is_backward=pl.col("text").str.starts_with(_BACKWARD).any())
    threads = work.group_by("thread").agg(ns=pl.col("gpu_ns").sum()).join(places, on="thread", how="left")
    threads = threads.join(backward, on="thread", how="left", nulls_equal=True)
    threads = threads.sort("rank", "pid", "process", "is_backward", -pl.col("ns"), "thread", nulls_last=True)
    role = pl.when("is_backward").then(pl.lit("backward thread ")).otherwise(pl.lit("thread "))
    number = pl.int_range(pl.len()).over("process", "is_backward") + 1
    return threads.with_columns(name=pl.concat_str(role, number))


def _ordered(nodes: pl.DataFrame, work: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The nodes with each before those below it, in the order of calls, and the work in theirs.

    The place of a node is one after that of its parent, plus the sizes of the trees of its earlier siblings.
    """
    nodes = nodes.sort("node")
    number = pl.DataFrame({"node": nodes["node"]}).with_row_index("number").cast(pl.Int64)
    parents = nodes.select(node="parent").join(number, on="node", how="left", maintain_order="left")["number"]
    parent = parents.fill_null(-1).to_numpy()
    depth = _depths(parent)
    size = np.ones(len(parent), dtype=np.int64)
    all_levels = levels(depth)
    for level in reversed(all_levels[1:]):
        np.add.at(size, parent[level], size[level])
    place = np.zeros(len(parent), dtype=np.int64)
    for level in all_levels:
        siblings = level[np.argsort(parent[level], kind="stable")]
        above = parent[siblings]
        size_before = np.cumsum(size[siblings]) - size[siblings]
        first_sibling = np.searchsorted(above, above)
        first_place = np.where(above < 0, 0, place[above] + 1)
        place[siblings] = first_place + size_before - size_before[first_sibling]
    order = np.argsort(place)
    parent_place = np.where(parent < 0, -1, place[parent])
    columns = {"parent": parent_place, "size": size, "depth": depth}
    rows = nodes[order].with_columns(**{name: pl.Series(values[order]) for name, values in columns.items()})
    places = number.with_columns(place=pl.Series(place))
    place_of_work = work.select("node").join(places, on="node", how="left", maintain_order="left")["place"]
    work = work.with_columns(node=place_of_work).sort("node", maintain_order=True)
    return rows.select(NODES.casts), work.select(WORK.casts)


def _depths(parent: Ints) -> Ints:
    """The depth of each node, by steps to its root that double."""
    depth, above = (parent >= 0).astype(np.int64), parent.copy()
    while (above >= 0).any():
        is_open = above >= 0
        depth[is_open] += depth[above[is_open]]
        above[is_open] = above[above[is_open]]
    return depth
