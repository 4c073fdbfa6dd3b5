"""Trees of names as frames, one row per node: merging them by path, sums of subtrees, nearest nodes above."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

#: Columns of a node that add up.
SUMS = (
    *("call_count", "replayed_count", "total_ns", "self_ns"),
    *("gpu_count", "gpu_ns", "gpu_length_ns", "crossing_count"),
)
MANY = 32  #: More names than this that differ only in their numbers count as one, with * for the numbers.
LAYER = "nn.Module: "  #: How the names of modules of PyTorch begin.
_NUMBERED = r"\(\d+\): |^nn\.Module: "  #: Names whose numbers mean something: `model.py(359): forward`, modules.


def empty_tree() -> pl.DataFrame:
    """A tree without nodes: `node`, `parent` (-1 = none), `name`, `domain`, `depth`, `SUMS`, `min_ns`, `max_ns`.

    Parents come before their children.
    """
    columns = ("node", "parent", "name", "domain", "depth", *SUMS, "min_ns", "max_ns")
    return pl.DataFrame(schema={name: pl.String if name in ("name", "domain") else pl.Int64 for name in columns})


def folded(names: pl.Series, seen: frozenset[str] = frozenset()) -> tuple[pl.Series, frozenset[str]]:
    """Distinct names with * for addresses, numbers of profiler steps, and numbers where more than `MANY` names differ
    only in them or the result is in `seen`; and all results of the last kind.

    Numbers of source lines and of modules always stay.

    >>> names, patterns = folded(pl.Series([f"iteration {n}" for n in range(99)]))
    >>> names.unique().to_list(), sorted(patterns)
    (['iteration *'], ['iteration *'])
    >>> folded(pl.Series(["<method of Tensor object at 0x7f4071a0>", "ProfilerStep#9"]))[0].to_list()
    ['<method of Tensor object at 0x*>', 'ProfilerStep#*']
    """
    plain = (
        pl.col("name")
        .str.replace_all(r"\b0x[0-9a-fA-F]{4,}", "0x*")
        .str.replace(r"^ProfilerStep#\d+", "ProfilerStep#*")
    )
    frame = pl.DataFrame({"name": names}).select(plain)
    frame = frame.with_columns(pattern=pl.col("name").str.replace_all(r"\d+", "*"))
    is_number = (pl.col("name") != pl.col("pattern")) & ~pl.col("name").str.contains(_NUMBERED)
    counts = frame.filter(is_number).group_by("pattern").agg(pl.col("name").n_unique())
    patterns = seen | frozenset(counts.filter(pl.col("name") > MANY)["pattern"])
    is_folded = is_number & pl.col("pattern").is_in(list(patterns))
    return frame.select(pl.when(is_folded).then("pattern").otherwise("name").alias("name")).to_series(), patterns


def side_by_side(trees: Sequence[pl.DataFrame], empty: pl.DataFrame) -> pl.DataFrame:
    """All nodes of all trees, numbered on, with the columns of an empty one."""
    first, numbered = 0, [empty]
    for tree in trees:
        parent = pl.when(pl.col("parent") < 0).then(-1).otherwise(pl.col("parent") + first)
        numbered.append(tree.with_columns(node=pl.col("node") + first, parent=parent).select(empty.columns))
        first += tree.height
    return pl.concat(numbered)


def merged_trees(trees: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One tree with a node for every path of names (and domains) in any of the trees, numbered by depth, then path."""
    all_nodes = side_by_side(trees, empty_tree())
    levels = [empty_tree()]
    above = pl.DataFrame({"parent": [-1], "merged": [-1]}, schema={"parent": pl.Int64, "merged": pl.Int64})
    count = 0
    for depth in range(int(all_nodes["depth"].max() or 0) + 1):  # type: ignore[arg-type]
        level = all_nodes.filter(pl.col("depth") == depth).join(above, on="parent")
        nodes = (
            level.group_by(parent="merged", name="name", domain="domain")
            .agg(pl.col(SUMS).sum(), pl.col("min_ns").min(), pl.col("max_ns").max())
            .sort("parent", "name", "domain", nulls_last=True)
            .with_row_index("node", count)
            .with_columns(pl.col("node").cast(pl.Int64), depth=pl.lit(depth, pl.Int64))
        )
        levels.append(nodes.select(levels[0].columns))
        keys = nodes.select("name", "domain", merged="parent", number="node")
        below = level.join(keys, on=["name", "domain", "merged"], nulls_equal=True)
        above = below.select(parent="node", merged="number")
        count += nodes.height
    return pl.concat(levels)


def with_inclusive(tree: pl.DataFrame) -> pl.DataFrame:
    """The tree with `gpu_total_count` and `gpu_total_ns`: GPU work of a node and of all nodes below it."""
    sums = tree.select("node", "parent", "depth", "gpu_count", "gpu_ns")
    totals = []
    below = pl.DataFrame(schema=dict.fromkeys(("node", "count", "ns"), pl.Int64))
    for depth in range(int(tree["depth"].max() or 0), -1, -1):  # type: ignore[arg-type]
        level = sums.filter(pl.col("depth") == depth).join(below, on="node", how="left", maintain_order="left")
        level = level.with_columns(
            gpu_total_count=pl.col("gpu_count") + pl.col("count").fill_null(0),
            gpu_total_ns=pl.col("gpu_ns") + pl.col("ns").fill_null(0),
        )
        totals.append(level.select("node", "gpu_total_count", "gpu_total_ns"))
        groups = level.group_by(node="parent")
        below = groups.agg(count=pl.col("gpu_total_count").sum(), ns=pl.col("gpu_total_ns").sum())
    return tree.join(pl.concat(totals), on="node", how="left", maintain_order="left")


def inherited(tree: pl.DataFrame, is_heir: pl.Expr) -> pl.Series:
    """For every node of a tree the nearest node, itself or above, for which `is_heir` holds; null = none."""
    levels = [pl.DataFrame(schema={"node": pl.Int64, "nearest": pl.Int64})]
    marked = tree.select("node", "parent", "depth", is_heir=is_heir.fill_null(value=False))
    for depth in range(int(tree["depth"].max() or 0) + 1):  # type: ignore[arg-type]
        level = marked.filter(pl.col("depth") == depth)
        above = levels[-1].select(parent="node", above="nearest")
        level = level.join(above, on="parent", how="left", maintain_order="left")
        levels.append(level.select("node", nearest=pl.when("is_heir").then("node").otherwise("above")))
    return tree.select("node").join(pl.concat(levels), on="node", how="left", maintain_order="left")["nearest"]
