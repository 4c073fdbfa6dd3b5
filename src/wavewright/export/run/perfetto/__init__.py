"""A run as a Perfetto trace (`.pftrace`), which https://ui.perfetto.dev opens."""

from __future__ import annotations

import zlib
from os import PathLike
from pathlib import Path
from typing import Literal

from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.perfetto.call_slices import write_calls, write_marks
from wavewright.export.run.perfetto.counter_tracks import allocation_points, copy_points, monitor_points, sample_points
from wavewright.export.run.perfetto.emitter import Emitter
from wavewright.export.run.perfetto.gpu import write_gpu_work
from wavewright.export.run.perfetto.packets import Packets
from wavewright.export.run.perfetto.tracks import Tracks
from wavewright.model.losses import Loss
from wavewright.model.run import Run


def write_perfetto(
    run: Run, out: str | PathLike[str], *, force: bool = False, group_by: Literal["stream", "queue"] = "stream"
) -> Written:
    """Write a run as a Perfetto trace.

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
    """
    target = Path(out)
    counts = dict.fromkeys(
        ("dispatches", "copies", "regions", "samples", "points", "flows", "tracks", "overlap_tracks"), 0
    )
    losses: list[Loss] = []
    identity = "\n".join(f"{source.path}\0{source.format}" for source in run.origins)
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        packets = Packets(stream, first_track=(zlib.crc32(identity.encode("utf-8", "replace")) << 20) + 1)
        pids: set[int] = set()
        for part in run.parts:
            tracks = Tracks(packets, part, pids, group_by=group_by)
            _write_part(Emitter(packets, tracks, counts, losses), part, group_by)
        counts["tracks"] = packets.track_count
    return Written(target, counts, losses)


def _write_part(emitter: Emitter, run: Run, group_by: str) -> None:
    gpu_flows = write_gpu_work(emitter, run, group_by)
    write_calls(emitter, run, gpu_flows)
    write_marks(emitter, run)
    for points in (copy_points, allocation_points, monitor_points, sample_points):
        emitter.points(points(run, emitter.tracks))
    emitter.losses += left_out(run, ("arguments", "frames"))
