"""Dispatches and copies on the tracks of GPUs."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright import _core
from wavewright.export.run.labels import gpu_of_copies
from wavewright.export.run.perfetto.counter_tracks import DispatchCounters
from wavewright.export.run.perfetto.emitter import PIECE_ROWS, Emitter
from wavewright.export.run.perfetto.packets import ANNOTATION
from wavewright.facts.loader import packaged
from wavewright.model.run import Run

_SIZES: dict[str, str] = packaged("annotations.toml", __package__)["sizes"]
_INTEGERS: dict[str, str] = packaged("annotations.toml", __package__)["integers"] | _SIZES
_TEXTS: dict[str, str] = packaged("annotations.toml", __package__)["texts"]
_KERNEL, _COPY = "kernel_dispatch", "memory_copy"


def write_gpu_work(emitter: Emitter, run: Run, group_by: str) -> pl.Series:
    """Write all dispatches and copies, and the counters of dispatches; returns the flows that lead to them."""
    return _GpuWork(emitter, run, group_by).write()


class _GpuWork:
    def __init__(self, emitter: Emitter, run: Run, group_by: str) -> None:
        self._emitter = emitter
        self._run = run
        self._line = group_by
        self._counters = DispatchCounters(run, emitter.tracks)
        self._lookups = {
            name: (column, run.read(table, [name])[name])
            for column, table, name in (
                ("thread", "threads", "tid"),
                ("queue", "queues", "queue_id"),
                ("stream", "streams", "stream_id"),
                ("symbol", "symbols", "symbol_id"),
            )
        }
        labels = emitter.tracks.agent_labels
        self._lookups |= {"src_label": ("src_agent", labels), "dst_label": ("dst_agent", labels)}

    def write(self) -> pl.Series:
        """Write dispatches in the chunks of the source, each with the copies of the same time."""
        writer = self._emitter.slices_on(may_nest=False)
        flows = [pl.Series(dtype=pl.UInt64)]
        for work in self._pieces():
            timed_work = self._emitter.timed(work, "dispatches and copies")
            track = self._emitter.tracks.of_gpus(timed_work)
            flow = self._emitter.flow(timed_work["process"], timed_work["correlation"])
            timed_work = timed_work.with_columns(track.alias("track"), flow)
            order = timed_work.select(pl.arg_sort_by("track", "start_ns", "end_ns")).to_series()
            for start in range(0, timed_work.height, PIECE_ROWS):
                self._write_piece(writer, timed_work[order.slice(start, PIECE_ROWS)])
            flows.append(flow.drop_nulls().unique())
        self._emitter.finish(writer)
        return pl.concat(flows).unique()

    def _write_piece(self, writer: _core.PerfettoSlices, work: pl.DataFrame) -> None:
        piece = self._counters.joined(self._described(work))
        annotations = self._emitter.annotations(piece, _INTEGERS, _TEXTS)
        for name, values in self._counters.columns(piece).items():
            number = self._emitter.packets.text_id(ANNOTATION, name)
            annotations.append((number, "fraction", values.fill_null(float("nan"))))
        self._emitter.slices(writer, piece, piece["kind"], annotations)
        self._emitter.points(self._counters.points(piece))
        dispatches = int((piece["kind"] == _KERNEL).sum())
        self._emitter.counts["dispatches"] += dispatches
        self._emitter.counts["copies"] += piece.height - dispatches

    def _pieces(self) -> Iterator[pl.DataFrame]:
        """Chunks of dispatches with the copies that started meanwhile: on tracks that both use, times must ascend."""
        copies = self._copies()
        done = 0
        for dispatches in self._dispatches():
            last = dispatches["start_ns"].max()
            upto = copies["start_ns"].search_sorted(last, side="right") if isinstance(last, int) else done
            yield pl.concat([dispatches, copies[done:upto]], how="diagonal_relaxed")
            done = max(done, upto)
        if done < copies.height:
            yield copies[done:]

    def _dispatches(self) -> Iterator[pl.DataFrame]:
        columns = ["process", "thread", "agent", "queue", "stream", "symbol", "name", "start_ns", "end_ns",
                   "correlation", "dispatch_id", "event", "region_name", *_SIZES.values()]  # fmt: skip
        for piece in self._run.chunks("dispatches", columns):
            yield piece.with_columns(kind=pl.lit(_KERNEL), line=pl.col(self._line))

    def _copies(self) -> pl.DataFrame:
        columns = ["process", "thread", "src_agent", "dst_agent", "queue", "stream", "name", "start_ns", "end_ns",
                   "correlation", "size_bytes"]  # fmt: skip
        copies = self._run.read("copies", columns).sort("start_ns", nulls_last=False)
        return copies.with_columns(gpu_of_copies(self._run, copies), kind=pl.lit(_COPY), line=pl.col(self._line))

    def _described(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The rows with ids and labels of what they refer to by row number."""
        lookups = [
            values.gather(piece[column]).alias(name)
            for name, (column, values) in self._lookups.items()
            if column in piece.columns
        ]
        agent = self._emitter.tracks.agent_labels.gather(piece["agent"]).set(piece["kind"] == _COPY, None)
        lookups.append(agent.alias("agent_label"))
        if "region_name" in piece.columns:
            lookups.append(piece["region_name"].cast(pl.String).replace("", None))
        return piece.with_columns(lookups)
