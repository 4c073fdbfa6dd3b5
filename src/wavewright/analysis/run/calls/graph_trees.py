"""GPU work of replayed graphs below their launches: in the calls in which its nodes were captured."""

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
    work: pl.DataFrame  #: `slot` (number of the launch), `graph_call`, `ns`, `count`, `begin`, `end`.

    @property
    def slots(self) -> pl.Series:
        """The launches that have any."""
        return self.work["slot"].unique()


def graph_work(run: Run, work: pl.DataFrame, columns: tuple[str, ...]) -> GraphWork:
    """The work of replays among all GPU work (`call_trees.gpu_times`) with the `slot` of its launch."""
    rows = work.drop_nulls(["slot", "graph_call"])
    sums = rows.group_by("slot", "graph_call").agg(
        pl.col("begin").min(), pl.col("end").max(), ns=pl.col("length").sum(), count=pl.len().cast(pl.Int64)
    )
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
    """The tree with the captured calls below the launches: `node`, `slot` and whether they are nodes (`is_kept`).

    `texts` are `name` and `domain` of every captured call. Launches of one place in the tree share nodes, unless all
    that are nodes are single ones; a captured call counts as often as its graph was launched there, and has no time of
    the CPU.
    """
    if not launches.height:
        return tree
    tree, above = _without_launches(tree, launches, is_single=is_single)
    nodes_of_graphs = graphs.calls.select("graph_call", "parent_call", "graph")
    leaf = nodes_of_graphs.select("graph_call", at="graph_call")
    if is_node is not None:
        nodes_of_graphs, leaf = _kept(nodes_of_graphs, is_node)
    work = graphs.work.join(above, on="slot").join(leaf, on="graph_call", how="left")
    bare = work.filter(pl.col("at").is_null()).group_by("above").agg(pl.col("ns", "count").sum())
    tree = _with_work(tree, bare)
    linked_work = work.drop_nulls("at")
    if not linked_work.height:
        return tree
    leaves = linked_work.group_by("above", call="at").agg(pl.col("ns", "count").sum())
    graph_of = nodes_of_graphs.select(call="graph_call", graph="graph")
    runs = linked_work.select("above", "slot", call="at").join(graph_of, on="call").group_by("above", "graph")
    counts = runs.agg(call_count=pl.col("slot").n_unique().cast(pl.Int64))
    parents = nodes_of_graphs.select(call="graph_call", parent_call="parent_call")
    place, first_and_last = ["above", "slot", "call"], [pl.col("begin").min(), pl.col("end").max()]
    levels = [linked_work.rename({"at": "call"}).group_by(place).agg(first_and_last)]
    while levels[-1].height:
        around = levels[-1].join(parents, on="call").drop_nulls("parent_call").drop("call")
        levels.append(around.rename({"parent_call": "call"}).group_by(place).agg(first_and_last))
    length = (pl.col("end") - pl.col("begin")).sum()
    rows = pl.concat(levels).group_by(place).agg(first_and_last).group_by("above", "call").agg(gpu_length_ns=length)
    rows = rows.join(parents, on="call", how="left").sort("above", "call", nulls_last=True)
    rows = rows.join(leaves, on=["above", "call"], how="left", nulls_equal=True, maintain_order="left")
    rows = rows.join(graph_of, on="call", how="left", maintain_order="left")
    rows = rows.join(counts, on=["above", "graph"], how="left", nulls_equal=True, maintain_order="left")
    return pl.concat([tree, _as_nodes(rows, tree, texts)])


