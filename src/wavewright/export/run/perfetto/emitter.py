"""Writes rows of events as packets, in which names and annotations are numbers of interned strings."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.run.measures.event_rows import timed
from wavewright.export.run.perfetto.packets import ANNOTATION, CATEGORY, NAME, TEXT, Packets
from wavewright.export.run.perfetto.tracks import Tracks
from wavewright.model.losses import Loss

PIECE_ROWS = 1 << 18  #: Rows that become packets at once.

#: The interned name, the kind (integer, text, fraction) and the column of each annotation.
Annotations = list[tuple[int, str, object]]

_NO_VALUE = -(1 << 63)  #: An integer annotation that a row does not have.
_MIX, _MIX_PROCESS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  #: Odd factors that spread the bits of flow ids.


class Emitter:
    """Writes the events of one source, and counts the written and the lost ones."""

    def __init__(self, packets: Packets, tracks: Tracks, counts: dict[str, int], losses: list[Loss]) -> None:
        self.packets = packets
        self.tracks = tracks
        self.counts = counts
        self.losses = losses

    def slices_on(self, *, may_nest: bool) -> _core.PerfettoSlices:
        """A writer of slices; `finish` it."""
        return _core.PerfettoSlices(self.packets.next_child, may_nest=may_nest)

    def slices(
        self, writer: _core.PerfettoSlices, piece: pl.DataFrame, category: pl.Series, annotations: Annotations
    ) -> None:
        """Slices with `track`, `start_ns`, `end_ns`, `name` and `flow` (null = none), sorted for the writer."""
        names = self.packets.text_ids(NAME, piece["name"].fill_null(""))
        categories = self.packets.text_ids(CATEGORY, category.fill_null(""))
        flows = piece["flow"].fill_null(0)
        times = (piece["start_ns"], piece["end_ns"])
        self.packets.write(writer.add(piece["track"], *times, names, categories, flows, annotations))
        self.counts["flows"] += int((flows != 0).sum())

    def finish(self, writer: _core.PerfettoSlices) -> None:
        """End the slices that are still open."""
        self.packets.write(writer.finish())
        self.packets.next_child = writer.next_child
        self.counts["overlap_tracks"] += writer.child_count

    def instants(self, track: pl.Series, marks: pl.DataFrame, category: pl.Series, annotations: Annotations) -> None:
        """Moments with `time_ns` and `name`."""
        names = self.packets.text_ids(NAME, marks["name"].fill_null(""))
        categories = self.packets.text_ids(CATEGORY, category.fill_null(""))
        no_flow = pl.zeros(marks.height, pl.UInt64, eager=True)
        packets = _core.perfetto_instants(track, marks["time_ns"], names, categories, no_flow, annotations)
        self.packets.write(packets)

    def points(self, points: pl.DataFrame) -> None:
        """Values of counter tracks: `track`, `time_ns`, `value`."""
        valid = points.filter(pl.col("time_ns").ge(0), pl.col("value").is_not_null())
        if valid.height:
            self.packets.write(_core.perfetto_points(valid["track"], valid["time_ns"], valid["value"].cast(pl.Float64)))
            self.counts["points"] += valid.height

    def annotations(self, piece: pl.DataFrame, integers: dict[str, str], texts: dict[str, str]) -> Annotations:
        """Annotations out of columns (name -> column); columns that are missing or all null give none."""
        annotations: Annotations = []
        for columns, kind in ((integers, "integer"), (texts, "text")):
            for name, column in columns.items():
                if column in piece.columns and piece[column].null_count() < piece.height:
                    values = self.packets.text_ids(TEXT, piece[column]) if kind == "text" else piece[column]
                    number = self.packets.text_id(ANNOTATION, name)
                    annotations.append((number, kind, values.cast(pl.Int64).fill_null(_NO_VALUE)))
        return annotations

    def timed(self, frame: pl.DataFrame, name: str) -> pl.DataFrame:
        """Rows that have a time; the others are counted as lost."""
        rows = timed(frame)
        self.lose(frame.height - rows.height, name)
        return rows

    def lose(self, count: int, name: str) -> None:
        """Record the loss of rows that have no place in the trace."""
        if count:
            self.losses.append(Loss("not_in_format", count=count, detail=f"{name} (no time, or one before 0)"))

    def flow(self, process: pl.Series, correlation: pl.Series) -> pl.Series:
        """The flow id of each pair of process and correlation; null without a correlation."""
        owner = self.tracks.processes.gather(process).alias("owner")
        frame = pl.DataFrame([owner, correlation.cast(pl.Int64).alias("correlation")])
        recorded = pl.when(pl.col("correlation") != 0).then(pl.col("correlation").reinterpret(signed=False))
        mixed = recorded * pl.lit(_MIX, pl.UInt64) + pl.col("owner") * pl.lit(_MIX_PROCESS, pl.UInt64)
        return frame.select(mixed.alias("flow")).to_series()
