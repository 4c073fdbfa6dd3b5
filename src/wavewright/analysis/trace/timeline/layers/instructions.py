"""The executed instructions on the slots of their waves, and the stalled part of them by stall class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from wavewright import _core
from wavewright.analysis.common.timeline import LayerNumbers, Timeline
from wavewright.analysis.trace.pipes import MATRIX, matrix_rows
from wavewright.analysis.trace.selection import whole_of
from wavewright.analysis.trace.timeline.layers.common_time import rows_of_waves, slot_tracks, timeline, track_of
from wavewright.analysis.trace.waits.stall_rows import class_names
from wavewright.analysis.trace.waits.wait_producers import each_instruction
from wavewright.facts.stall_classes import stall_class
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import CATEGORIES, CATEGORY_MEANINGS
from wavewright.model.trace import ThreadTrace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_KINDS: tuple[dict[str, Any], ...] = tuple(
    {"kind": number, "name": name, "colour": name, "meaning": CATEGORY_MEANINGS[name]}
    for number, name in {**CATEGORIES, MATRIX: "MATRIX"}.items()
)


@once_per_trace
def category_kinds(trace: ThreadTrace) -> tuple[dict[str, Any], ...]:
    """The kinds of instructions that a trace has: categories, and MATRIX."""
    added = () if set(trace.executed.rows).isdisjoint(trace.code.filter(matrix_rows(trace.code))["row"]) else (MATRIX,)
    present = {*trace.executed.categories, *trace.other_simd["category"].unique(), *added}
    return tuple(kind for kind in _KINDS if kind["kind"] in present)


def instruction_tracks(trace: ThreadTrace) -> pl.DataFrame:
    """A track for every slot that held a wave with instructions."""
    return slot_tracks(trace, trace.waves.filter(trace.waves["instruction_count"] > 0))


def instructions(trace: ThreadTrace) -> Timeline:
    """From the first attempt to issue to the end of the stall or the duration; items are rows of `instructions`."""
    tracks = instruction_tracks(trace)

    def pyramid(layer: LayerNumbers) -> _core.SpanPyramid:
        is_matrix = matrix_rows(trace.code.sort("row")).cast(pl.UInt8)
        return _core.executed_pyramid(layer, instruction_waves(trace, tracks), trace.instructions, is_matrix)

    kinds = category_kinds(trace)
    return timeline(trace, "instructions", "Instructions", tracks, kinds, parts_overlaps=False, pyramid=pyramid)


def instruction_waves(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    """The waves with their tracks and the places of their instructions, as the native core takes them."""
    placed = trace.waves.select(track_of(tracks, trace.waves), *rows_of_waves(trace, "instruction"))
    return placed.with_columns(pl.col("track").fill_null(_core.NO_TRACK))


class _Classes(NamedTuple):
    """Stall classes of a trace, and which of them every instruction stalled on."""

    names: tuple[str, ...]  #: The class with most stall first.
    cycles: tuple[int, ...]
    group: pl.Series  #: Of every instruction.
    of_group: pl.Series  #: Place of a group in `names`.


def stalls(trace: ThreadTrace) -> Timeline | None:
    """From the first attempt to issue to the end of the stall; items are rows of `instructions`.

    Its kinds are found when they are asked for: they take a pass over all instructions. None where damaged waves point
    outside of the instructions: nobody knows what those stalled on.
    """
    ends = [pl.col(name).fill_null(0).cast(pl.Float64) for name in ("first_instruction", "instruction_count")]
    if trace.waves.select((ends[0] + ends[1] > trace.instructions.height).any()).item():
        return None
    tracks = instruction_tracks(trace)

    def pyramid(layer: LayerNumbers) -> _core.SpanPyramid:
        classes, waves = _classes(trace), instruction_waves(trace, tracks)
        return _core.stalled_pyramid(layer, waves, trace.instructions, classes.group, classes.of_group)

    return timeline(
        trace, "stalls", "Stalls", tracks, tracks_of="instructions", pyramid=pyramid,
        late_kinds=lambda: _stall_kinds(trace),
    )  # fmt: skip


def _stall_kinds(trace: ThreadTrace) -> tuple[dict[str, Any], ...]:
    classes = _classes(trace)
    return tuple(
        {"kind": kind, "name": name, "colour": f"class {name}", "meaning": stall_class(name).meaning, "cycles": cycles}
        for kind, (name, cycles) in enumerate(zip(classes.names, classes.cycles, strict=True))
    )


@once_per_trace
def _classes(trace: ThreadTrace) -> _Classes:
    """The class of every execution that stalled, as `stalls` sums them up."""
    whole, is_selected = whole_of(trace)  # what was waited for may lie outside of a part
    by_instruction, groups = each_instruction(whole, whole)
    group = by_instruction["group"] if is_selected is None else by_instruction["group"].filter(is_selected)
    names = class_names(groups, whole.code)
    stall = pl.DataFrame([group, trace.instructions["stall_cycles"]]).lazy().filter(pl.col("stall_cycles") > 0)
    of_groups = stall.group_by("group").agg(pl.col("stall_cycles").cast(pl.Int64).sum()).collect(engine="streaming")
    of_classes = of_groups.with_columns(pl.Series("class", names, pl.String).gather(of_groups["group"]))
    sums = of_classes.group_by("class").agg(pl.col("stall_cycles").sum())
    sums = sums.sort("stall_cycles", "class", descending=[True, False])
    places = {name: place for place, name in enumerate(sums["class"])}
    of_group = pl.Series([places.get(name, 0) for name in names], dtype=pl.UInt16)
    return _Classes(tuple(sums["class"]), tuple(sums["stall_cycles"]), group, of_group)


_MOST_SUMS = 1 << 22  #: Sums that are cached, over all tracks.


class StalledShares:
    """Stall cycles of every track of the timeline `instructions`; those of wide bins are cached."""

    def __init__(self, trace: ThreadTrace, start_cycles: int, end_cycles: int) -> None:
        """Add up the stalls."""
        tracks = instruction_tracks(trace)
        self.track_count = tracks.height
        if not tracks.height:
            return
        most_bins = max(1, _MOST_SUMS // tracks.height)
        bits = max(0, (-(-(end_cycles - start_cycles) // most_bins) - 1).bit_length())
        bins = start_cycles, 1 << bits, -(-(end_cycles - start_cycles) >> bits)
        self._cycles = _core.StalledCycles(instruction_waves(trace, tracks), trace.instructions, tracks.height, bins)

    def shares(self, begin: int, width: int, count: int) -> npt.NDArray[np.float64]:
        """Shares of `count` bins of `width` cycles for every track, one after the other: tracks x bins."""
        if not self.track_count:
            return pl.Series([], dtype=pl.Float64).to_numpy().reshape(0, count)
        cycles = pl.DataFrame(self._cycles.bins((begin, width, count)))["cycles"].to_numpy()
        return cycles.reshape(self.track_count, count) / width
