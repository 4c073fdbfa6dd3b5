"""A run as a Chrome trace (JSON): for chrome://tracing, Perfetto and everything else that reads this format.

The layout is that of rpd2tracing (docs/formats/chrome.md): GPU work per GPU and queue, calls per process and thread,
arrows from launches to their work, the depth of the queues, measured clocks, and markers painted over the work.
Categories and arguments are those of PyTorch's Kineto, and so is the base time that all times are relative to.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec
import polars as pl

from wavewright import _core
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.chrome import details as _details
from wavewright.export.run.chrome import event_rows as _rows
from wavewright.export.run.chrome.track_ids import TrackIds
from wavewright.model.losses import Loss
from wavewright.model.run import Run

_LEVEL = 6  #: Of compression: what gzip uses.


def write_chrome(run: Run, out: str | os.PathLike[str], *, force: bool = False, with_flows: bool = True) -> Written:
    """Write a run as a Chrome trace; compressed when the name ends with `.gz`.

    Times are microseconds with three decimals since `baseTimeNanoseconds`: with it they are exactly those recorded,
    also when read as doubles. Every process and GPU keeps its number where these differ.

    Parameters
    ----------
    out
        The file to make.
    force
        Replace an existing file.
    with_flows
        Whether arrows lead from launches to their work.
    """
    target = Path(out)
    with staged([target], force=force) as (twin,), twin.open("wb") as file:
        if target.suffix == ".gz":
            with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as stream:
                counts, losses = _write(run, stream.write, with_flows=with_flows)
        else:
            counts, losses = _write(run, file.write, with_flows=with_flows)
    return Written(target, counts, losses)


def _write(run: Run, write: Callable[[bytes], object], *, with_flows: bool) -> tuple[dict[str, int], list[Loss]]:
    track_ids, base = TrackIds(run), _rows.base_time(run)
    head = {"baseTimeNanoseconds": base, "displayTimeUnit": "ns"}
    head |= {} if track_ids.rank is None else {"distributedInfo": {"rank": track_ids.rank}}
    trace = _core.ChromeTrace(_Headed(write, msgspec.json.encode(head)))
    writer = _TraceWriter(run, trace, track_ids, base)
    writer.write(with_flows=with_flows)
    trace.finish()
    counts = trace.counts | {"flows": writer.flow_count}
    return {name: count for name, count in counts.items() if count}, left_out(run, ["allocations"])


class _Headed:
    """Writes the members of a JSON object `head`, then those of another object that comes in blocks."""

    def __init__(self, write: Callable[[bytes], object], head: bytes) -> None:
        self._write, self._head = write, head[:-1] + b","

    def __call__(self, block: bytes) -> None:
        if self._head:
            self._write(self._head)
            self._head, block = b"", block[1:]  # without the brace that opens the other object
        self._write(block)


class _TraceWriter:
    """Writes the events of a run: one pass over each table, then arrows, counters and names of tracks."""

    def __init__(self, run: Run, trace: _core.ChromeTrace, track_ids: TrackIds, base: int) -> None:
        self._run, self._trace = run, trace
        self._track_ids, self._base = track_ids, base
        self._last = 0  # the latest end of an event, relative to the base
        self.flow_count = 0
        self._kernels: list[pl.DataFrame] = []
        self._copies: list[pl.DataFrame] = []
        self._callers: list[pl.DataFrame] = []
        self._markers: list[pl.DataFrame] = []

    def write(self, *, with_flows: bool) -> None:
        """Write all events, in the order of rpd2tracing; names of tracks come last, when all are known."""
        places = self._track_ids, self._base
        for table, pieces in (("dispatches", self._kernels), ("copies", self._copies)):
            for piece in _rows.work(self._run, table, *places):
                self._add(piece, _details.categories_of_work(piece), _details.of_work(piece, self._track_ids))
                pieces.append(piece.select(_rows.KEPT_OF_WORK))
        work = [*self._kernels, *self._copies]
        self._add_graphs(work)
        for table in ("regions", "samples"):
            for piece in _rows.calls(self._run, table, *places):
                args = _details.of_calls(self._run, piece, self._track_ids)
                categories = _details.categories_of_calls(piece, self._track_ids)
                self._add(piece, categories, args, are_marks=table == "samples")
                if table == "regions":
                    self._markers.append(_rows.markers(piece))
                    self._callers.append(_rows.callers(piece))
        launches = _rows.launches(work, self._callers)
        if with_flows:
            self._add_flows(launches)
        self._trace.queue_depths(launches, self._last)
        self._add_points(_rows.monitor_points(self._run, *places))
        for points in _rows.counter_points(self._run, self._kernels):
            self._add_points(points)
        self._add_frames(launches)
        self._trace.events(self._track_ids.events())

    def _add(self, piece: pl.DataFrame, categories: pl.Series, args: list[str], *, are_marks: bool = False) -> None:
        """Write slices or marks with their categories and their args, which are JSON objects."""
        names, texts = _named(piece["name"], categories)
        events = piece.select("pid", "tid", "start_ns", "end_ns")
        add = self._trace.marks if are_marks else self._trace.slices
        numbers = pl.int_range(piece.height, dtype=pl.UInt32, eager=True)
        add(events.with_columns(names.alias("name"), numbers.alias("args")), texts, _core.json_values(args))
        self._last = max(self._last, cast("int", piece["end_ns"].max()))

    def _add_graphs(self, work: list[pl.DataFrame]) -> None:
        pieces = [piece for piece in work if self._track_ids.shows_graphs(piece["process"][0])]
        spans = _rows.graphs(pieces) if pieces else None
        if spans is not None and spans.height:
            categories = pl.repeat(_details.FRAME, spans.height, eager=True)
            self._add(spans, categories, [f'{{"kernels":{count}}}' for count in spans["kernels"]])

    def _add_flows(self, launches: pl.DataFrame) -> None:
        """Write arrows: those of rpd2tracing for RPD files, those of Kineto for others."""
        processes = launches["process"].unique().to_list()
        of_rpd = launches.filter(pl.col("process").is_in([*filter(self._track_ids.is_rpd, processes)]))
        self._trace.flows(of_rpd)
        for events in _rows.flows(launches.join(of_rpd.select("process").unique(), on="process", how="anti")):
            self._trace.events(events)
        self.flow_count = launches.height

    def _add_points(self, points: pl.DataFrame) -> None:
        names, texts = _rows.numbered(points["name"])
        self._trace.counters(points.with_columns(names.alias("name")), _core.json_texts(texts))

    def _add_frames(self, launches: pl.DataFrame) -> None:
        if self._markers:
            markers = pl.concat(self._markers)
            names, texts = _named(markers["name"], pl.repeat(_details.FRAME, markers.height, eager=True))
            self._trace.frames(launches, markers.with_columns(names.alias("name")), texts)


def _named(names: pl.Series, categories: pl.Series) -> tuple[pl.Series, _core.JsonTexts]:
    """The number of each pair of name and category, and the pairs as JSON: the name, followed by the member `cat`."""
    pairs = pl.DataFrame({"name": names.cast(pl.String).fill_null(""), "cat": categories})
    unique = pairs.unique(maintain_order=True).with_row_index("number")
    numbers = pairs.join(unique, on=["name", "cat"], how="left", maintain_order="left")["number"]
    texts, words = (_core.json_texts(unique[column].to_list()) for column in ("name", "cat"))
    return numbers, _core.json_values([f'{texts[at]},"cat":{words[at]}' for at in range(unique.height)])
