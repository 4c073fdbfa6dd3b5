"""Frames of flame graphs: the tree of regions with its costs, merged by path of names, or around one function.

A *sandwich* is two such trees whose root is the function: one goes up to its callers, one down to its callees. Frames
are numbered by their rows, from the root on; `parent` is -1 at the root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from wavewright.model.answer import Answer
from wavewright.model.schema import packaged_spec

WEIGHTS = {"host": "total_ns", "gpu": "gpu_total_ns"}  #: What the width of a frame can be -> the column of a tree.
_NODE = ("node", "parent", "name", "domain")
_LEVELS_MAX = 5_000  #: At most so many levels of callers or callees: those of untrusted files may be endless.
_SUMS = ("call_count", "total_ns", "self_ns", "gpu_total_ns", "gpu_ns")


@dataclass(frozen=True)
class Sandwich(Answer, package=__package__):
    """One function with its callers and its callees."""

    callers: pl.DataFrame
    callees: pl.DataFrame


FUNCTIONS = packaged_spec(__package__, "functions")


def frames_of(tree: pl.DataFrame, weight: str, count_max: int) -> pl.DataFrame:
    """The tree below one frame `all`, its heaviest nodes; what is lighter is one frame `smaller` per parent.

    `tree` is that of `regions`, or has its columns; `weight` is a key of `WEIGHTS`.
    """
    column = WEIGHTS[weight]
    nodes = tree.select("node", "parent", "depth", "name", pl.col("domain").fill_null(""), *_SUMS)
    order = nodes.sort(column, -pl.col("depth"), descending=True, maintain_order=True)
    heaviest = order.head(count_max).filter(pl.col(column) > 0)
    # A parent weighs at least as much as its children; where a file says otherwise, the child goes, too.
    has_parent = (pl.col("parent") < 0) | pl.col("parent").is_in(pl.col("node").implode())
    while (with_parents := heaviest.filter(has_parent)).height < heaviest.height:
        heaviest = with_parents
    lighter = nodes.join(heaviest.select("node"), on="node", how="anti")
    is_below_frame = (pl.col("parent") < 0) | pl.col("parent").is_in(heaviest["node"].implode())
    smaller = (
        lighter.filter(is_below_frame & (pl.col(column) > 0))
        .group_by("parent", "depth", maintain_order=True)
        .agg(pl.len().alias("count"), *(pl.col(name).sum() for name in _SUMS))
        .with_columns(node=pl.lit(-1, pl.Int64), name=pl.format("{} smaller", "count"), domain=pl.lit("smaller"))
        .select(heaviest.columns)
    )
    sums = nodes.filter(pl.col("depth") == 0).select(pl.col(_SUMS).sum()).with_columns(self_ns=pl.lit(0, pl.Int64))
    head = {"node": -1, "parent": -2, "depth": -1, "name": "all", "domain": "all"}  # -2: no node
    root = sums.with_columns(**{name: pl.lit(value, nodes.schema[name]) for name, value in head.items()})
    root = root.select(heaviest.columns)
    rows = pl.concat([root, heaviest, smaller]).sort("depth", maintain_order=True).with_row_index("frame")
    frame_of_node = rows.filter(pl.col("domain") != "smaller").select(parent="node", above="frame")
    rows = rows.join(frame_of_node, on="parent", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("frame").cast(pl.Int64), parent=pl.col("above").cast(pl.Int64).fill_null(-1))
    return rows.select(Sandwich.tables["callers"].names)


def functions_of(tree: pl.DataFrame) -> pl.DataFrame:
    """All names of a tree with their own time and their total, most total first; calls inside themselves count once."""
    outer = tree.filter(~_is_inside(tree))
    keys = ["name", "domain"]
    sums = tree.group_by(keys).agg(pl.col("call_count", "self_ns", "gpu_ns").sum())
    totals = outer.group_by(keys).agg(pl.col("total_ns", "gpu_total_ns").sum())
    rows = sums.join(totals, on=keys, nulls_equal=True)
    return rows.sort("total_ns", "self_ns", "name", descending=[True, True, False]).select(FUNCTIONS.names)


def _is_inside(tree: pl.DataFrame) -> pl.Series:
    """True if a node is below one of the same name: rows are in depth-first order."""
    stack: list[tuple[str | None, str | None]] = []
    open_counts = Counter[tuple[str | None, str | None]]()
    inside = []
    for depth, *name in tree.select("depth", "name", "domain").iter_rows():
        key = (name[0], name[1])
        while len(stack) > depth:
            open_counts[stack.pop()] -= 1
        inside.append(open_counts[key] > 0)
        stack.append(key)
        open_counts[key] += 1
    return pl.Series(inside, dtype=pl.Boolean)


def sandwich(tree: pl.DataFrame, name: str, domain: str, weight: str, count_max: int) -> Sandwich:
    """Callers and callees of the regions of one name, the heaviest frames of each."""
    is_function = (pl.col("name") == name) & (pl.col("domain").fill_null("") == domain)
    roots = tree.filter(is_function & ~_is_inside(tree)).select(*_NODE, *_SUMS)
    names, rows = tree.select(_NODE), tree.select(*_NODE, *_SUMS)

    def callers_of(level: pl.DataFrame) -> pl.DataFrame:
        # A caller has the costs that the function has below it, not its own.
        return level.select(*_SUMS, node="parent", above="number").join(names, on="node")

    def callees_of(level: pl.DataFrame) -> pl.DataFrame:
        return rows.join(level.select(parent="node", above="number"), on="parent")

    callers, callees = (frames_of(_levels(roots, step), weight, count_max) for step in (callers_of, callees_of))
    return Sandwich(_without_head(callers), _without_head(callees))


def _levels(roots: pl.DataFrame, step: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """A tree, level by level: regions with the same path of names from the roots on are one node.

    `step` returns the next level of one: its callers or callees, with the `number` of the node that they are below.
    """
    keys = ["above", "name", "domain"]
    level, levels, count = roots.with_columns(above=pl.lit(-1, pl.Int64)), [], 0
    for depth in range(_LEVELS_MAX):
        nodes = level.group_by(keys, maintain_order=True).agg(pl.col(_SUMS).sum()).with_row_index("number", count)
        nodes = nodes.with_columns(pl.col("number").cast(pl.Int64), depth=pl.lit(depth, pl.Int64))
        levels.append(nodes)
        level = step(level.join(nodes.select(*keys, "number"), on=keys, nulls_equal=True))
        count += nodes.height
        if not level.height:
            break
    return pl.concat(levels).rename({"number": "node", "above": "parent"})


def _without_head(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames without `all`: the function itself is the first."""
    shifted = frames.filter(pl.col("frame") > 0)
    return shifted.with_columns(pl.col("frame") - 1, parent=pl.max_horizontal(pl.col("parent") - 1, pl.lit(-1)))
