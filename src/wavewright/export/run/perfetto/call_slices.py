"""Calls, marker ranges and marks on the tracks of threads."""

from __future__ import annotations

import polars as pl

from wavewright.export.run.perfetto.emitter import PIECE_ROWS, Emitter
from wavewright.model.run import Run

_API_DOMAINS = ("HIP", "HSA", "MARKER", "RCCL", "ROCDECODE", "ROCJPEG")
_INTEGERS = {"corr_id": "correlation", "ancestor_id": "parent_correlation"}
_COLUMNS = ("process", "thread", "category", "domain", "name", "function", "start_ns", "end_ns", "correlation",
            "parent_correlation")  # fmt: skip


def write_calls(emitter: Emitter, run: Run, gpu_flows: pl.Series) -> None:
    """Write all calls and ranges; those that launched GPU work carry its flow.

    All calls of a source are sorted before they are written, because a range can be stored after the calls inside it;
    until then only a few bytes of each call are in memory.
    """
    parts = [_compact(emitter, piece, gpu_flows) for piece in run.chunks("regions", _COLUMNS)]
    if not parts:
        return
    calls = pl.concat(parts, how="vertical_relaxed", rechunk=False)
    parts.clear()
    order = calls.select(
        pl.arg_sort_by("place", "start_ns", "end_ns", descending=[False, False, True], maintain_order=True)
    ).to_series()
    writer = emitter.slices_on(may_nest=True)
    for start in range(0, calls.height, PIECE_ROWS):
        piece = calls[order.slice(start, PIECE_ROWS)]
        flow = emitter.flow(emitter.tracks.place_processes.gather(piece["place"]), piece["correlation"])
        piece = piece.with_columns(
            emitter.tracks.places.gather(piece["place"]).alias("track"), flow.set(~piece["is_launch"], None)
        )
        emitter.slices(writer, piece, piece["category"], emitter.annotations(piece, _INTEGERS, {"function": "called"}))
        emitter.counts["regions"] += piece.height
    emitter.finish(writer)


def _compact(emitter: Emitter, piece: pl.DataFrame, gpu_flows: pl.Series) -> pl.DataFrame:
    """The columns of calls that slices need, in small types."""
    calls = emitter.timed(piece, "calls and ranges")
    flow = emitter.flow(calls["process"], calls["correlation"])
    function = pl.when(pl.col("function") != pl.col("name")).then("function")
    return calls.select(
        emitter.tracks.place_of(calls).alias("place"),
        "name",
        function.alias("called"),
        category(calls).cast(pl.Categorical).alias("category"),
        "start_ns",
        "end_ns",
        _narrow(calls["correlation"]),
        _narrow(calls["parent_correlation"]),
        flow.is_in(gpu_flows.implode()).fill_null(value=False).alias("is_launch"),
    )


def _narrow(ids: pl.Series) -> pl.Series:
    """Ids as 32-bit integers if they fit."""
    least, most = ids.min(), ids.max()
    fits = isinstance(least, int) and isinstance(most, int) and least >= 0 and most < 1 << 32
    return ids.cast(pl.UInt32) if fits else ids


def write_marks(emitter: Emitter, run: Run) -> None:
    """Write all moments on threads."""
    columns = ["process", "thread", "category", "domain", "name", "time_ns", "correlation", "parent_correlation"]
    for samples in run.chunks("samples", columns):
        marks = samples.filter(pl.col("time_ns").ge(0))
        emitter.lose(samples.height - marks.height, "marks")
        if marks.height:
            track = emitter.tracks.places.gather(emitter.tracks.place_of(marks))
            emitter.instants(track, marks, category(marks), emitter.annotations(marks, _INTEGERS, {}))
            emitter.counts["samples"] += marks.height


def category(frame: pl.DataFrame) -> pl.Series:
    """hip_api, marker_api, ... as in Perfetto traces of rocprofv3; the recorded category for other domains."""
    domain = pl.col("domain").cast(pl.String)
    lower = domain.str.to_lowercase() + "_api"
    return frame.select(
        pl.when(domain.is_in(_API_DOMAINS)).then(lower).otherwise(pl.col("category").cast(pl.String))
    ).to_series()
