"""Writes the events of a profile onto the tracks of a Perfetto trace."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wavescope import _core
from wavescope.export._staging import staged
from wavescope.export._written import Written
from wavescope.export.perfetto.counters import (
    DispatchCounters,
    allocation_points,
    copy_points,
    monitor_points,
    sample_points,
)
from wavescope.export.perfetto.packets import ANNOTATION, CATEGORY, NAME, TEXT, Packets
from wavescope.export.perfetto.tracks import Tracks
from wavescope.model.losses import Loss

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    import polars as pl

    from wavescope.model.profile import Profile

__all__ = ["write_perfetto"]

_PIECE_ROWS = 1 << 18
_NO_VALUE = -(1 << 63)
_MIX, _MIX_PROCESS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
_API_DOMAINS = ("HIP", "HSA", "MARKER", "RCCL", "ROCDECODE", "ROCJPEG")

# Annotation -> column. Sizes fit into 32 bits, which halves the memory.
_KERNEL_SIZES = {
    "LDS_Block_Size": "lds_bytes",
    "Scratch_Size": "scratch_bytes",
    "SGPR_Count": "sgpr_count",
    "VGPR_Count": "vgpr_count",
    "Accum_VGPR_Count": "accum_vgpr_count",
    "workgroup_size_x": "workgroup_x",
    "workgroup_size_y": "workgroup_y",
    "workgroup_size_z": "workgroup_z",
    "grid_size_x": "grid_x",
    "grid_size_y": "grid_y",
    "grid_size_z": "grid_z",
}
_GPU_INTEGERS = {
    "corr_id": "correlation",
    "dispatch_id": "dispatch_id",
    "kernel_id": "symbol_id",
    "tid": "tid",
    "queue": "queue_id",
    "stream_id": "stream_id",
    "copy_bytes": "size_bytes",
    **_KERNEL_SIZES,
}
_GPU_TEXTS = {"agent": "agent_label", "src_agent": "src_label", "dst_agent": "dst_label", "region": "region_name"}
_CALL_INTEGERS = {"corr_id": "correlation", "ancestor_id": "parent_correlation"}


def write_perfetto(
    profile: Profile,
    out: str | PathLike[str],
    *,
    force: bool = False,
    group_by: Literal["stream", "queue"] = "stream",
) -> Written:
    """Write a profile as a Perfetto trace.

    Every process has its threads, with calls, marker ranges and marks, and below it a track for each GPU with a
    track for each stream (or queue), with dispatches and copies, and counters: values of every dispatch, bytes that
    are being copied to the GPU, bytes that are allocated on it, clock and power where they were recorded. A call and
    the GPU work it issued are connected by arrows. Times are never changed: what overlaps on a track goes to a track
    below it.

    Parameters
    ----------
    out
        The file to make.
    force
        Replace an existing file.
    group_by
        Whether the tracks of a GPU are its streams or its queues.

    Raises
    ------
    UsageError
        When the file exists and `force` is not given.
    WavescopeError
        When the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from wavescope.model.profile import Profile
    >>> write_perfetto(Profile([]), tempfile.mkdtemp() + "/run.pftrace").counts["kernels"]
    0
    """
    target = Path(out)
    counts = dict.fromkeys(
        ("kernels", "copies", "regions", "samples", "points", "flows", "tracks", "overlap_tracks"), 0
    )
    losses: list[Loss] = []
    identity = "\n".join(f"{source.path}\0{source.format}" for source in profile.origins)
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        packets = Packets(stream, first_track=(zlib.crc32(identity.encode("utf-8", "replace")) << 20) + 1)
        pids: set[int] = set()
        for part in profile.parts:
            _Part(packets, part, Tracks(packets, part, pids, group_by=group_by), counts, losses, group_by).write()
        counts["tracks"] = packets.track_count
    return Written(target, counts, losses)


class _Part:
    """One source."""

    def __init__(
        self,
        packets: Packets,
        profile: Profile,
        tracks: Tracks,
        counts: dict[str, int],
        losses: list[Loss],
        group_by: str,
    ) -> None:
        self._packets = packets
        self._profile = profile
        self._tracks = tracks
        self._counts = counts
        self._losses = losses
        self._line = group_by

    def write(self) -> None:
        """All its events."""
        flows = self._gpu_work()
        self._calls(flows)
        self._marks()
        for points in (copy_points, allocation_points, monitor_points, sample_points):
            self._points(points(self._profile, self._tracks))
        for table in ("arguments", "frames"):
            count = sum(piece.height for piece in self._profile.chunks(table, ["process"]))
            if count:
                self._losses.append(Loss("not_in_format", count=count, detail=table))

    def _gpu_work(self) -> pl.Series:
        """Dispatches and copies; gives the flows that begin at calls."""
        import polars as pl

        pieces = [*self._dispatches(), *self._copies()]
        if not pieces:
            return pl.Series(dtype=pl.UInt64)
        work = self._timed(pl.concat(pieces, how="diagonal_relaxed"), "dispatches and copies")
        work = work.with_columns(self._tracks.of_gpus(work).alias("track"), _flow(self._tracks, work))
        order = work.select(pl.arg_sort_by("track", "begin_ns", "end_ns")).to_series()
        writer = _core.PerfettoSlices(self._packets.next_child, may_nest=False)
        counters = DispatchCounters(self._profile, self._tracks)
        for start in range(0, work.height, _PIECE_ROWS):
            piece = counters.joined(self._described(work[order.slice(start, _PIECE_ROWS)]))
            annotations = self._annotations(piece, _GPU_INTEGERS, _GPU_TEXTS)
            for name, values in counters.columns(piece).items():
                number = self._packets.text_id(ANNOTATION, name)
                annotations.append((number, "fraction", values.fill_null(float("nan"))))
            self._slices(writer, piece, piece["kind"], annotations)
            self._points(counters.points(piece))
            dispatches = int((piece["kind"] == "kernel_dispatch").sum())
            self._counts["kernels"] += dispatches
            self._counts["copies"] += piece.height - dispatches
        self._finish(writer)
        return work["flow"].unique()

    def _dispatches(self) -> Iterable[pl.DataFrame]:
        import polars as pl

        columns = ["process", "thread", "agent", "queue", "stream", "symbol", "name", "begin_ns", "end_ns",
                   "correlation", "dispatch_id", "event", "region_name", *_KERNEL_SIZES.values()]  # fmt: skip
        sizes = pl.col(list(_KERNEL_SIZES.values())).cast(pl.UInt32, strict=False)
        for piece in self._profile.chunks("kernels", columns):
            yield piece.with_columns(sizes, kind=pl.lit("kernel_dispatch"), line=pl.col(self._line))

    def _copies(self) -> Iterable[pl.DataFrame]:
        import polars as pl

        columns = ["process", "thread", "src_agent", "dst_agent", "queue", "stream", "name", "begin_ns", "end_ns",
                   "correlation", "size_bytes"]  # fmt: skip
        is_gpu = self._profile.read("agents", ["kind"])["kind"].ne_missing("CPU")
        for piece in self._profile.chunks("copies", columns):
            to_gpu = is_gpu.gather(piece["dst_agent"]).fill_null(value=False)
            agent = piece["dst_agent"].zip_with(to_gpu, piece["src_agent"].fill_null(piece["dst_agent"]))
            yield piece.with_columns(agent.alias("agent"), kind=pl.lit("memory_copy"), line=pl.col(self._line))

    def _described(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Numbers of rows as what they stand for."""
        import polars as pl

        added = []
        for column, table, wanted in (
            ("thread", "threads", "tid"),
            ("queue", "queues", "queue_id"),
            ("stream", "streams", "stream_id"),
            ("symbol", "symbols", "symbol_id"),
        ):
            if column in piece.columns:
                added.append(self._profile.table(table)[wanted].gather(piece[column]).alias(wanted))
        labels = self._tracks.agent_labels
        is_copy = piece["kind"] == "memory_copy"
        for column, wanted in (("src_agent", "src_label"), ("dst_agent", "dst_label")):
            if column in piece.columns:
                added.append(labels.gather(piece[column]).alias(wanted))
        agent = labels.gather(piece["agent"]).set(is_copy, None)
        region = piece["region_name"].cast(pl.String).replace("", None) if "region_name" in piece.columns else None
        return piece.with_columns(*added, agent.alias("agent_label"), *([region] if region is not None else []))

    def _calls(self, gpu_flows: pl.Series) -> None:
        import polars as pl

        columns = ["process", "thread", "category", "domain", "name", "function", "begin_ns", "end_ns", "correlation",
                   "parent_correlation"]  # fmt: skip
        calls = self._timed(self._profile.read("regions", columns), "calls and ranges")
        calls = calls.with_columns(self._tracks.of_threads(calls).alias("track"), _flow(self._tracks, calls))
        calls = calls.drop("process", "thread").with_columns(
            flow=pl.when(pl.col("flow").is_in(gpu_flows.implode())).then("flow")
        )
        order = calls.select(
            pl.arg_sort_by("track", "begin_ns", "end_ns", descending=[False, False, True], maintain_order=True)
        ).to_series()
        writer = _core.PerfettoSlices(self._packets.next_child, may_nest=True)
        for start in range(0, calls.height, _PIECE_ROWS):
            function = pl.when(pl.col("function") != pl.col("name")).then("function")
            piece = calls[order.slice(start, _PIECE_ROWS)].with_columns(called=function)
            annotations = self._annotations(piece, _CALL_INTEGERS, {"function": "called"})
            self._slices(writer, piece, _category(piece), annotations)
            self._counts["regions"] += piece.height
        self._finish(writer)

    def _marks(self) -> None:
        import polars as pl

        columns = ["process", "thread", "category", "domain", "name", "time_ns", "correlation", "parent_correlation"]
        for found in self._profile.chunks("samples", columns):
            marks = found.filter(pl.col("time_ns").ge(0))
            self._lose(found.height - marks.height, "marks")
            if marks.is_empty():
                continue
            names = self._packets.text_ids(NAME, marks["name"].fill_null(""))
            categories = self._packets.text_ids(CATEGORY, _category(marks).fill_null(""))
            annotations = self._annotations(marks, _CALL_INTEGERS, {})
            no_flow = pl.zeros(marks.height, pl.UInt64, eager=True)
            tracks = self._tracks.of_threads(marks)
            made = _core.perfetto_instants(tracks, marks["time_ns"], names, categories, no_flow, annotations)
            self._packets.write(made)
            self._counts["samples"] += marks.height

    def _timed(self, frame: pl.DataFrame, what: str) -> pl.DataFrame:
        """Rows that have a begin; ends that are missing or earlier than the begin are the begin."""
        import polars as pl

        begin, end = pl.col("begin_ns"), pl.col("end_ns")
        kept = frame.filter(begin.ge(0)).with_columns(pl.max_horizontal(begin, end).alias("end_ns"))
        self._lose(frame.height - kept.height, what)
        return kept

    def _lose(self, count: int, what: str) -> None:
        if count:
            self._losses.append(Loss("not_in_format", count=count, detail=f"{what} (no time, or one before 0)"))

    def _annotations(
        self, piece: pl.DataFrame, integers: dict[str, str], texts: dict[str, str]
    ) -> list[tuple[int, str, object]]:
        import polars as pl

        found: list[tuple[int, str, object]] = []
        for columns, kind in ((integers, "integer"), (texts, "text")):
            for name, column in columns.items():
                if column in piece.columns and piece[column].null_count() < piece.height:
                    values = self._packets.text_ids(TEXT, piece[column]) if kind == "text" else piece[column]
                    number = self._packets.text_id(ANNOTATION, name)
                    found.append((number, kind, values.cast(pl.Int64).fill_null(_NO_VALUE)))
        return found

    def _slices(
        self,
        writer: _core.PerfettoSlices,
        piece: pl.DataFrame,
        category: pl.Series,
        annotations: list[tuple[int, str, object]],
    ) -> None:
        names = self._packets.text_ids(NAME, piece["name"].fill_null(""))
        categories = self._packets.text_ids(CATEGORY, category.fill_null(""))
        flows = piece["flow"].fill_null(0)
        times = (piece["begin_ns"], piece["end_ns"])
        self._packets.write(writer.add(piece["track"], *times, names, categories, flows, annotations))
        self._counts["flows"] += int((flows != 0).sum())

    def _finish(self, writer: _core.PerfettoSlices) -> None:
        self._packets.write(writer.finish())
        self._packets.next_child = writer.next_child
        self._counts["overlap_tracks"] += writer.child_count

    def _points(self, points: pl.DataFrame) -> None:
        import polars as pl

        kept = points.filter(pl.col("time_ns").ge(0), pl.col("value").is_not_null())
        if kept.height:
            self._packets.write(_core.perfetto_points(kept["track"], kept["time_ns"], kept["value"].cast(pl.Float64)))
            self._counts["points"] += kept.height


def _flow(tracks: Tracks, frame: pl.DataFrame) -> pl.Series:
    """A number for each row's process and correlation; null where there is no correlation."""
    import polars as pl

    process = pl.Series("process_track", tracks.processes.gather(frame["process"]))
    correlation = pl.when(pl.col("correlation") != 0).then(pl.col("correlation").reinterpret(signed=False))
    mixed = correlation * pl.lit(_MIX, pl.UInt64) + process * pl.lit(_MIX_PROCESS, pl.UInt64)
    return frame.select(mixed.alias("flow")).to_series()


def _category(frame: pl.DataFrame) -> pl.Series:
    """hip_api, marker_api, ... as Perfetto traces of rocprofv3 have it; other categories as they are."""
    import polars as pl

    domain = pl.col("domain").cast(pl.String)
    lower = domain.str.to_lowercase() + "_api"
    return frame.select(
        pl.when(domain.is_in(_API_DOMAINS)).then(lower).otherwise(pl.col("category").cast(pl.String))
    ).to_series()
