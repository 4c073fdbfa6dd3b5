"""A run as a Chrome trace (JSON): for chrome://tracing, Perfetto and everything else that reads this format.

The layout is that of rpd2tracing (docs/formats/chrome.md): GPU work per GPU and queue, calls per process and thread,
arrows from launches to their work, the depth of the queues, measured clocks, and markers painted over the work.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from wavescope import _core
from wavescope.export.kit.staging import staged
from wavescope.export.kit.written import Written, left_out
from wavescope.export.run.chrome import details as _details
from wavescope.export.run.chrome import rows as _rows
from wavescope.export.run.chrome.track_ids import TrackIds

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from wavescope.model.losses import Loss
    from wavescope.model.run import Run

_LEVEL = 6  #: Of compression: what gzip uses.


def write_chrome(run: Run, out: str | os.PathLike[str], *, force: bool = False, with_flows: bool = True) -> Written:
    """Write a run as a Chrome trace; compressed when the name ends with `.gz`.

    Times are microseconds with three decimals, exactly as recorded. Every process and GPU keeps its number where these
    differ.

    Parameters
    ----------
    out
        The file to make.
    force
        Replace an existing file.
    with_flows
        Whether arrows lead from launches to their work.

    Raises
    ------
    UsageError
        When the file exists and must not be replaced.
    WavescopeError
        When it cannot be written.
    """
    target = Path(out)
    with staged([target], force=force) as (twin,), twin.open("wb") as file:
        if target.suffix == ".gz":
            with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
                counts, losses = _write(run, packed.write, with_flows=with_flows)
        else:
            counts, losses = _write(run, file.write, with_flows=with_flows)
    return Written(target, counts, losses)


def _write(run: Run, write: Callable[[bytes], object], *, with_flows: bool) -> tuple[dict[str, int], list[Loss]]:
    trace = _core.ChromeTrace(write)
    _TraceWriter(run, trace).write(with_flows=with_flows)
    trace.finish()
    return {name: count for name, count in trace.counts.items() if count}, left_out(run, ["allocations"])


class _TraceWriter:
    """One pass over each table, then what follows from all of them."""

    def __init__(self, run: Run, trace: _core.ChromeTrace) -> None:
        self._run, self._trace = run, trace
        self._track_ids = TrackIds(run)
        self._last = 0
        self._kernels: list[pl.DataFrame] = []
        self._copies: list[pl.DataFrame] = []
        self._callers: list[pl.DataFrame] = []
        self._markers: list[pl.DataFrame] = []

    def write(self, *, with_flows: bool) -> None:
        """Everything, in the order of rpd2tracing but for the names, which are known at the end."""
        for table, pieces in (("dispatches", self._kernels), ("copies", self._copies)):
            for piece in _rows.work(self._run, table, self._track_ids):
                self._add(piece, _details.of_work(piece, self._track_ids))
                pieces.append(piece.select(_rows.KEPT_OF_WORK))
        work = [*self._kernels, *self._copies]
        self._add_graphs(work)
        for piece in _rows.calls(self._run, "regions", self._track_ids):
            self._add(piece, _details.of_calls(self._run, piece, self._track_ids))
            self._markers.append(_rows.markers(piece))
            self._callers.append(_rows.callers(piece))
        for piece in _rows.calls(self._run, "samples", self._track_ids):
            self._add(piece, _details.of_calls(self._run, piece, self._track_ids), are_marks=True)
        launched = _rows.launches(work, self._callers)
        if with_flows:
            self._trace.flows(launched)
        self._trace.queue_depths(launched, self._last)
        self._add_points(_rows.monitor_points(self._run, self._track_ids))
        for points in _rows.counter_points(self._run, self._kernels):
            self._add_points(points)
        self._add_frames(launched)
        self._trace.events(self._track_ids.events())

    def _add(self, piece: pl.DataFrame, details: tuple[pl.Series, list[str]], *, are_marks: bool = False) -> None:
        """Slices or marks; `details` = the number of the args of each, and the args as JSON objects."""
        names, texts = _rows.numbered(piece["name"])
        numbers, objects = details
        shown = piece.select("pid", "tid", "start_ns", "end_ns")
        add = self._trace.marks if are_marks else self._trace.slices
        add(
            shown.with_columns(names.alias("name"), numbers.alias("args")),
            _core.json_texts(texts),
            _core.json_values(objects),
        )
        self._last = max(self._last, cast("int", piece["end_ns"].max()))

    def _add_graphs(self, work: list[pl.DataFrame]) -> None:
        shown = [piece for piece in work if self._track_ids.shows_graphs(piece["process"][0])]
        spans = _rows.graphs(shown) if shown else None
        if spans is not None and spans.height:
            self._add(spans, _rows.objects(spans.select("kernels")))

    def _add_points(self, points: pl.DataFrame) -> None:
        names, texts = _rows.numbered(points["name"])
        self._trace.counters(points.with_columns(names.alias("name")), _core.json_texts(texts))

    def _add_frames(self, launched: pl.DataFrame) -> None:
        if self._markers:
            markers = pl.concat(self._markers)
            names, texts = _rows.numbered(markers["name"])
            self._trace.frames(launched, markers.with_columns(names.alias("name")), _core.json_texts(texts))
