"""Which regions take the time of the threads, with and without what they enclose, and what GPU work do they cause?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope import _core
from wavescope.analysis.run.intervals import in_order, share_of
from wavescope.analysis.run.launches import Launches
from wavescope.analysis.run.statistics import is_timed
from wavescope.analysis.run.trees import empty_tree, folded, merged_trees, with_inclusive
from wavescope.model.answer import Answer
from wavescope.model.schema import table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavescope.model.run import Run
    from wavescope.model.schema import TableSpec

_NONE = (1 << 32) - 1  # no launch, no name: the value the native core uses
_LONGEST_PATH = 1_000  #: Last characters of a path that are stored: trees from untrusted files can be deep.


@dataclass(frozen=True)
class Regions(Answer):
    """The tree of regions."""

    definition: ClassVar[str] = (
        "A region lies below the innermost region of its thread that encloses it in time; nodes of the tree are paths "
        "of names, added up over threads, processes and ranks. Inclusive time is the length of the regions, exclusive "
        "time what none of the regions below covers. GPU time is that of dispatches and copies launched by a call "
        "(equal correlation), of the node itself and of all nodes below it; it is not merged, so that work at the same "
        "time counts several times. A region that outlasts its parent cannot be nested and is shown next to it. "
        "Where more than 32 names differ only in numbers, # stands for the numbers."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "tree": table_spec(
            "tree",
            "one path of names; every node comes behind its parent, siblings by inclusive time",
            """
            node              Int64    -   | number of the node, in the order of the rows
            parent            Int64    -   | node above; -1 = none
            depth             Int64    -   | nodes above
            name              String   -   | name of the regions
            path              String   -   | names from the root, with / between them
            call_count        Int64    -   | regions of this path of names
            total_ns          Int64    ns  | inclusive: their lengths added up
            total_share       Float64  -   | of the inclusive time of all roots
            self_ns           Int64    ns  | exclusive: without the time that regions below cover
            self_share        Float64  -   | of the inclusive time of all roots
            mean_ns           Float64  ns  | mean length of a region
            min_ns            Int64    ns  | shortest region
            max_ns            Int64    ns  | longest region
            gpu_count         Int64    -   | dispatches and copies that its regions launched themselves
            gpu_ns            Int64    ns  | durations of the dispatches and copies that it launched itself
            gpu_total_count   Int64    -   | those of all nodes below included
            gpu_total_ns      Int64    ns  | durations of what it and all regions below launched
            gpu_share         Float64  -   | gpu_total_ns of all GPU time with a known launch
            crossing_count    Int64    -   | regions that outlast the one they began in
            """,
        ),
    }

    tree: pl.DataFrame
    region_count: int
    thread_count: int
    process_count: int
    unlinked_gpu_ns: int  #: GPU time whose launch is not among the regions.
    crossing_count: int  #: Regions that outlast their parent.
    untimed_count: int  #: Regions without a possible length; they are left out.


@dataclass(frozen=True)
class PartialRegions:
    """The contribution of one run."""

    tree: pl.DataFrame
    patterns: frozenset[str]  #: Names with # in place of numbers.
    region_count: int
    thread_count: int
    process_count: int
    unlinked_gpu_ns: int
    untimed_count: int


def partial_regions(run: Run, *, domains: tuple[str, ...] = ()) -> PartialRegions:
    """The contribution of one run.

    With `domains`, only regions of these domains or categories are nodes; work launched by other calls counts for the
    node around them.
    """
    work = _gpu_times(run)
    launches = Launches(work)
    slots = launches.slots_of(work)
    sums = _per_slot(work, slots, launches.count)
    threads, untimed = _calls(run, launches, domains)
    codes = _Codes([piece["name"] for pieces in threads.values() for piece in pieces])
    trees = []
    for pieces in threads.values():
        calls = in_order(pl.concat(pieces), [])
        pieces.clear()
        names = codes.of(calls["name"])
        if domains:
            names = pl.select(pl.when(calls["is_node"]).then(names).otherwise(_NONE).cast(pl.UInt32)).to_series()
        thread = pl.repeat(0, calls.height, dtype=pl.UInt32, eager=True)
        table = _core.call_tree(
            thread, calls["start_ns"], calls["end_ns"], names, calls["launch"], sums["ns"], sums["count"]
        )
        tree = pl.DataFrame(table).with_row_index("node")
        trees.append(tree.with_columns(name=codes.texts.gather(tree["name"])).cast(empty_tree().schema))
    tree = merged_trees(trees)
    return PartialRegions(
        tree=tree,
        patterns=codes.patterns,
        region_count=int(tree["call_count"].sum()),
        thread_count=len(threads),
        process_count=run.read("processes", ["process"]).height,
        unlinked_gpu_ns=int(work["length"].sum()) - int(tree["gpu_ns"].sum()),
        untimed_count=untimed,
    )


class _Codes:
    """A number for every name, where names that differ only in numbers may have one number."""

    def __init__(self, names: Sequence[pl.Series]) -> None:
        empty = pl.Series([], dtype=pl.Categorical)
        distinct = pl.concat([empty, *(part.unique() for part in names)]).unique().drop_nulls()
        folded_texts, self.patterns = folded(distinct.cast(pl.String))
        codes = pl.DataFrame({"code": distinct.to_physical(), "text": folded_texts})
        numbers = codes.select("text").unique(maintain_order=True).with_row_index("number")
        rows = codes.join(numbers, on="text")
        size = int(rows["code"].max() or 0) + 1  # type: ignore[arg-type]
        self._unnamed = numbers.height
        zeros = pl.repeat(self._unnamed, size, dtype=pl.UInt32, eager=True)
        self._numbers = zeros.scatter(rows["code"], rows["number"])
        # The names by number; the last one is for regions without a name.
        self.texts = pl.concat([numbers["text"], pl.Series([None], dtype=pl.String)])

    def of(self, names: pl.Series) -> pl.Series:
        """The numbers of the names."""
        return self._numbers.gather(names.to_physical()).fill_null(self._unnamed)


def _gpu_times(run: Run) -> pl.DataFrame:
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


def _calls(run: Run, launches: Launches, domains: tuple[str, ...]) -> tuple[dict[object, list[pl.DataFrame]], int]:
    """Regions of each thread, in chunks, and how many without a possible length were left out."""
    columns = ["process", "thread", "correlation", "name", "start_ns", "end_ns"]
    more = ["domain", "category"] if domains else []
    linked = pl.repeat(value=False, n=launches.count, dtype=pl.Boolean, eager=True)
    by_thread: dict[object, list[pl.DataFrame]] = {}
    untimed = 0
    for piece in run.chunks("regions", [*columns, *more]):
        timed = piece.filter(is_timed())
        untimed += piece.height - timed.height
        slots = launches.slots_of(timed).cast(pl.UInt32)
        is_new = slots.is_not_null() & ~linked.gather(slots) & slots.is_first_distinct()
        linked = linked.scatter(slots.filter(is_new), values=True)
        launch = pl.select(pl.when(pl.lit(is_new)).then(pl.lit(slots)).otherwise(_NONE).cast(pl.UInt32))
        rows = timed.select(
            "thread",
            "name",
            "start_ns",
            "end_ns",
            launch=launch.to_series(),
            is_node=_is_of(timed, domains),
        )
        rows = rows.filter(pl.col("is_node") | (pl.col("launch") != _NONE)) if domains else rows.drop("is_node")
        for (thread,), part in rows.partition_by("thread", as_dict=True, include_key=False).items():
            by_thread.setdefault(thread, []).append(part)
    return by_thread, untimed


def _is_of(piece: pl.DataFrame, domains: tuple[str, ...]) -> pl.Expr | pl.Series:
    """Whether rows are of one of the domains or categories, whatever the case; all rows when none is given."""
    if not domains:
        return pl.repeat(value=True, n=piece.height, dtype=pl.Boolean)
    wanted = {domain.upper() for domain in domains}
    is_chosen = pl.lit(value=False)
    for column in ("domain", "category"):
        values = piece[column].unique().cast(pl.String).drop_nulls()
        chosen = values.filter(values.str.to_uppercase().is_in(list(wanted)))
        is_chosen = is_chosen | pl.col(column).is_in(chosen.cast(pl.Categorical).implode()).fill_null(value=False)
    return is_chosen


def combine_regions(partials: Sequence[PartialRegions]) -> Regions:
    """The combined result of all runs."""
    patterns = frozenset().union(*(part.patterns for part in partials))
    trees = [part.tree.with_columns(folded(part.tree["name"], patterns)[0]) for part in partials]
    whole = with_inclusive(merged_trees(trees))
    roots = whole.filter(pl.col("depth") == 0)
    total, gpu = int(roots["total_ns"].sum()), int(roots["gpu_total_ns"].sum())
    tree = _walked(whole).with_columns(
        total_share=share_of(pl.col("total_ns"), pl.lit(total)),
        self_share=share_of(pl.col("self_ns"), pl.lit(total)),
        mean_ns=share_of(pl.col("total_ns"), pl.col("call_count")),
        gpu_share=share_of(pl.col("gpu_total_ns"), pl.lit(gpu)),
    )
    return Regions(
        tree=tree.select(Regions.tables["tree"].names),
        region_count=sum(part.region_count for part in partials),
        thread_count=sum(part.thread_count for part in partials),
        process_count=sum(part.process_count for part in partials),
        unlinked_gpu_ns=sum(part.unlinked_gpu_ns for part in partials),
        crossing_count=int(tree["crossing_count"].sum()),
        untimed_count=sum(part.untimed_count for part in partials),
    )


def _walked(whole: pl.DataFrame) -> pl.DataFrame:
    """The nodes in depth-first order: every node after its parent, siblings by inclusive time."""
    rows = whole.select("node", "parent", "name", "total_ns").sort("total_ns", "name", descending=[True, False])
    children: dict[int, list[tuple[int, str]]] = {}
    for node, parent, name, _ in rows.iter_rows():
        children.setdefault(parent, []).append((node, name or "?"))
    order: list[int] = []
    paths: list[str] = []
    waiting = [(node, name) for node, name in reversed(children.get(-1, []))]
    while waiting:
        node, path = waiting.pop()
        order.append(node)
        paths.append(path)
        waiting += [(below, f"{path}/{name}"[-_LONGEST_PATH:]) for below, name in reversed(children.get(node, []))]
    number = dict(zip(order, range(len(order)), strict=True)) | {-1: -1}
    parents = [number[parent] for parent in whole["parent"].gather(order)]
    return whole[order].with_columns(
        node=pl.int_range(len(order), dtype=pl.Int64),
        parent=pl.Series(parents, dtype=pl.Int64),
        path=pl.Series(paths, dtype=pl.String),
    )


def regions(run: Run, *, domains: tuple[str, ...] = ()) -> Regions:
    """The tree of all regions of the run, or of the regions of some `domains` (MARKER, HIP, ...)."""
    return combine_regions([partial_regions(part, domains=domains) for part in run.parts])
