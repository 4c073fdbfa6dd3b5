"""The regions of one run as a tree of names, with the GPU work that each of them launched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wavewright import _core
from wavewright.analysis.run.calls.launches import Launches
from wavewright.analysis.run.measures.intervals import in_order
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.measures.trees import empty_tree, folded, merged_trees, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wavewright.model.run import Run

_NONE = (1 << 32) - 1  # no launch, no name: the value the native core uses


@dataclass(frozen=True)
class Nodes:
    """The regions that are nodes; work launched by other calls counts for the node around them."""

    columns: tuple[str, ...] = ()  #: Columns that the questions below read, besides `name` and `domain`.
    is_node: Callable[[pl.DataFrame], pl.Expr] | None = None  #: Which rows are nodes; None = all.
    #: Names of nodes (Categorical), which are then single regions and not paths of names; None = names, folded.
    label: Callable[[pl.DataFrame], pl.Expr] | None = None


@dataclass(frozen=True)
class CallTree:
    """The regions of one run: `tree` as in `trees.empty_tree`, and what is not in it."""

    tree: pl.DataFrame
    patterns: frozenset[str]  #: Names with * in place of numbers.
    domains: dict[str, int]  #: Regions of every domain, also of those that are no nodes.
    thread_count: int
    unlinked_gpu_ns: int
    untimed_count: int


def call_tree(run: Run, nodes: Nodes) -> CallTree:
    """The tree of the regions of one run."""
    work = gpu_times(run)
    launches = Launches(work)
    sums = _per_slot(work, launches.slots_of(work), launches.count)
    calls = _Calls(run, launches, nodes)
    codes = None if nodes.label else _Codes(calls.threads.values())
    empty = empty_tree() if codes else empty_tree().with_columns(pl.col("name", "domain").cast(pl.Categorical))
    trees = []
    for pieces in calls.threads.values():
        rows = in_order(pl.concat(pieces), [])
        pieces.clear()
        names = codes.of(rows) if codes else pl.int_range(rows.height, dtype=pl.UInt32, eager=True)
        if nodes.is_node:
            names = pl.select(pl.when(rows["is_node"]).then(names).otherwise(_NONE).cast(pl.UInt32)).to_series()
        thread = pl.repeat(0, rows.height, dtype=pl.UInt32, eager=True)
        table = _core.call_tree(
            thread, rows["start_ns"], rows["end_ns"], names, rows["launch"], sums["ns"], sums["count"]
        )
        tree = pl.DataFrame(table).with_row_index("node")
        texts = (codes.texts if codes else rows.select("name", "domain"))[tree["name"]]
        trees.append(tree.with_columns(texts.get_columns()).select(empty.columns).cast(empty.schema))
    tree = merged_trees(trees) if codes else side_by_side(trees, empty)
    return CallTree(
        tree=tree,
        patterns=codes.patterns if codes else frozenset(),
        domains=calls.domains,
        thread_count=len(calls.threads),
        unlinked_gpu_ns=int(work["length"].sum()) - int(tree["gpu_ns"].sum()),
        untimed_count=calls.untimed,
    )


class _Calls:
    """Regions of each thread, in chunks; how many every domain has, and how many have no possible length."""

    def __init__(self, run: Run, launches: Launches, nodes: Nodes) -> None:
        self.threads: dict[object, list[pl.DataFrame]] = {}
        self.domains: dict[str, int] = {}
        self.untimed = 0
        columns = dict.fromkeys(
            ("process", "thread", "correlation", "name", "domain", "start_ns", "end_ns", *nodes.columns)
        )
        linked = pl.repeat(value=False, n=launches.count, dtype=pl.Boolean, eager=True)
        for piece in run.chunks("regions", list(columns)):
            for domain, count in piece.group_by("domain").len().iter_rows():
                self.domains[domain or "?"] = self.domains.get(domain or "?", 0) + count
            timed = piece.filter(is_timed())
            self.untimed += piece.height - timed.height
            slots = launches.slots_of(timed).cast(pl.UInt32)
            is_new = slots.is_not_null() & ~linked.gather(slots) & slots.is_first_distinct()
            linked = linked.scatter(slots.filter(is_new), values=True)
            launch = pl.select(pl.when(pl.lit(is_new)).then(pl.lit(slots)).otherwise(_NONE).cast(pl.UInt32))
            rows = timed.with_columns(launch.to_series().alias("launch"))
            if nodes.is_node:
                rows = rows.with_columns(is_node=nodes.is_node(rows).fill_null(value=False))
                rows = rows.filter(pl.col("is_node") | (pl.col("launch") != _NONE))
            rows = rows.select(
                "thread",
                (nodes.label(rows) if nodes.label else pl.col("name")).alias("name"),
                "domain",
                "start_ns",
                "end_ns",
                "launch",
                *(["is_node"] if nodes.is_node else []),
            )
            for (thread,), part in rows.partition_by("thread", as_dict=True, include_key=False).items():
                self.threads.setdefault(thread, []).append(part)


class _Codes:
    """A number for every pair of name and domain, where names that differ only in numbers may have one number."""

    def __init__(self, threads: Iterable[list[pl.DataFrame]]) -> None:
        pieces = [piece for thread in threads for piece in thread]
        empty = pl.DataFrame(schema={"name": pl.Categorical, "domain": pl.Categorical})
        pairs = pl.concat([empty, *(piece.select("name", "domain").unique() for piece in pieces)]).unique()
        names = pairs["name"].unique().drop_nulls()
        texts, self.patterns = folded(names.cast(pl.String))
        listed = pl.DataFrame({"name": names, "text": texts})
        rows = pairs.join(listed, on="name", how="left", nulls_equal=True).select(
            "name", "domain", "text", kind=pl.col("domain").cast(pl.String)
        )
        numbers = rows.select("text", "kind").unique().sort("text", "kind").with_row_index("number")
        self._numbers = rows.join(numbers, on=["text", "kind"], nulls_equal=True).select("name", "domain", "number")
        self.texts = numbers.select(name="text", domain="kind")  #: Name and domain by number.

    def of(self, rows: pl.DataFrame) -> pl.Series:
        """The numbers of the names of these rows."""
        pairs = rows.select("name", "domain")
        on = ["name", "domain"]
        return pairs.join(self._numbers, on=on, how="left", maintain_order="left", nulls_equal=True)["number"]


def gpu_times(run: Run) -> pl.DataFrame:
    """`process`, `correlation`, `length` of dispatches and copies."""
    columns = ["process", "correlation", "start_ns", "end_ns"]
    length = pl.when(is_timed()).then(pl.col("end_ns") - pl.col("start_ns")).otherwise(0)
    empty = pl.DataFrame(schema={"process": pl.UInt32, "correlation": pl.Int64, "length": pl.Int64})
    pieces = (piece for table in ("dispatches", "copies") for piece in run.chunks(table, columns))
    return pl.concat([empty, *(piece.select("process", "correlation", length=length) for piece in pieces)])


def _per_slot(work: pl.DataFrame, slots: pl.Series, count: int) -> pl.DataFrame:
    """Durations and counts of the work of each launch."""
    lengths = pl.DataFrame({"slot": slots, "length": work["length"]}).drop_nulls("slot")
    sums = lengths.group_by("slot").agg(ns=pl.col("length").sum(), count=pl.len().cast(pl.Int64))
    zeros = pl.repeat(0, count, dtype=pl.Int64, eager=True)
    return pl.DataFrame(
        {"ns": zeros.clone().scatter(sums["slot"], sums["ns"]), "count": zeros.scatter(sums["slot"], sums["count"])}
    )
