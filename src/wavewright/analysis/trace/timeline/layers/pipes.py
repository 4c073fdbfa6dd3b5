"""Issues of the pipes of every SIMD."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.common.step_functions import Sums
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.analysis.common.timeline import LayerNumbers, Timeline
from wavewright.analysis.trace.clocks import aligned, aligned_cycles
from wavewright.analysis.trace.pipes import (
    BUBBLE,
    BUSY,
    PIPES,
    RESIDENT,
    base_clock,
    matrix_rows,
    pipe_cycles_of_rows,
    pipe_rules,
)
from wavewright.analysis.trace.timeline.layers.common_time import rows_of_waves, timeline
from wavewright.analysis.trace.timeline.layers.event_layer import neighbours
from wavewright.analysis.trace.timeline.layers.instructions import category_kinds
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

_UNIT = ("se", "simd")  #: Columns that name a SIMD: an engine traces one CU.
_NAMES = list(PIPES)


def pipes(trace: ThreadTrace) -> Timeline:
    """From time + stall to the end of the duration, at least one base clock; items are rows of `instructions`.

    Messages and immediate instructions take one base clock. Memory instructions of the neighbour SIMD (gfx11 and later)
    join its VMEM pipe; their items lie behind those of `instructions`.
    """
    tracks = pipe_tracks(trace)
    return timeline(
        trace, "pipes", "Utilization", tracks, category_kinds(trace), spans=lambda: _spans(trace, tracks),
        pyramid=None if trace.other_simd.height else lambda layer: _pyramid(trace, tracks, layer),
    )  # fmt: skip


@once_per_trace
def pipe_tracks(trace: ThreadTrace) -> pl.DataFrame:
    """A track for every pipe of a SIMD to which anything was issued; `number` is that of the pipe among all units."""
    units, rules = _units(trace), pipe_rules(trace.code, base_clock(trace.gfxip))
    used = _core.used_pipes(_waves(trace, units), trace.instructions, rules, units.height)
    unit_tracks = [
        unit * len(_NAMES) + pipe for unit, bits in enumerate(used) for pipe in range(len(_NAMES)) if bits >> pipe & 1
    ]
    numbers = sorted({*unit_tracks, *_neighbours(trace, units)["track"].drop_nulls().unique().to_list()})
    numbered = pl.DataFrame({"number": pl.Series(numbers, dtype=pl.UInt32)}).with_columns(
        unit=pl.col("number") // len(_NAMES),
        pipe=(pl.col("number") % len(_NAMES)).replace_strict(dict(enumerate(_NAMES)), return_dtype=pl.String),
    )
    placed = numbered.join(units, on="unit", maintain_order="left").with_row_index("track")
    label, group = pl.format("SIMD {} {}", "simd", "pipe"), pl.format("SE {}", "se")
    return placed.select("track", label.alias("label"), group.alias("group"), *_UNIT, "pipe", "number", "unit")


@once_per_trace
def busy_times(trace: ThreadTrace) -> _core.BusyTimes:
    """The times in which every pipe issues and is busy, SIMD by SIMD, by the numbers of `unit` in `pipe_tracks`."""
    units = _units(trace)
    lifetimes = trace.waves.select(pl.col("start_cycles", "end_cycles").cast(pl.Int64).fill_null(0))
    waves = pl.concat([_waves(trace, units).rename({"track": "unit"}), lifetimes], how="horizontal")
    beside = _neighbours(trace, units).drop_nulls("track").with_columns(unit=pl.col("track") // len(_NAMES))
    rules, vmem = pipe_rules(trace.code, base_clock(trace.gfxip)), _NAMES.index("VMEM")
    return _core.BusyTimes(waves, trace.instructions, rules, pipe_cycles_of_rows(trace), beside, vmem, units.height)


def _units(trace: ThreadTrace) -> pl.DataFrame:
    """The SIMDs of all engines, the neighbours included."""
    both = pl.concat([trace.waves.select(_UNIT), neighbours(trace).select(_UNIT)])
    return both.unique().sort(_UNIT).with_row_index("unit")


def _waves(trace: ThreadTrace, units: pl.DataFrame) -> pl.DataFrame:
    """The waves with the number of their unit as track."""
    placed = trace.waves.join(units, on=_UNIT, how="left", maintain_order="left", nulls_equal=True)
    return placed.select(placed["unit"].alias("track"), *rows_of_waves(trace, "instruction"))


def _neighbours(trace: ThreadTrace, units: pl.DataFrame) -> pl.DataFrame:
    joined = neighbours(trace).with_row_index("record")
    joined = joined.join(units, on=_UNIT, how="left", maintain_order="left", nulls_equal=True)
    time = aligned_cycles(trace, "time_cycles")
    return joined.select(
        track=pl.col("unit") * len(_NAMES) + pl.lit(_NAMES.index("VMEM"), pl.UInt32),
        begin=time,
        end=time + pl.col("duration_cycles").cast(pl.Int64).clip(lower_bound=1),
        kind=pl.col("category").cast(pl.UInt16),
        item=(pl.col("record").cast(pl.Int64) + trace.instructions.height).cast(pl.Int32),
    )


def _spans(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    units, rules = _units(trace), pipe_rules(trace.code, base_clock(trace.gfxip))
    is_matrix = matrix_rows(trace.code.sort("row")).cast(pl.UInt8)
    track_numbers = _track_numbers(tracks, units.height)
    issued = _core.issued_spans(_waves(trace, units), trace.instructions, is_matrix, rules, track_numbers, len(_NAMES))
    spans = pl.DataFrame(issued)
    if not trace.other_simd.height:
        return spans
    beside = _neighbours(trace, units)
    beside = beside.with_columns(track=track_numbers.gather(beside["track"]).fill_null(_core.NO_TRACK))
    return pl.concat([spans.with_columns(item=pl.int_range(pl.len(), dtype=pl.Int32)), beside])


def _pyramid(trace: ThreadTrace, tracks: pl.DataFrame, layer: LayerNumbers) -> _core.SpanPyramid:
    units, rules = _units(trace), pipe_rules(trace.code, base_clock(trace.gfxip))
    is_matrix, track_numbers = matrix_rows(trace.code.sort("row")).cast(pl.UInt8), _track_numbers(tracks, units.height)
    waves = _waves(trace, units)
    return _core.issued_pyramid(layer, waves, trace.instructions, is_matrix, rules, track_numbers, len(_NAMES))


def _track_numbers(tracks: pl.DataFrame, unit_count: int) -> pl.Series:
    """The track of every pipe of every unit; NO_TRACK = none."""
    all_numbers = pl.DataFrame({"number": pl.int_range(unit_count * len(_NAMES), dtype=pl.UInt32, eager=True)})
    joined = all_numbers.join(tracks.select("number", "track"), on="number", how="left", maintain_order="left")
    return joined["track"].fill_null(_core.NO_TRACK)


NO_ISSUE = "no issue"  #: The curve of a SIMD that is 1 while a traced wave is there and no pipe issues.
ALIVE = "resident"  #: The curve of a SIMD that is 1 while a traced wave is there.
_KINDS = {NO_ISSUE: BUBBLE, ALIVE: RESIDENT}
_NUMBERS = {pipe: number for number, pipe in enumerate(PIPES)} | _KINDS


@dataclass(frozen=True)
class PipeSeries:
    """A pipe of a SIMD, or what `NO_ISSUE` and `ALIVE` say: 1 while it is so, else 0. Times are aligned."""

    se: int
    simd: int
    pipe: str
    #: Start of the first traced wave of the SIMD, or of its engine where only a neighbour was traced.
    start_cycles: int
    end_cycles: int
    unit: int = field(repr=False, compare=False)  #: Number of the SIMD in `times`.
    times: _core.BusyTimes = field(repr=False, compare=False)
    kind: int  #: Of its times.

    step_count = 0  #: A curve needs no steps: the core has its sums.

    def sums(self, bins: TimeBins) -> Sums:
        """Cycles of each bin, and whether it is so at any time and all the time. The last bin ends where all do."""
        table = self.times.covered(self.unit, self.kind, bins.numbers, bins.end_cycles)
        covered = pl.DataFrame(table)["cycles"].to_numpy()
        edges = bins.start_cycles + bins.width_cycles * np.arange(bins.count + 1, dtype=np.int64)
        lengths = np.diff(np.minimum(edges, bins.end_cycles))
        low, high = (covered == lengths).astype(np.float64), (covered > 0).astype(np.float64)
        return Sums(covered.astype(np.float64), lengths.astype(np.float64), low, high)


@once_per_trace
def pipe_shares(trace: ThreadTrace) -> tuple[PipeSeries, ...]:
    """Curves of all pipes that issue anything, while they issue, as `utilization` counts that, SIMD by SIMD."""
    tracks = pipe_tracks(trace)
    if not tracks.height:
        return ()
    times = busy_times(trace)
    waves = aligned(trace, trace.waves, "start_cycles", "end_cycles").select("se", "simd", "start_cycles", "end_cycles")
    shares: list[PipeSeries] = []
    for (se, simd, unit), part in tracks.partition_by("se", "simd", "unit", as_dict=True, maintain_order=True).items():
        simd_waves = waves.filter(pl.col("se").eq_missing(se), pl.col("simd").eq_missing(simd))
        around = simd_waves if simd_waves.height else waves.filter(pl.col("se").eq_missing(se))
        start, end = around["start_cycles"].min() or 0, around["end_cycles"].max() or 0
        shares += [
            PipeSeries(se, simd, pipe, start, end, unit, times, _NUMBERS[pipe])  # type: ignore[arg-type]
            for pipe in (*part["pipe"], *_KINDS)
        ]
    return tuple(shares)


def busy_shares(trace: ThreadTrace) -> tuple[PipeSeries, ...]:
    """Curves of the pipes that instructions occupy for longer than they issue on some SIMD, while they are busy.

    They are of all SIMDs: one on which the pipe is busy only while it issues counts as well.
    """
    shares = pipe_shares(trace)
    busy = [replace(share, kind=BUSY + share.kind) for share in shares]
    is_long = [usage.times.total(usage.unit, usage.kind) > 0 for usage in busy]
    pipes = {usage.pipe for usage, is_longer in zip(busy, is_long, strict=True) if is_longer}
    longest = (usage if longer else share for usage, share, longer in zip(busy, shares, is_long, strict=True))
    return tuple(usage for usage in longest if usage.pipe in pipes)
