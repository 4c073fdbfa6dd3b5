"""GPU work of replayed graphs in a call tree: below each launch, the calls in which its graph was captured.

A launch says nothing of the operators whose kernels it runs; the record of the capture does:

    step                        step
    └── hipGraphLaunch    ->    └── hipGraphLaunch    stays, or gives its time to its parent
                                    └── forward       captured calls: recorded once, before the first replay;
                                        └── aten::mm  with the GPU work of all replays

A `slot` is the number of a launch, its `place` the node of the tree that gets the captured calls; null = no node.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.measures.trees import SUMS
from wavewright.model.run import Run

COLUMNS = ("graph_call", "parent_call", "graph", "name", "domain")


@dataclass(frozen=True, eq=False, repr=False)
class GraphWork:
    """Work of replays whose captured calls are known, by launch."""

    calls: pl.DataFrame  #: The table `graph_calls`: `COLUMNS`, and those that questions read.
    work: pl.DataFrame  #: `slot`, `graph_call`, `ns`, `count`, `begin`, `end`.

    @property
    def slots(self) -> pl.Series:
        """The launches that have any."""
        return self.work["slot"].unique()


def graph_work(run: Run, work: pl.DataFrame, columns: tuple[str, ...]) -> GraphWork:
    """The work of replays among all GPU work (`call_trees.gpu_times`) with the `slot` of its launch."""
    rows = work.drop_nulls(["slot", "graph_call"])
    times = {"begin": pl.col("begin").min(), "end": pl.col("end").max(), "ns": pl.col("length").sum()}
    sums = rows.group_by("slot", "graph_call").agg(**times, count=pl.len().cast(pl.Int64))
    names = list(dict.fromkeys((*COLUMNS, *columns)))
    return GraphWork(run.read("graph_calls", names) if sums.height else pl.DataFrame(), sums)


def with_graphs(
    tree: pl.DataFrame,
    launches: pl.DataFrame,
    graphs: GraphWork,
    texts: pl.DataFrame,
    is_node: pl.Series | None,
    *,
    is_single: bool,
) -> pl.DataFrame:
    """The tree with the captured calls below the launches: `node`, `slot` and whether they stay nodes (`is_node`).

    `texts` are `name` and `domain` of every captured call, `is_node` says which become nodes (None = all). Launches of
    one name share the nodes below them, unless every node is a single region (`is_single`). Captured calls have no CPU
    time.
    """
    if not launches.height:
        return tree
    tree, place_of_slot = _without_launches(tree, launches, is_single=is_single)
    calls = graphs.calls.select("graph", "parent_call", call="graph_call")
    nearest = calls.select("call", graph_call="call")
    if is_node is not None:
        calls, nearest = _only_nodes(calls, is_node)
    work = graphs.work.join(place_of_slot, on="slot").join(nearest, on="graph_call", how="left")
    tree = _with_work(tree, work.filter(pl.col("call").is_null()))
    work_of_calls = work.drop_nulls("call")
    if work_of_calls.height:
        tree = pl.concat([tree, _as_nodes(_sums_of_calls(work_of_calls, calls), tree, texts)])
    return _numbered_by_row(tree)


def _without_launches(
    tree: pl.DataFrame, launches: pl.DataFrame, *, is_single: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tree without launches that stay no nodes, whose time is their parent's; and the `place` of each `slot`."""
    rows = launches.join(tree.select("node", "parent", "name", "self_ns"), on="node")
    node = pl.col("node") if is_single else pl.col("node").min().over("parent", "name")
    place = pl.when("is_node").then(node).otherwise("parent")
    place_of_slot = rows.select("slot", place=pl.when(place >= 0).then(place))
    former_nodes = rows.filter(~pl.col("is_node"))
    inherited = former_nodes.group_by(node="parent").agg(more_ns=pl.col("self_ns").sum())
    tree = tree.filter(~pl.col("node").is_in(former_nodes["node"].implode()))
    tree = tree.join(inherited, on="node", how="left", maintain_order="left")
    return tree.with_columns(self_ns=pl.col("self_ns") + pl.col("more_ns").fill_null(0)).drop("more_ns"), place_of_slot