def _without_launches(
    tree: pl.DataFrame, launches: pl.DataFrame, *, is_single: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tree without launches that are not `is_kept`, whose time is their parent's; and the place of each `slot`."""
    linked_work = launches.join(tree.select("node", "parent", "self_ns"), on="node")
    holes = linked_work.filter(~pl.col("is_kept"))
    # One place for all launches that merge into one node of names.
    common_node = pl.col("node") if is_single else pl.col("node").min().over("parent")
    place = pl.when("is_kept").then(common_node).otherwise("parent")
    above = linked_work.select("slot", above=pl.when(place >= 0).then(place))
    time = holes.group_by("parent").agg(more=pl.col("self_ns").sum())
    tree = tree.join(time.rename({"parent": "node"}), on="node", how="left", maintain_order="left")
    tree = tree.with_columns(self_ns=pl.col("self_ns") + pl.col("more").fill_null(0)).drop("more")
    ends = holes.select("node", end="parent")
    tree = tree.filter(~pl.col("node").is_in(ends["node"].implode()))
    return tree, above


def _kept(calls: pl.DataFrame, is_node: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Captured calls that are nodes, below one another; and for each captured call the nearest (`at`)."""
    rows = calls.with_columns(is_node=is_node)
    nearest = rows.select("graph_call", at=pl.when("is_node").then("graph_call"), next="parent_call")
    step_of = rows.select(next="graph_call", found=pl.when("is_node").then("graph_call"), after="parent_call")
    while True:
        is_open = pl.col("at").is_null() & pl.col("next").is_not_null()
        if not nearest.select(is_open.any()).item():
            break
        step = nearest.join(step_of, on="next", how="left", maintain_order="left")
        nearest = step.select(
            "graph_call",
            at=pl.when(is_open).then("found").otherwise("at"),
            next=pl.when(is_open).then("after").otherwise(None),
        )
    leaf = nearest.select("graph_call", "at")
    around = leaf.rename({"graph_call": "parent_call", "at": "nearest"})
    nodes = rows.filter("is_node").join(around, on="parent_call", how="left", maintain_order="left")
    return nodes.select("graph_call", "graph", parent_call="nearest"), leaf


def _with_work(tree: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    rows = tree.join(work.rename({"above": "node"}), on="node", how="left", maintain_order="left")
    sums = {"gpu_ns": "ns", "gpu_count": "count"}
    sums_of_work = [pl.col(column) + pl.col(more).fill_null(0) for column, more in sums.items()]
    return rows.with_columns(sums_of_work).drop("ns", "count")


def _as_nodes(rows: pl.DataFrame, tree: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Captured calls as nodes of the tree."""
    first = int(tree["node"].max() or -1) + 1 if tree.height else 0  # type: ignore[arg-type]
    rows = rows.with_row_index("number").with_columns(node=pl.col("number").cast(pl.Int64) + first)
    numbers = rows.select("above", parent_call="call", of_parent="node")
    rows = rows.join(numbers, on=["above", "parent_call"], how="left", nulls_equal=True, maintain_order="left")
    rows = rows.with_columns(parent=pl.coalesce("of_parent", "above", pl.lit(-1)).cast(pl.Int64))
    depths = tree.select(above="node", base="depth")
    rows = rows.join(depths.cast({"above": rows["above"].dtype}), on="above", how="left", maintain_order="left")
    depth = pl.when(pl.col("of_parent").is_null()).then(pl.col("base").fill_null(-1) + 1)
    rows = rows.with_columns(depth=depth)
    while rows["depth"].null_count():
        above = rows.select("depth", of_parent="node").drop_nulls().rename({"depth": "over"})
        rows = rows.join(above, on="of_parent", how="left", maintain_order="left")
        rows = rows.with_columns(depth=pl.coalesce("depth", pl.col("over") + 1)).drop("over")
    names = texts[rows["call"]]
    zeros = [pl.lit(0, pl.Int64).alias(name) for name in SUMS if name not in ("call_count", "gpu_length_ns")]
    zeros += [pl.lit(None, pl.Int64).alias(name) for name in ("min_ns", "max_ns")]
    work = [pl.col("ns").fill_null(0).alias("gpu_ns"), pl.col("count").fill_null(0).alias("gpu_count")]
    work.append(pl.col("call_count").alias("replayed_count"))
    nodes = rows.with_columns(names.get_columns()).with_columns(zeros).with_columns(work)
    return nodes.select(tree.columns).cast(tree.schema)
