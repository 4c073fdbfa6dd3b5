"""A run for speedscope (https://www.speedscope.app): one timeline per thread and per queue of a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import polars as pl

from wavewright.export.kit.json_text import encode
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.timelines import timelines
from wavewright.model.run_labels import process_label

if TYPE_CHECKING:
    from os import PathLike

    from wavewright.export.run.timelines import Timeline
    from wavewright.model.losses import Loss
    from wavewright.model.run import Run

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_LEFT_OUT = ("allocations", "counters", "arguments", "monitors", "frames")
_PIECE_ROWS = 1 << 18


def write_speedscope(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write a run as a speedscope file with events in nanoseconds.

    Calls, ranges and marks of a thread are nested as they were; dispatches and copies of a queue follow each other;
    what overlaps has a timeline of its own. Counters, allocations and arguments have no place in this format.
    """
    target = Path(out)
    counts = {"regions": 0, "dispatches": 0, "copies": 0, "samples": 0, "timelines": 0}
    losses: list[Loss] = []
    frames: dict[str, int] = {}
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        stream.write(b'{"$schema":' + encode(_SCHEMA) + b',"exporter":"wavewright","profiles":[')
        for part in run.parts:
            _write_part(part, stream, frames, counts, losses)
        shared = {"frames": [{"name": name} for name in frames]}
        stream.write(b'],"shared":' + encode(shared) + b"}\n")
    for table in ("dispatches", "copies", "regions", "samples"):
        counts[table] = run.count(table)
    losses += left_out(run, _LEFT_OUT)
    return Written(target, counts, losses)


def _write_part(
    run: Run, stream: IO[bytes], frames: dict[str, int], counts: dict[str, int], losses: list[Loss]
) -> None:
    hostnames = run.read("nodes", ["hostname"])["hostname"].to_list()
    processes = [process_label(row, hostnames) for row in run.read("processes").to_dicts()]
    begins, ends = _spans(run)
    for timeline in timelines(run, losses):
        process = timeline.track.process
        owner = "no process" if process is None else processes[process]
        head = {
            "type": "evented",
            "name": f"{owner}: {timeline.track.label}",
            "unit": "nanoseconds",
            "startValue": begins[process],
            "endValue": ends[process],
        }
        stream.write((b"," if counts["timelines"] else b"") + encode(head).removesuffix(b"}") + b',"events":[')
        _write_events(timeline, stream, frames)
        stream.write(b"]}")
        counts["timelines"] += 1


def _write_events(timeline: Timeline, stream: IO[bytes], frames: dict[str, int]) -> None:
    events = timeline.events.with_columns(_frame_numbers(timeline.events["name"], frames).alias("frame"))
    kind = pl.when("is_end").then(pl.lit("C")).otherwise(pl.lit("O"))
    text = pl.format('{{"type":"{}","frame":{},"at":{}}}', kind, "frame", "time_ns")
    for start in range(0, events.height, _PIECE_ROWS):
        piece = events.slice(start, _PIECE_ROWS).select(text.str.join(",")).item()
        stream.write((b"," if start else b"") + piece.encode())


def _frame_numbers(names: pl.Series, frames: dict[str, int]) -> pl.Series:
    """Numbers of the names among `frames`, which grows."""
    distinct = names.fill_null("").unique(maintain_order=True)
    numbers = [frames.setdefault(name, len(frames)) for name in distinct.cast(pl.String)]
    return names.fill_null("").to_physical().replace_strict(distinct.to_physical(), numbers, return_dtype=pl.UInt32)


def _spans(run: Run) -> tuple[dict[int | None, int], dict[int | None, int]]:
    """Start of the first and end of the last event of each process."""
    parts = []
    for table in ("dispatches", "copies", "regions", "samples"):
        begin, end = ("time_ns", "time_ns") if table == "samples" else ("start_ns", "end_ns")
        for piece in run.chunks(table, list(dict.fromkeys(["process", begin, end]))):
            timed_rows = piece.filter(pl.col(begin).ge(0))
            last = pl.max_horizontal(pl.col(begin), pl.col(end)).max().alias("end")
            parts.append(timed_rows.group_by("process").agg(pl.col(begin).min().alias("begin"), last))
    if not parts:
        return {}, {}
    spans = pl.concat(parts).group_by("process").agg(pl.col("begin").min(), pl.col("end").max())
    return dict(spans.select("process", "begin").iter_rows()), dict(spans.select("process", "end").iter_rows())