def _only_nodes(calls: pl.DataFrame, is_node: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The captured calls that are nodes, below one another; and the nearest `call` of these, itself or above, of every
    `graph_call`."""
    rows = calls.with_columns(is_node=is_node)
    itself = pl.when("is_node").then("call")
    nearest = rows.select(graph_call="call", call=itself, above="parent_call")
    of_above = rows.select(above="call", call_above=itself, next_above="parent_call")
    while True:  # one call further up each time, where no node was met
        is_open = pl.col("call").is_null() & pl.col("above").is_not_null()
        if not nearest.select(is_open.any()).item():
            break
        call, above = pl.when(is_open).then("call_above").otherwise("call"), pl.when(is_open).then("next_above")
        nearest = nearest.join(of_above, on="above", how="left", maintain_order="left")
        nearest = nearest.select("graph_call", call=call, above=above)
    nearest = nearest.select("graph_call", "call")
    parents = nearest.rename({"graph_call": "parent_call", "call": "parent"})
    nodes = rows.filter("is_node").join(parents, on="parent_call", how="left", maintain_order="left")
    return nodes.select("graph", "call", parent_call="parent"), nearest


def _with_work(tree: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """The tree with work that belongs to the places themselves."""
    sums = work.group_by(node="place").agg(pl.col("ns", "count").sum())
    rows = tree.join(sums, on="node", how="left", maintain_order="left")
    return rows.with_columns(
        gpu_ns=pl.col("gpu_ns") + pl.col("ns").fill_null(0),
        gpu_count=pl.col("gpu_count") + pl.col("count").fill_null(0),
    ).drop("ns", "count")


def _sums_of_calls(work: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Each captured call with work of its own or below it, per place: its parent, its own work, and how often its graph
    was launched there."""
    parents, graph_of = calls.select("call", "parent_call"), calls.select("call", "graph")
    own_work = work.group_by("place", "call").agg(pl.col("ns", "count").sum())
    replays = work.join(graph_of, on="call").group_by("place", "graph")
    counts = replays.agg(replayed_count=pl.col("slot").n_unique().cast(pl.Int64))
    rows = _lengths(work, parents).join(parents, on="call", how="left").sort("place", "call", nulls_last=True)
    rows = rows.join(own_work, on=["place", "call"], how="left", nulls_equal=True, maintain_order="left")
    rows = rows.join(graph_of, on="call", how="left", maintain_order="left")
    return rows.join(counts, on=["place", "graph"], how="left", nulls_equal=True, maintain_order="left")


def _lengths(work: pl.DataFrame, parents: pl.DataFrame) -> pl.DataFrame:
    """`gpu_length_ns` per place and call: first start to last end of all work below it, summed over the launches."""
    key, first_to_last = ["place", "slot", "call"], [pl.col("begin").min(), pl.col("end").max()]
    levels = [work.group_by(key).agg(first_to_last)]
    while levels[-1].height:  # from the calls that launched up to the outermost
        above = levels[-1].join(parents, on="call").drop_nulls("parent_call").drop("call")
        levels.append(above.rename({"parent_call": "call"}).group_by(key).agg(first_to_last))
    per_launch = pl.concat(levels).group_by(key).agg(first_to_last)
    return per_launch.group_by("place", "call").agg(gpu_length_ns=(pl.col("end") - pl.col("begin")).sum())


def _as_nodes(sums: pl.DataFrame, tree: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Captured calls (`_sums_of_calls`) as nodes that continue the tree."""
    highest = tree["node"].max()
    first = 0 if highest is None else int(highest) + 1  # type: ignore[arg-type]
    rows = sums.with_columns(node=pl.int_range(first, first + pl.len()))
    parents = rows.select("place", parent_call="call", call_above="node")
    rows = rows.join(parents, on=["place", "parent_call"], how="left", nulls_equal=True, maintain_order="left")
    rows = rows.with_columns(parent=pl.coalesce("call_above", "place", pl.lit(-1)).cast(pl.Int64))
    rows = _with_depths(rows, tree).with_columns(texts[rows["call"]].get_columns())
    values = {
        "call_count": pl.col("replayed_count"),
        "replayed_count": pl.col("replayed_count"),
        "gpu_count": pl.col("count").fill_null(0),
        "gpu_ns": pl.col("ns").fill_null(0),
        "gpu_length_ns": pl.col("gpu_length_ns"),
    }
    times = dict.fromkeys(("min_ns", "max_ns"), pl.lit(None, pl.Int64))  # of the CPU: none
    columns = {name: values.get(name, pl.lit(0, pl.Int64)) for name in SUMS}
    return rows.with_columns(**columns, **times).select(tree.columns).cast(tree.schema)


def _with_depths(rows: pl.DataFrame, tree: pl.DataFrame) -> pl.DataFrame:
    """The new nodes with their `depth`: one more than their place, or than the captured call above them."""
    places = tree.select(place="node", place_depth="depth").cast({"place": rows["place"].dtype})
    rows = rows.join(places, on="place", how="left", maintain_order="left")
    is_outermost = pl.col("call_above").is_null()
    rows = rows.with_columns(depth=pl.when(is_outermost).then(pl.col("place_depth").fill_null(-1) + 1))
    while rows["depth"].null_count():  # one level further down each time
        above = rows.select(call_above="node", depth_above="depth").drop_nulls()
        rows = rows.join(above, on="call_above", how="left", maintain_order="left")
        rows = rows.with_columns(depth=pl.coalesce("depth", pl.col("depth_above") + 1)).drop("depth_above")
    return rows


def _numbered_by_row(tree: pl.DataFrame) -> pl.DataFrame:
    """The tree with rows as numbers of nodes: where some are missing, `side_by_side` would use numbers twice."""
    rows = tree.select(parent="node", row=pl.int_range(pl.len()))
    parents = tree.select("parent").join(rows, on="parent", how="left", maintain_order="left")["row"]
    return tree.with_columns(rows["row"].alias("node"), parents.fill_null(-1).alias("parent"))
