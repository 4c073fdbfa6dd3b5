"""Summary of a run: the time of its kernels, copies, allocations and calls, with statistics of their durations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.run.contents.timed_events import EVENT_TABLES, EXTENTS, GROUP_COLUMNS, Events, Grouping
from wavewright.analysis.run.measures.intervals import FARTHEST_NS, in_order
from wavewright.analysis.run.measures.intervals import merged as merged_intervals
from wavewright.analysis.run.measures.statistics import PackedDurations, described, merged, merged_packed
from wavewright.analysis.run.select.identities import PROCESS, file_of
from wavewright.analysis.run.select.nodes import node_names, renamed
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import TableSpec, empty_frame

#: Domains whose time is time of a GPU; the calls of the others nest, so that their times must not be added up.
GPU_DOMAINS = ("KERNEL", "COPY")
_DOMAINS = (*GPU_DOMAINS, "ALLOCATION", "SCRATCH")


@dataclass(frozen=True, eq=False, repr=False)
class PartialSummary:
    """The contribution of one run to a `Summary`."""

    statistics: PackedDurations  #: By the columns of the grouping, `domain` and `name`.
    extents: pl.DataFrame  #: See `EXTENTS`.
    gpus: pl.DataFrame  #: `host`, `run` and `gpu` of GPUs that kernels ran on.


@dataclass(frozen=True, eq=False)
class Summary(Answer, package=__package__):
    """Time of a run by kernels, copies, allocations and calls."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"processes": EXTENTS}

    by: Grouping
    domains: pl.DataFrame
    things: pl.DataFrame
    processes: pl.DataFrame
    gpu_count: int  #: GPUs that kernels ran on.
    node_count: int  #: Nodes on which processes ran.
    gpu_ns: int  #: Time of all kernels and copies together.
    wall_ns: int
    #: Share of the wall time in which GPUs ran anything; None = no GPU was used.
    busy_share: float | None

    @property
    def columns(self) -> list[str]:
        """The columns of `things` that have something to say in this grouping."""
        unused = {name for names in GROUP_COLUMNS.values() for name in names} - {*GROUP_COLUMNS[self.by]}
        return [name for name in self.things.columns if name not in unused]


def partial_summary(run: Run, *, by: Grouping = "all") -> PartialSummary:
    """The contribution of one run."""
    events = Events(run, by)
    return PartialSummary(events.statistics(EVENT_TABLES).packed(), events.extents(), events.gpus())


def combine_summary(partials: Sequence[PartialSummary], *, by: Grouping = "all") -> Summary:
    """The summary of all runs together."""
    group = GROUP_COLUMNS[by]
    statistics = merged_packed([part.statistics for part in partials], (*group, "domain", "name"))
    by_domain = merged([statistics], (*group, "domain"))
    names = statistics.sums.group_by(*group, "domain").agg(name_count=pl.len().cast(pl.Int64))
    processes = _processes([part.extents for part in partials])
    node_labels = _node_names(processes)
    gpus = [_with_node(part.gpus, node_labels).select("node", "gpu") for part in partials]
    domains = described(by_domain).join(names, on=[*group, "domain"], nulls_equal=True)
    share = pl.col("total_ns") / pl.col("total_ns").sum().over(*group, "domain").replace(0, None)
    is_gpu = pl.col("domain").is_in(GPU_DOMAINS)
    gpu_total = pl.when(is_gpu).then("total_ns").sum()
    gpu_share = pl.col("total_ns") / (gpu_total.over(group) if group else gpu_total).replace(0, None)
    return Summary(
        by=by,
        domains=_ordered(domains.with_columns(share=pl.when(is_gpu).then(gpu_share)), group, "domains"),
        things=_ordered(described(statistics).with_columns(share=share), group, "things"),
        processes=processes,
        gpu_count=pl.concat(gpus).unique().height if gpus else 0,
        node_count=_with_node(processes, node_labels)["node"].n_unique(),
        gpu_ns=int(domains.select(gpu_total).item() or 0),
        wall_ns=wall_of(processes),
        busy_share=_busy_share(processes),
    )


def summary(run: Run, *, by: Grouping = "all") -> Summary:
    """Calls, total, mean, median, min, max, deviation and share of all kernels, copies, allocations and calls."""
    return combine_summary([partial_summary(part, by=by) for part in run.parts], by=by)


def _ordered(rows: pl.DataFrame, group: Sequence[str], table: str) -> pl.DataFrame:
    """The rows of a table, sorted by group, by domain (those of GPUs first), and by time (most first)."""
    spec = Summary.tables[table]
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in spec.dtypes.items() if name not in rows.columns]
    place = pl.col("domain").replace_strict({name: n for n, name in enumerate(_DOMAINS)}, default=len(_DOMAINS))
    domain_total = pl.col("total_ns").sum().over(*group, "domain")
    keys = [*group, place, -domain_total, "domain", -pl.col("total_ns"), *(["name"] if "name" in rows.columns else [])]
    return rows.sort(keys, nulls_last=True).with_columns(missing).select(spec.casts)


def wall_of(processes: pl.DataFrame) -> int:
    """The longest time on one node, of `Events.extents`; where the node is not known, of one process."""
    return int(_walls(processes)["wall_ns"].max() or 0)  # type: ignore[arg-type]


def _node_names(processes: pl.DataFrame) -> pl.DataFrame:
    """Names of nodes, as `node_names` gives them."""
    where = {"machine": file_of(pl.col("run")), "is_named": pl.col("host") != ""}
    return node_names([processes.select("start_ns", "end_ns", "rank", **where).drop_nulls(["start_ns", "end_ns"])])


def _with_node(rows: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Rows with `host` and `run` with their `node`: the host, else what stands for it."""
    unnamed = renamed(rows.select(machine=file_of(pl.col("run"))), names)["machine"]
    return rows.with_columns(node=pl.when(pl.col("host") == "").then(unnamed).otherwise("host"))


def _walls(processes: pl.DataFrame) -> pl.DataFrame:
    """Processes with `wall_ns`, the time in which any process of their node was recorded, and `own_wall_ns`: without
    recordings in which they were not."""
    times = pl.col("start_ns", "end_ns").clip(-FARTHEST_NS, FARTHEST_NS)
    placed = _with_node(processes, _node_names(processes)).with_columns(times)
    length = (pl.col("end_ns") - pl.col("start_ns")).alias("own_wall_ns")
    spans = merged_intervals(in_order(placed.drop_nulls(["start_ns", "end_ns"]), ["node"]), ["node"])
    spans = spans.select("node", "start_ns", length, wall_ns=length.sum().over("node"))
    return (
        placed.sort("start_ns")
        .join_asof(spans.sort("start_ns"), on="start_ns", by="node", check_sortedness=False)
        .with_columns(pl.col("wall_ns", "own_wall_ns").fill_null(0))
    )


def _processes(extents: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Processes in order; one that is in several files is one."""
    ends = [pl.col("start_ns").min(), pl.col("end_ns").max()]
    sums = [pl.col("busy_ns").sum(), pl.col("gpu_count").max()]
    return pl.concat([empty_frame(EXTENTS), *extents]).group_by(PROCESS).agg(*ends, *sums).sort(PROCESS)


def _busy_share(processes: pl.DataFrame) -> float | None:
    used = _walls(processes).filter(pl.col("gpu_count") > 0)
    wall = pl.col("own_wall_ns").cast(pl.Int128) * pl.col("gpu_count")
    times = used.select(pl.col("busy_ns").sum(), all_ns=wall.sum())
    busy, whole = times.row(0)
    return busy / whole if whole else None
