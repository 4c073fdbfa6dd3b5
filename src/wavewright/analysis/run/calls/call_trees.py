"""Call tree of one run: its regions by path of names, with the GPU work that each of them launched.

The native core nests the regions of a thread (`_core.call_tree`), by two numbers of each region: that of its name, of
which it makes nodes (`_CallIds`; one per region where each is a node of its own), and the *slot* of the launch that
it is (`Launches`), whose GPU work it adds to the node. Launches of replayed graphs get the calls of their capture below
them (`graph_trees`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright import _core
from wavewright.analysis.run.calls.graph_trees import GraphWork, graph_work, with_graphs
from wavewright.analysis.run.calls.launches import Launches, work_rows
from wavewright.analysis.run.measures.intervals import in_order
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.measures.trees import empty_tree, folded, merged_trees, side_by_side
from wavewright.model.answer import once_per_run
from wavewright.model.run import Run

_NONE = (1 << 32) - 1  #: What the native core takes for "no node" in numbers, and for "no launch" in slots.


@dataclass(frozen=True, eq=False, repr=False)
class Nodes:
    """The regions that are nodes; work launched by other calls counts for the node around them.

    Both functions get chunks of regions, and the table of captured calls.
    """

    columns: tuple[str, ...] = ()  #: Columns that these functions read, besides `name` and `domain`.
    is_node: Callable[[pl.DataFrame], pl.Expr] | None = None  #: Which rows are nodes; None = all.
    #: Names of nodes (Categorical), which are then single regions and not paths of names; None = names, folded.
    label: Callable[[pl.DataFrame], pl.Expr] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class CallTree:
    """The regions of one run: `tree` as in `trees.empty_tree`, and what is not in it."""

    tree: pl.DataFrame
    patterns: frozenset[str]  #: Names with * in place of numbers.
    heights: tuple[tuple[int | None, int], ...]  #: Threads with their nodes, in the order of a tree of single regions.
    domains: dict[str, int]  #: Regions of every domain, also of those that are no nodes.
    thread_count: int
    unlinked_gpu_ns: int
    untimed_count: int


def call_tree(run: Run, nodes: Nodes) -> CallTree:
    """The tree of the regions of one run."""
    work, launches, sums = (_cached_work if run.is_kept else _launched_work)(run)
    graphs = graph_work(run, work, nodes.columns)
    calls = _Calls(run, launches, nodes)
    ids = None if nodes.label else _CallIds([*calls.threads.values(), [graphs.calls] if graphs.calls.width else []])
    empty = empty_tree() if ids else empty_tree().with_columns(pl.col("name", "domain").cast(pl.Categorical))
    texts, is_node = _captured(graphs, nodes, ids)
    trees = []
    for pieces in calls.threads.values():
        rows = in_order(pl.concat(pieces), [])
        pieces.clear()  # memory: regions of one thread at a time are there twice
        numbered = _numbered(rows, nodes, ids, graphs)
        thread = pl.repeat(0, rows.height, dtype=pl.UInt32, eager=True)
        table = _core.call_tree(thread, rows["start_ns"], rows["end_ns"], numbered.numbers, rows["launch"], sums)
        tree = pl.DataFrame(table).with_row_index("node")  # `name` is the number
        launch_nodes = numbered.replays.join(tree.select(pl.col("node").cast(pl.Int64), number="name"), on="number")
        names = numbered.texts[tree["name"]].get_columns()
        tree = tree.with_columns(*names, replayed_count=pl.lit(0, pl.Int64))
        tree = tree.select(empty.columns).cast(empty.schema)
        trees.append(with_graphs(tree, launch_nodes, graphs, texts, is_node, is_single=ids is None))
    tree = merged_trees(trees) if ids else side_by_side(trees, empty)
    return CallTree(
        tree=tree,
        patterns=ids.patterns if ids else frozenset(),
        heights=tuple((thread, part.height) for (_, thread), part in zip(calls.threads, trees, strict=True)),
        domains=calls.domains,
        thread_count=len(calls.threads),
        unlinked_gpu_ns=int(work["length"].sum()) - int(tree["gpu_ns"].sum()),
        untimed_count=calls.untimed,
    )


class _Numbered(NamedTuple):
    """The regions of a thread as the core takes them."""

    numbers: pl.Series  #: Of every region; `_NONE` = it is no node.
    texts: pl.DataFrame  #: `name` and `domain` by number.
    replays: pl.DataFrame  #: Launches of graphs: `number`, `slot`, and whether they stay nodes (`is_node`).


def _numbered(rows: pl.DataFrame, nodes: Nodes, ids: _CallIds | None, graphs: GraphWork) -> _Numbered:
    """Numbers for the regions; each launch of a graph has one of its own, so that calls can be put below it."""
    numbers = ids.of(rows) if ids else pl.int_range(rows.height, dtype=pl.UInt32, eager=True)
    texts = ids.texts if ids else rows.select("name", "domain")
    is_node = rows["is_node"] if nodes.is_node else pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)
    is_replay = rows["launch"].is_in(graphs.slots.implode()) if graphs.work.height else None
    places = pl.Series(dtype=pl.UInt32) if is_replay is None else is_replay.arg_true()
    own_numbers = pl.int_range(places.len(), dtype=pl.UInt32, eager=True) + texts.height
    replay_rows = {"slot": rows["launch"].gather(places), "is_node": is_node.gather(places)}
    replays = pl.DataFrame({"number": own_numbers, **replay_rows})
    texts = pl.concat([texts, texts[numbers.gather(places)]]) if places.len() else texts
    numbers = pl.select(pl.when(is_node).then(numbers).otherwise(_NONE).cast(pl.UInt32)).to_series()
    return _Numbered(numbers.scatter(places, own_numbers), texts, replays)


def _launched_work(run: Run) -> tuple[pl.DataFrame, Launches, pl.DataFrame]:
    """`gpu_times` with the `slot` of the launch of each row; the launches; and `_per_slot` of both."""
    work = gpu_times(run)
    launches = Launches(work)
    work = work.with_columns(slot=launches.slots_of(work))
    return work, launches, _per_slot(work, launches.count)


_cached_work = once_per_run(_launched_work)


def _captured(graphs: GraphWork, nodes: Nodes, ids: _CallIds | None) -> tuple[pl.DataFrame, pl.Series | None]:
    """Name and domain of every captured call, and which are nodes."""
    if not graphs.calls.width:
        return pl.DataFrame(), None
    is_node = graphs.calls.select(nodes.is_node(graphs.calls).fill_null(value=False)) if nodes.is_node else None
    if ids:
        texts = ids.texts[ids.of(graphs.calls)]
    else:
        label = nodes.label(graphs.calls) if nodes.label else pl.col("name")
        texts = graphs.calls.select(label.alias("name"), "domain")
    return texts, None if is_node is None else is_node.to_series()


class _Calls:
    """Regions of each thread, in chunks; how many every domain has, and how many have no possible length."""

    def __init__(self, run: Run, launches: Launches, nodes: Nodes) -> None:
        self.threads: dict[tuple[int | None, ...], list[pl.DataFrame]] = {}
        self.domains: dict[str, int] = {}
        self.untimed = 0
        columns = ("process", "thread", "correlation", "name", "domain", "start_ns", "end_ns", *nodes.columns)
        is_linked = pl.repeat(value=False, n=launches.count, dtype=pl.Boolean, eager=True)  # by slot, up to this chunk
        for piece in run.chunks("regions", list(dict.fromkeys(columns))):
            for domain, count in piece.group_by("domain").len().iter_rows():
                self.domains[domain or "?"] = self.domains.get(domain or "?", 0) + count
            timed = piece.filter(is_timed())
            self.untimed += piece.height - timed.height
            slots = launches.slots_of(timed).cast(pl.UInt32)
            # Several calls may have one correlation: the first is the launch, so that work counts once.
            is_first = slots.is_not_null() & ~is_linked.gather(slots) & slots.is_first_distinct()
            is_linked = is_linked.scatter(slots.filter(is_first), values=True)
            launch = pl.select(pl.when(pl.lit(is_first)).then(pl.lit(slots)).otherwise(_NONE).cast(pl.UInt32))
            rows = timed.with_columns(launch.to_series().alias("launch"))
            if nodes.is_node:
                rows = rows.with_columns(is_node=nodes.is_node(rows).fill_null(value=False))
                rows = rows.filter(pl.col("is_node") | (pl.col("launch") != _NONE))
            name = nodes.label(rows) if nodes.label else pl.col("name")
            flag = ["is_node"] if nodes.is_node else []
            rows = rows.select("process", "thread", name.alias("name"), "domain", "start_ns", "end_ns", "launch", *flag)
            # Not by thread alone: where none is recorded, processes share the null.
            for key, part in rows.partition_by("process", "thread", as_dict=True, include_key=False).items():
                self.threads.setdefault(key, []).append(part)


class _CallIds:
    """A number for every pair of name and domain, where names that differ only in numbers may have one number."""

    def __init__(self, threads: Iterable[list[pl.DataFrame]]) -> None:
        pieces = [piece for thread in threads for piece in thread]
        empty = pl.DataFrame(schema={"name": pl.Categorical, "domain": pl.Categorical})
        pairs = pl.concat([empty, *(piece.select("name", "domain").unique() for piece in pieces)]).unique()
        names = pairs["name"].unique().drop_nulls()
        texts, self.patterns = folded(names.cast(pl.String))
        text_of_name = pl.DataFrame({"name": names, "text": texts})
        rows = pairs.join(text_of_name, on="name", how="left", nulls_equal=True)
        rows = rows.select("name", "domain", "text", kind=pl.col("domain").cast(pl.String))
        numbers = rows.select("text", "kind").unique().sort("text", "kind").with_row_index("number")
        self._numbers = rows.join(numbers, on=["text", "kind"], nulls_equal=True).select("name", "domain", "number")
        self.texts = numbers.select(name="text", domain="kind")  #: Name and domain by number.

    def of(self, rows: pl.DataFrame) -> pl.Series:
        """The numbers of the names of these rows."""
        pairs = rows.select("name", "domain")
        on = ["name", "domain"]
        return pairs.join(self._numbers, on=on, how="left", maintain_order="left", nulls_equal=True)["number"]


def gpu_times(run: Run) -> pl.DataFrame:
    """`process`, `correlation`, `length`, `begin`, `end` (null = impossible), `graph_call` of dispatches and copies."""
    times = {"length": (pl.col("end_ns") - pl.col("start_ns")), "begin": pl.col("start_ns"), "end": pl.col("end_ns")}
    time_columns = [pl.when(is_timed()).then(time).alias(name) for name, time in times.items()]
    rows = work_rows(run, ["process", "correlation", "start_ns", "end_ns", "graph_call"])
    rows = rows.select("process", "correlation", *time_columns, "graph_call")
    return rows.with_columns(pl.col("length").fill_null(0))


def _per_slot(work: pl.DataFrame, count: int) -> pl.DataFrame:
    """Work of each launch: durations and count of what no graph replays, first start and last end of all of it.

    The core knows work without possible times, or none, by an end (0) before the start (1).
    """
    is_own = pl.col("graph_call").is_null()
    sums = (
        work.drop_nulls("slot")
        .group_by("slot")
        .agg(
            ns=pl.col("length").filter(is_own).sum(),
            count=is_own.sum().cast(pl.Int64),
            begin=pl.col("begin").min().fill_null(1),
            end=pl.col("end").max().fill_null(0),
        )
    )
    no_work = {"ns": 0, "count": 0, "begin": 1, "end": 0}
    columns = {name: pl.repeat(value, count, dtype=pl.Int64, eager=True) for name, value in no_work.items()}
    return pl.DataFrame({name: column.scatter(sums["slot"], sums[name]) for name, column in columns.items()})
