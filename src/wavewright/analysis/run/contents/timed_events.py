"""Timed events of a run in the groups of a summary: by file, process, rank, GPU, stream or marker.

`Events` reads each table once, in chunks, and meanwhile notes from when to when processes ran and which GPUs were busy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import polars as pl

from wavewright.analysis.run.calls.markers import MARKER, Markers
from wavewright.analysis.run.gpu_time.busy_time import BusyTime, copy_agent
from wavewright.analysis.run.measures.statistics import Statistics, merged, statistics_of
from wavewright.analysis.run.select.identities import PROCESS, gpus_of, processes_of
from wavewright.analysis.run.select.recording_span import windows_of_processes
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

Grouping = Literal["all", "file", "process", "rank", "gpu", "stream", "marker"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)

#: Grouping -> the columns that identify its groups, and those while events are read, before numbers become values.
_GROUPS: dict[Grouping, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "all": ((), ()),
    "file": (("path",), ("process",)),
    "process": (PROCESS, ("process",)),
    "rank": (("rank",), ("process",)),
    "gpu": (("host", "gpu"), ("agent",)),
    "stream": ((*PROCESS, "stream"), ("process", "stream")),
    "marker": (("marker",), ("marker",)),
}
GROUP_COLUMNS: dict[str, tuple[str, ...]] = {grouping: columns for grouping, (columns, _) in _GROUPS.items()}

_COLUMNS = {
    "dispatches": ("name", "agent", "stream"),
    "copies": ("name", "src_agent", "dst_agent", "stream", "size_bytes"),
    "allocations": ("type", "level", "size_bytes"),
    "regions": ("domain", "name"),
}
EVENT_TABLES = tuple(_COLUMNS)
EXTENTS = packaged_spec(__package__, "extents")
_DOMAIN_OF = {"dispatches": "KERNEL", "copies": "COPY"}  #: Tables of work of GPUs -> the domain of their events.


class Events:
    """The events of a run, read once in chunks."""

    def __init__(self, run: Run, by: Grouping) -> None:
        self._run = run
        self._by = by
        self._markers = Markers(run) if by == "marker" else None
        self._processes = processes_of(run)
        self._gpus = gpus_of(run, self._processes)
        self._used_agents: set[int] = set()
        self._extents: list[pl.DataFrame] = []
        self._busy = BusyTime()

    def statistics(self, tables: Sequence[str]) -> Statistics:
        """Durations by the columns of the grouping, `domain` and `name`; only events that can be in such groups."""
        keys = (*_GROUPS[self._by][1], "domain", "name")
        parts = [statistics_of(self.pieces(table), keys) for table in tables if self._can_group(table)]
        by_values = (*GROUP_COLUMNS[self._by], "domain", "name")
        return merged([self._named(part, by_values) for part in parts if part.sums.height], by_values)

    def process_count(self) -> int:
        """Processes of the run."""
        return self._processes.height

    def extents(self) -> pl.DataFrame:
        """Time range and GPU busy time of the events read so far, by process: see `EXTENTS`."""
        extents = windows_of_processes(self._run)
        if extents is None and not self._extents:
            return empty_frame(EXTENTS)
        if extents is None:
            marks = self._run.chunks("samples", ["process", "time_ns"])
            times = {"start_ns": pl.col("time_ns").min(), "end_ns": pl.col("time_ns").max()}
            parts = [*self._extents, *(piece.group_by("process").agg(**times) for piece in marks)]
            extents = pl.concat(parts).group_by("process").agg(pl.col("start_ns").min(), pl.col("end_ns").max())
        processes = extents.join(self._processes, on="process", how="left")
        processes = processes.join(self._busy.by_process(), on="process", how="left")
        return processes.sort("process").with_columns(pl.col("busy_ns", "gpu_count").fill_null(0)).select(EXTENTS.names)

    def gpus(self) -> pl.DataFrame:
        """`host`, `run` and `gpu` of the GPUs that the kernels read so far ran on."""
        used = pl.Series(sorted(self._used_agents), dtype=pl.UInt32)
        processes = self._processes.select("process", "host", "run")
        agents = self._run.read("agents", ["agent", "process"]).join(processes, on="process")
        chosen = self._gpus.filter(pl.col("agent").is_in(used.implode())).drop("host")
        return chosen.join(agents, on="agent", how="left").select("host", "run", "gpu").unique()

    def _can_group(self, table: str) -> bool:
        """True if events of this table can be in groups of this kind: calls and allocations have no GPU or stream."""
        return (
            table in _DOMAIN_OF
            or self._by in ("all", "file", "process", "rank")
            or (self._by, table) == ("marker", "regions")
        )

    def pieces(self, table: str) -> Iterator[pl.DataFrame]:
        """Events with the numbers of their groups, `domain`, `name`, their times and perhaps `size_bytes`."""
        columns = ["process", "start_ns", "end_ns", *_COLUMNS[table]]
        if self._by == "marker":
            columns += ["thread", "correlation"]
        sizes = ["size_bytes"] if "size_bytes" in columns else []
        for piece in self._run.chunks(table, columns):
            self._keep(table, piece)
            if table == "regions" and self._markers is not None:
                piece = piece.filter(pl.col("domain") != MARKER)  # they are the groups
            events = piece.with_columns(*self._labels(table), *self._places(table, piece))
            yield events.select(*_GROUPS[self._by][1], "domain", "name", "start_ns", "end_ns", *sizes)

    def _labels(self, table: str) -> list[pl.Expr]:
        """`domain` and `name`, where the table has them in other words."""
        if table == "allocations":
            is_scratch = pl.col("level") == "SCRATCH"
            domain = pl.when(is_scratch).then(pl.lit("SCRATCH")).otherwise(pl.lit("ALLOCATION"))
            kind, level = (pl.col(name).cast(pl.String).fill_null("") for name in ("type", "level"))
            name = pl.when(is_scratch).then(kind).otherwise(pl.concat_str(kind, level, separator=" "))
            return [domain.alias("domain"), name.alias("name")]
        return [] if table == "regions" else [pl.lit(_DOMAIN_OF[table], pl.Categorical).alias("domain")]

    def _places(self, table: str, piece: pl.DataFrame) -> list[pl.Expr | pl.Series]:
        """Grouping columns that the table itself does not have."""
        if self._by == "gpu" and table == "copies":
            return [copy_agent(self._gpus["agent"])]
        if self._markers is None:
            return []
        return [self._markers.around(piece) if table == "regions" else self._markers.around_launches(piece)]

    def _named(self, statistics: Statistics, keys: tuple[str, ...]) -> Statistics:
        """The statistics by values (names, hosts, pids) in place of numbers of rows."""
        sums = statistics.sums.with_columns(pl.col("domain", "name").cast(pl.String).fill_null(""))
        if self._by == "stream":
            streams = self._run.read("streams", ["stream", "stream_id"])
            sums = sums.join(streams, on="stream", how="left", maintain_order="left").with_columns(stream="stream_id")
        if self._by in ("file", "process", "rank", "stream"):
            sums = sums.join(self._processes, on="process", how="left", maintain_order="left")
        elif self._by == "gpu":
            sums = sums.join(self._gpus, on="agent", how="left", maintain_order="left")
        elif self._by == "marker":
            sums = sums.with_columns(pl.col("marker").cast(pl.String))
        return Statistics(keys, sums, statistics.values)

    def _keep(self, table: str, piece: pl.DataFrame) -> None:
        """Keep what `extents` and `gpus` need of a chunk."""
        if_timed = pl.when(pl.col("end_ns") >= pl.col("start_ns"))
        extents = {"start_ns": if_timed.then("start_ns").min(), "end_ns": if_timed.then("end_ns").max()}
        self._extents.append(piece.group_by("process").agg(**extents))
        if table == "dispatches":
            self._used_agents.update(piece["agent"].unique().drop_nulls())
        if table in _DOMAIN_OF:
            self._busy.add(piece if table == "dispatches" else piece.with_columns(copy_agent(self._gpus["agent"])))
